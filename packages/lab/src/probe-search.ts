import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord, withoutControls } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import type { RecallQuery } from "@longhaul/sessions";
import { openRecall, type Recall, writeNewSession } from "@longhaul/sessions";
import type { Probe } from "./probes.ts";

/** A text that can be searched for probes. */
interface Haystack {
  contains(probe: Probe): boolean;
}

/**
 * Returns the text that the model would see in these entries: all strings of all blocks, including restored
 * content.
 */
export function contextOf(entries: readonly Entry[]): Haystack {
  return haystackOf(flatten(entries).flatMap(({ content }) => [...stringsIn(content)]));
}

export function haystackOf(texts: readonly string[]): Haystack {
  const text = normalize(expandPaths(texts.join("\n").replaceAll("\\", "/")));
  const lowerCase = text.toLowerCase();
  return {
    contains: ({ kind, needles }) => {
      if (kind === "number") return needles.every((needle) => containsName(lowerCase, normalize(needle)));
      const isName = kind === "file";
      return needles.every((needle) =>
        isName ? containsName(text, normalize(needle)) : text.includes(normalize(needle)),
      );
    },
  };
}

/** Makes white space and slashes uniform and removes control sequences, so that a comparison ignores them. */
const normalize = (text: string): string => withoutControls(text).replace(/\\+/g, "/").replace(/\s+/g, " ");

/**
 * Returns true only if the text contains the whole name or figure. For example, `a.tsx` does not contain the
 * name `a.ts`, and 512 does not contain the figure 12.
 */
function containsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + name.length])) return true;
  }
  return false;
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** Matches a group of files: `folder/{one.ts, two.ts}` names two files. */
const GROUP = /([^\s{}"'`(),;]*\/)\{([^{}\n]{1,4000})\}/g;
/**
 * Matches a list of files in a folder, such as `Files under /project/: one.ts, src/two.ts`. The paths in the
 * list are relative to the folder.
 */
const FOLDER_LINE = /^\W*files (?:in|under) (\S+\/): (.+)$/gim;

function expandPaths(text: string): string {
  const ungrouped = text.replace(GROUP, (_, folder: string, names: string) =>
    names
      .split(",")
      .map((name) => `${folder}${name.trim()}`)
      .join(", "),
  );
  return ungrouped.replace(FOLDER_LINE, (line, folder: string, files: string) => {
    const paths = files.split(/[\s,;]+/).map((name) => `${folder}${name.replace(/\.$/, "")}`);
    return `${line} ${paths.join(" ")}`;
  });
}

/** Names of block fields that contain types, ids or encoded data instead of readable text. */
const NON_TEXT_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "id",
  "tool_use_id",
  "signature",
  "data",
  "source",
]);

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* stringsIn(item);
  else if (isRecord(value)) {
    for (const [name, item] of Object.entries(value)) if (!NON_TEXT_FIELDS.has(name)) yield* stringsIn(item);
  }
}

/** Resolves to true if a search with the recall tool returns the probe verbatim. */
export type FindByRecall = (probe: Probe) => Promise<boolean>;

/** Runs `use` with recall over a temporary transcript of these entries. */
export async function withTranscript<T>(
  said: readonly Entry[],
  use: (finds: FindByRecall) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "longhaul-eval-"));
  try {
    const path = join(folder, "session.jsonl");
    if (said.length > 0) await writeNewSession(path, said);
    return await use(createRecallFinder(openRecall(path)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function createRecallFinder(recall: Recall): FindByRecall {
  const known = new Map<string, Promise<boolean>>();
  return (probe) => {
    const found = known.get(probe.id) ?? findAll(recall, probe);
    known.set(probe.id, found);
    return found;
  };
}

async function findAll(recall: Recall, probe: Probe): Promise<boolean> {
  for (const needle of probe.needles) {
    if (!(await findOne(recall, { ...probe, needles: [needle] }, needle))) return false;
  }
  return true;
}

/** An agent reads a few pages of results before it tries another query. */
const MAX_PAGES = 3;

/**
 * Searches for the words of the needle, as an agent would. If that fails, searches for the exact text, even
 * across line breaks.
 */
async function findOne(recall: Recall, asked: Probe, needle: string): Promise<boolean> {
  const queries: readonly RecallQuery[] = [
    ...Array.from({ length: MAX_PAGES }, (_, index) => ({ words: needle, page: index + 1 })),
    { pattern: patternOf(needle), ignoreCase: true },
  ];
  for (const query of queries) {
    const { hits } = await recall.search({ ...query, all: true });
    const texts = hits.flatMap(({ text, file }) => (file === undefined ? [text] : [text, file]));
    if (haystackOf(texts).contains(asked)) return true;
  }
  return false;
}

const patternOf = (needle: string): string =>
  needle
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace(/\//g, "[\\\\/]+")
    .replace(/\s+/g, "\\s+");
