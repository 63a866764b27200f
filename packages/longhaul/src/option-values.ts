import { statSync } from "node:fs";
import { parse, resolve } from "node:path";
import type { PermissionMode } from "@longhaul/agent";
import { MIN_WINDOW_TOKENS } from "@longhaul/core/internal/measure";
import { findModel, pricesOf } from "@longhaul/core/measure";
import { type Command, InvalidArgumentError } from "commander";

export const PERMISSION_MODES: readonly PermissionMode[] = ["default", "accept-edits", "allow-all"];
export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

const LARGEST_PORT = 65_535;

export function parseTokens(text: string): number {
  const number = /^\d[\d_,]*$/.test(text) ? Number(text.replaceAll(/[_,]/g, "")) : Number.NaN;
  if (Number.isNaN(number)) throw new InvalidArgumentError("It must be a whole number.");
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError("It must be a smaller whole number.");
  return number;
}

export const atLeastOne =
  (why = "") =>
  (text: string): number => {
    const count = parseTokens(text);
    if (count === 0) throw new InvalidArgumentError(`It must be at least 1${why}.`);
    return count;
  };

export function parseWindow(text: string): number {
  const tokens = parseTokens(text);
  if (tokens < MIN_WINDOW_TOKENS) throw new InvalidArgumentError(`It must be at least ${MIN_WINDOW_TOKENS}.`);
  return tokens;
}

/** Parses the size of a window, or the name of a model with a known window. */
export function parseWindowOrModel(text: string): number | string {
  if (!/^[a-z]/i.test(text)) return parseWindow(text);
  if (findModel(text).windowOrigin !== "default") return text;
  throw new InvalidArgumentError("The window of this model is not known. Pass its size in tokens instead.");
}

/** Rejects an empty text, which comes from an unset variable of a shell script. */
export function parsePath(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must name a file.");
  return text;
}

export function parseProject(text: string): string {
  const isFolder = text.trim() !== "" && statSync(text, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) throw new InvalidArgumentError("It must be an existing folder.");
  const folder = resolve(text);
  if (parse(folder).root === folder) throw new InvalidArgumentError("It must not be a whole disk.");
  return folder;
}

/** Parses an id, or the beginning of an id. */
export const parseIdOf =
  (what: string) =>
  (text: string): string => {
    if (text.trim() === "") throw new InvalidArgumentError(`It must be ${what}, or the beginning of one.`);
    return text.trim();
  };

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > LARGEST_PORT)
    throw new InvalidArgumentError(`It must be a number from 0 to ${LARGEST_PORT}.`);
  return port;
}

export function parseUrl(text: string): string {
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) throw new InvalidArgumentError("It must be an address such as http://127.0.0.1:8080.");
  return text;
}

/** Splits a text at commas. */
const listed = (text: string): readonly string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Parses a list that may contain only these names. Returns the listed names in the order of `names`. */
export const parseNames =
  <Name extends string>(names: readonly Name[]) =>
  (text: string): readonly Name[] => {
    const wanted = listed(text);
    const known = names.filter((name) => wanted.includes(name));
    const isAnyUnknown = wanted.some((name) => !known.some((one) => one === name));
    if (isAnyUnknown || known.length === 0)
      throw new InvalidArgumentError(`It must be a list of: ${names.join(", ")}.`);
    return known;
  };

export function parseCounts(text: string): readonly number[] {
  const counts = listed(text).map(atLeastOne());
  if (counts.length === 0) throw new InvalidArgumentError("It must be a list of numbers.");
  return [...new Set(counts)];
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  if (value.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return [...before, value];
}

export function parsePricedModel(name: string): string {
  if (pricesOf(name) !== undefined) return name;
  throw new InvalidArgumentError(
    "Its prices are not known. Pass another model, such as claude-sonnet-4-5 or claude-opus-5.",
  );
}

/** Exits if the user names no session and does not pass --generated. */
export function requireAny(
  sessions: readonly string[],
  { generated }: { readonly generated?: unknown },
  command: Command,
): void {
  if (sessions.length === 0 && !generated) command.error("error: name a session, or use --generated");
}

/** Exits if the user names no session to search and does not ask for all of them. */
export function requireSession(
  session: string | undefined,
  _words: readonly string[],
  options: { readonly allSessions?: unknown; readonly allProjects?: unknown },
  command: Command,
): void {
  if (session === undefined && !options.allSessions && !options.allProjects)
    command.error("error: name a session, or use --all-sessions");
}

/** Settings of the simulator that have no effect on a recording. */
const PLAYED = ["window", "turns", "script", "config"] as const;

/** Exits if the options of `sim` contradict each other. */
export function requireOneSource(
  file: string | undefined,
  options: Readonly<Partial<Record<"record" | "replay" | (typeof PLAYED)[number], unknown>>>,
  command: Command,
): void {
  const { record, replay } = options;
  if (record !== undefined && replay !== undefined)
    command.error("error: use either --record or --replay, not both");
  if (record !== undefined && file === undefined)
    command.error("error: name the file to record: longhaul sim --record <upstream> <file>");
  if (record === undefined && file !== undefined)
    command.error(`error: the file ${file} needs --record <upstream>, or use --replay <file>`);
  const source = record === undefined ? "--replay" : "--record";
  const played = PLAYED.find((name) => options[name] !== undefined);
  if ((record ?? replay) !== undefined && played !== undefined)
    command.error(`error: --${played} has no effect with ${source}: remove one of them`);
}
