import { folderOf, insideOf, type Place, type PlacedPath } from "./paths.ts";

/** How far a memory file's imports are followed: those that it names, those that these name, and so on. */
export const IMPORT_DEPTH = 5;
const LONGEST_REFERENCE = 1_000;

/**
 * `@` after a space or at the start of a line, then what could be a path; not within a word, as in an address of mail.
 * A space belongs to it after a backslash.
 */
const REFERENCE = /(?<![^\s([{"'*_])@((?:\\ |[^\s`])+)/g;
const FIRST_CHARACTER = /^[\p{L}\p{N}_.~/\\-]/u;
/** What ends a sentence or closes a bracket is not the file's. */
const AFTER_REFERENCE = /[.,;:!?)\]}>'"*_]+$/;

/** The files that a text imports (`@path/to/file`), as it names them, each once. What stands in code is not meant. */
export function importsIn(text: string): readonly string[] {
  const references = new Set<string>();
  if (!text.includes("@")) return [];
  for (const [, found = ""] of withoutCode(text).matchAll(REFERENCE)) {
    // Before it is looked at: the end of a long one would be searched for again from each character.
    if (found.length > LONGEST_REFERENCE) continue;
    const path = (found.split("#", 1)[0] ?? "").replace(AFTER_REFERENCE, "").replaceAll("\\ ", " ");
    const isPath = FIRST_CHARACTER.test(path) && !path.includes("://");
    if (isPath) references.add(path);
  }
  return [...references];
}

/** Where imports may lead. */
export interface ImportPlaces {
  readonly project: Place;
  /** Only where the host allows it. */
  readonly home: Place | undefined;
}

/**
 * The file that is meant: relative to the file that names it, or absolute. Never outside the place of that file, but
 * for `~/`. Undefined for what leads elsewhere.
 */
export function importedPath(
  reference: string,
  from: PlacedPath,
  { project, home }: ImportPlaces,
): PlacedPath | undefined {
  if (reference.startsWith("~")) {
    return home !== undefined && /^~[\\/]/.test(reference) ? inside(home, reference.slice(2)) : undefined;
  }
  if (/^(?:[\\/]|[A-Za-z]:)/.test(reference))
    return inside(project, reference) ?? inside(from.place, reference);
  return inside(from.place, `${folderOf(from.relative)}/${reference}`.replace(/^\//, ""));
}

function inside(place: Place, path: string): PlacedPath | undefined {
  const relative = insideOf(place, path);
  return relative === undefined ? undefined : { place, relative };
}

/** The text with fenced blocks and code spans blanked out. Other places keep their characters around them. */
function withoutCode(text: string): string {
  return withoutFences(text)
    .split(/\n[ \t]*\r?\n/)
    .map(withoutSpans)
    .join("\n\n");
}

/** Fences may stand in lists and quotes; one that is never closed goes on to the end. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/;

function withoutFences(text: string): string {
  let fence: string | undefined;
  const kept: string[] = [];
  for (const line of text.split("\n")) {
    const [, marks = "", rest = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      if (marks.startsWith(fence) && rest.trim() === "") fence = undefined;
      kept.push("");
      // Backticks after the opening make it a span of code in a line of text.
    } else if (marks !== "" && !(marks.startsWith("`") && rest.includes("`"))) {
      fence = marks;
      kept.push("");
    } else kept.push(line);
  }
  return kept.join("\n");
}

/** A span ends with as many backticks as it began with; where there are none, they are just backticks. */
function withoutSpans(paragraph: string): string {
  const runs = [...paragraph.matchAll(/`+/g)];
  /** For each run, the next one of its length: found from the end on, so that each is looked at once. */
  const closing = new Array<number | undefined>(runs.length);
  const lastOfLength = new Map<number, number>();
  for (let index = runs.length - 1; index >= 0; index--) {
    const length = runs[index]?.[0].length ?? 0;
    closing[index] = lastOfLength.get(length);
    lastOfLength.set(length, index);
  }
  const kept: string[] = [];
  let at = 0;
  for (let index = 0; index < runs.length; index++) {
    const end = closing[index];
    if (end === undefined) continue;
    const close = runs[end];
    // The mark keeps what stands around the span apart from each other, and from an `@`.
    kept.push(paragraph.slice(at, runs[index]?.index), "``");
    at = (close?.index ?? 0) + (close?.[0].length ?? 0);
    index = end;
  }
  return kept.join("") + paragraph.slice(at);
}
