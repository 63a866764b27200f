import { statSync } from "node:fs";
import { parse, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { isTimeLimit, MODEL_TIME_LIMITS, type ModelTimeLimits } from "../models/time-limit.ts";
import { findModel } from "../window/models.ts";
import { SMALLEST_WINDOW_TOKENS } from "../window/settings.ts";

export const SESSION_ARGUMENT =
  "a session file, an id or the beginning of one, or 'latest' (this project's first)";

const MS = 1_000;
const LARGEST_PORT = 65_535;

export const windowOption = (): Option =>
  new Option("--window <tokens>", "size of the model's window (default: the session's own)")
    .argParser(parseWindow)
    .conflicts(["modelWindow"]);

export const modelWindowOption = (): Option =>
  new Option("--model-window <model>", "take the window of this model").argParser(parseKnownModel);

function parseKnownModel(name: string): string {
  if (findModel(name).windowOrigin === "default")
    throw new InvalidArgumentError("Its window is not known. Give the size instead: --window <tokens>.");
  return name;
}

export function parseTokens(text: string): number {
  const number = /^\d[\d_,]*$/.test(text) ? Number(text.replaceAll(/[_,]/g, "")) : Number.NaN;
  if (Number.isNaN(number)) throw new InvalidArgumentError("It must be a whole number.");
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError("It must be a smaller whole number.");
  return number;
}

export const atLeastOne =
  (why: string) =>
  (text: string): number => {
    const count = parseTokens(text);
    if (count === 0) throw new InvalidArgumentError(`It must be at least 1${why}.`);
    return count;
  };

/** An unset variable of a shell script gives an empty text. */
export function parsePath(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must name a file.");
  return text;
}

export interface ProjectChoice {
  /** The only folder that files are put back from. */
  readonly project?: string;
}

export const projectOption = (): Option =>
  new Option(
    "--project <folder>",
    "put back only files of this folder (default: the session's project, or the current folder)",
  ).argParser(parseProject);

function parseProject(text: string): string {
  const isFolder = text.trim() !== "" && statSync(text, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) throw new InvalidArgumentError("It must be an existing folder.");
  const folder = resolve(text);
  if (parse(folder).root === folder) throw new InvalidArgumentError("It must not be a whole disk.");
  return folder;
}

const beginningOf =
  (what: string) =>
  (text: string): string => {
    if (text.trim() === "") throw new InvalidArgumentError(`It must be ${what}, or the beginning of one.`);
    return text.trim();
  };

export const parseMessage: (text: string) => string = beginningOf("the uuid of a message");
export const parseBoundary: (text: string) => string = beginningOf("the uuid of a compaction's boundary");
export const parseStep: (text: string) => string = beginningOf("the uuid of a step");
export const parseSpan: (text: string) => string = beginningOf("the id of a span");

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

export function parseWindow(text: string): number {
  const tokens = parseTokens(text);
  if (tokens < SMALLEST_WINDOW_TOKENS)
    throw new InvalidArgumentError(`It must be at least ${SMALLEST_WINDOW_TOKENS}.`);
  return tokens;
}

/** Adds the options that limit the time of model calls. */
export const addTimeouts = (command: Command): Command =>
  command
    .option(
      "--first-byte-timeout <seconds>",
      `wait this long for the first byte of the model's answer (default: ${MODEL_TIME_LIMITS.firstByteMs / MS})`,
      parseSeconds,
    )
    .option(
      "--timeout <seconds>",
      `wait this long for the model in all, retries included (default: ${MODEL_TIME_LIMITS.totalMs / MS})`,
      parseSeconds,
    );

export interface TimeoutChoice {
  /** In seconds. */
  readonly firstByteTimeout?: number;
  readonly timeout?: number;
}

export const timeLimitsIn = ({ firstByteTimeout, timeout }: TimeoutChoice): Partial<ModelTimeLimits> => ({
  ...(firstByteTimeout === undefined ? {} : { firstByteMs: firstByteTimeout * MS }),
  ...(timeout === undefined ? {} : { totalMs: timeout * MS }),
});

function parseSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!isTimeLimit(seconds)) throw new InvalidArgumentError("It must be a positive number of seconds.");
  return seconds;
}

export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line.includes("longhaul") ? line : `longhaul ${line}`}`).join("\n")}`;

/** Parts between commas. */
export const listed = (text: string): readonly string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Some of these names, in their order whatever the order in which they were given. */
export function parseNames<Name extends string>(text: string, names: readonly Name[]): readonly Name[] {
  const wanted = listed(text);
  const known = names.filter((name) => wanted.includes(name));
  const isAnyUnknown = wanted.some((name) => !known.some((one) => one === name));
  if (isAnyUnknown || known.length === 0)
    throw new InvalidArgumentError(`It must be a list of: ${names.join(", ")}.`);
  return known;
}
