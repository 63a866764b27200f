import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord, withoutControls } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import type { RecallQuery } from "@longhaul/sessions";
import { openRecall, type Recall, writeNewSession } from "@longhaul/sessions";
import type { Probe } from "./probes.ts";

/** A text in which needles are looked for. */
interface Haystack {
  holds(probe: Probe): boolean;
}

/** What the model would see of these entries: every text of every block, what was put back included. */
export function contextOf(entries: readonly Entry[]): Haystack {
  return haystackOf(flatten(entries).flatMap(({ content }) => [...stringsIn(content)]));
}

export function haystackOf(texts: readonly string[]): Haystack {
  const text = plain(withPathsInFull(texts.join("\n").replaceAll("\\", "/")));
  const lowerCase = text.toLowerCase();
  return {
    holds: ({ kind, needles }) => {
      if (kind === "number") return needles.every((needle) => holdsName(lowerCase, plain(needle)));
      const isName = kind === "file";
      return needles.every((needle) =>
        isName ? holdsName(text, plain(needle)) : text.includes(plain(needle)),
      );
    },
  };
}

/** White space, colours and which way a path's slashes lean tell nothing. */
const plain = (text: string): string => withoutControls(text).replace(/\\+/g, "/").replace(/\s+/g, " ");

/** The whole name or figure: `a.ts` is not in `a.tsx`, nor 12 in 512. */
function holdsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + name.length])) return true;
  }
  return false;
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** `folder/{one.ts, two.ts}`: whoever reads it knows two files. */
const GROUP = /([^\s{}"'`(),;]*\/)\{([^{}\n]{1,4000})\}/g;
/** `Files under /project/: one.ts, src/two.ts`: they are told from that folder on. */
const FOLDER_LINE = /^\W*files (?:in|under) (\S+\/): (.+)$/gim;

function withPathsInFull(text: string): string {
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

/** Fields that are no words: their values name kinds, ids and encodings. */
const NOT_WORDS: ReadonlySet<string> = new Set(["type", "id", "tool_use_id", "signature", "data", "source"]);

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* stringsIn(item);
  else if (isRecord(value)) {
    for (const [name, item] of Object.entries(value)) if (!NOT_WORDS.has(name)) yield* stringsIn(item);
  }
}

/** Resolves to true if a search of the transcript, with the recall tool, brings the probe back word for word. */
export type FindByRecall = (probe: Probe) => Promise<boolean>;

/** Recall over a transcript of what was said. It lies in a folder of its own for as long as it is used. */
export async function withTranscript<T>(
  said: readonly Entry[],
  use: (finds: FindByRecall) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "longhaul-eval-"));
  try {
    const path = join(folder, "session.jsonl");
    if (said.length > 0) await writeNewSession(path, said);
    return await use(searching(openRecall(path)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function searching(recall: Recall): FindByRecall {
  const known = new Map<string, Promise<boolean>>();
  return (probe) => {
    const found = known.get(probe.id) ?? findsAll(recall, probe);
    known.set(probe.id, found);
    return found;
  };
}

async function findsAll(recall: Recall, probe: Probe): Promise<boolean> {
  for (const needle of probe.needles) {
    if (!(await findsOne(recall, { ...probe, needles: [needle] }, needle))) return false;
  }
  return true;
}

/** An agent turns a page or two before it asks otherwise. */
const PAGES_LOOKED_AT = 3;

/** By its words, as an agent would; else by its very text, however the transcript breaks it into lines. */
async function findsOne(recall: Recall, asked: Probe, needle: string): Promise<boolean> {
  const queries: readonly RecallQuery[] = [
    ...Array.from({ length: PAGES_LOOKED_AT }, (_, index) => ({ words: needle, page: index + 1 })),
    { pattern: patternOf(needle), ignoreCase: true },
  ];
  for (const query of queries) {
    const { hits } = await recall.search({ ...query, all: true });
    const texts = hits.flatMap(({ text, file }) => (file === undefined ? [text] : [text, file]));
    if (haystackOf(texts).holds(asked)) return true;
  }
  return false;
}

const patternOf = (needle: string): string =>
  needle
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace(/\//g, "[\\\\/]+")
    .replace(/\s+/g, "\\s+");
