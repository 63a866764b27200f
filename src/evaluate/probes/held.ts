import type { Entry } from "../../conversation/entry.ts";
import { flatten } from "../../conversation/flatten/flatten.ts";
import { withoutControls } from "../../conversation/text.ts";
import { isRecord } from "../../conversation/untrusted.ts";
import type { Probe } from "./probe.ts";

/** A text in which needles are looked for. */
export interface Haystack {
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
