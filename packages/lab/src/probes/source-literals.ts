import type { Entry } from "@longhaul/core/messages";
import { isFields, type ResultTurn, readSession } from "./read-session.ts";
import type { SourceLiterals } from "./types.ts";

/** Fields without text: signatures and media. `toolUseResult` repeats a result for the user interface. */
const SKIPPED_FIELDS = new Set([
  "signature",
  "data",
  "toolUseResult",
  "usage",
  "uuid",
  "parentUuid",
  "requestId",
  "timestamp",
]);
/** Messages nest a few levels. A hostile entry may nest without end. */
const MAX_DEPTH = 12;
/** Numbers with their points, and runs of letters and digits as in paths and names. */
const LITERAL = /v?\d+(?:[.,]\d+)+|[\p{L}\p{N}_]+/gu;
const PARTS = /\d+/g;
const FILE_NAME = /[\w.+-]+/g;
/** Longer pieces are data. */
const MAX_FILE_NAME_CHARS = 200;

const PATH = /(?<![\w.@+-])[\w.@+-]+(?:[\\/]+[\w.@+-]+)+/g;
/** More folders may come from the machine of the summarizer. */
const MAX_CHECKED_PARTS = 3;
const MAX_PATH_CHARS = 300;
/** A number with a unit, or the value of a setting as in "timeout: 45". */
const MEASURE = /(?<![\w.,])(\d+(?:[.,]\d+)*)[ -]?([a-z])|[:=(] ?(\d+(?:[.,]\d+)*)/gi;

/** Collects every number and word that occurs anywhere in a session, except in its own summaries. */
export function sourceLiterals(entries: readonly Entry[]): SourceLiterals {
  const numbers = new Set<string>();
  const segments = new Set<string>();
  const files = new Set<string>();
  const [pathEnds, measures, paths] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const add = (text: string): void => {
    for (const [literal] of text.matchAll(LITERAL)) {
      const form = literal.toLowerCase();
      if (segments.has(form)) continue;
      segments.add(form);
      if (/\d/.test(form)) addNumber(numbers, form);
    }
    for (const [name] of text.matchAll(FILE_NAME)) {
      if (name.length <= MAX_FILE_NAME_CHARS && name.includes(".")) files.add(bareName(name));
    }
  };
  const addPlaces = (text: string): void => {
    for (const [path] of text.matchAll(PATH)) {
      if (path.length > MAX_PATH_CHARS || paths.has(path)) continue;
      paths.add(path);
      const parts = partsOf(path);
      for (let at = 0; at < parts.length - 1; at++) pathEnds.add(parts.slice(at).join("/"));
    }
    for (const [, number = "", unit = "", value = ""] of text.matchAll(MEASURE))
      measures.add(`${plainNumber(number + value)}${unit.toLowerCase()}`);
  };
  const addText = (text: string): void => {
    add(text);
    addPlaces(text);
  };
  for (const entry of entries as readonly unknown[]) {
    if (!isFields(entry) || entry.isCompactSummary === true) continue;
    collectTexts(entry, addText, 0);
  }
  const userText = readSession(entries)
    .flatMap((turn) => (turn.type === "user" ? [turn.text] : turn.type === "result" ? refusalIn(turn) : []))
    .join("\n");
  return { numbers, segments, files, pathEnds, measures, userText };
}

/** Returns what the user wrote to refuse a tool call. The result of the call quotes it. */
const refusalIn = ({ text, isError }: ResultTurn): readonly string[] =>
  isError ? (REFUSAL.exec(text)?.slice(1) ?? []) : [];

const REFUSAL = /\bthe user said:\s*([\s\S]{1,10000})/i;

function addNumber(numbers: Set<string>, form: string): void {
  numbers.add(plainNumber(form.startsWith("v") ? form.slice(1) : form));
  for (const [part] of form.matchAll(PARTS)) numbers.add(part);
}

/** Names of files in lower case, without the full stop of a sentence. */
const bareName = (name: string): string => name.toLowerCase().replace(/^\.{1,3}|\.{1,3}$/g, "");

const partsOf = (path: string): string[] =>
  path
    .toLowerCase()
    .split(/[\\/]+/)
    .filter((part) => part !== "" && part !== "." && part !== "..")
    .map(bareName);

/** Returns true if a path of the session ends like this one, or if this one only adds folders in front. */
export function isKnownFile({ files, pathEnds }: SourceLiterals, path: string): boolean {
  const parts = partsOf(path);
  if (!files.has((parts.at(-1) ?? "").replace(/[^\w.+-]/g, ""))) return false;
  return (
    parts.length < 2 ||
    pathEnds.has(parts.slice(-MAX_CHECKED_PARTS).join("/")) ||
    pathEnds.has(parts.join("/"))
  );
}

/** Returns true if the session has the number with this unit, or as the value of a setting. */
export function isKnownMeasure({ measures }: SourceLiterals, figure: string, unit: string): boolean {
  const plain = plainNumber(figure);
  const letter = unit.slice(0, 1).toLowerCase();
  if (measures.has(plain) || measures.has(plain + letter)) return true;
  const digits = plain.split(".")[1]?.length ?? 0;
  for (const measure of measures) {
    if (
      measure.length > plain.length &&
      measure.endsWith(letter) &&
      Number(measure.slice(0, -1)).toFixed(digits) === plain
    )
      return true;
  }
  return false;
}

export function isKnownNumber({ numbers }: SourceLiterals, figure: string): boolean {
  const plain = plainNumber(figure);
  if (numbers.has(plain)) return true;
  if (!/^\d+(?:\.\d+)?$/.test(plain)) return false;
  const digits = plain.split(".")[1]?.length ?? 0;
  // A rounded figure is honest.
  for (const number of numbers) {
    if (number.length > plain.length && Number(number).toFixed(digits) === plain) return true;
  }
  return false;
}

/** Hashes are often shortened. */
export function isKnownHash({ segments }: SourceLiterals, word: string): boolean {
  if (segments.has(word)) return true;
  if (!/[a-f]/.test(word)) return false;
  for (const segment of segments) if (segment.startsWith(word)) return true;
  return false;
}

/** Removes the commas between digits, so that 1,309 and 1309 are one number. */
const plainNumber = (text: string): string => text.replaceAll(",", "");

function collectTexts(value: unknown, add: (text: string) => void, depth: number): void {
  if (typeof value === "string" || typeof value === "number") add(String(value));
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const item of value) collectTexts(item, add, depth + 1);
  } else if (isFields(value)) {
    for (const [name, field] of Object.entries(value)) {
      if (!SKIPPED_FIELDS.has(name)) collectTexts(field, add, depth + 1);
    }
  }
}
