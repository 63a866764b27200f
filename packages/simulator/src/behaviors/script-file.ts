import { LonghaulError } from "@longhaul/core/errors";
import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import { CALL_PURPOSES, type ReportedUsage, type TurnBlock } from "../exchange.ts";
import { textTurn } from "./answers.ts";
import type { TextCondition, TurnConditions } from "./conditions.ts";
import type { ConditionalTurn } from "./scripted.ts";

const REMEDY =
  'Write the script as a list of turns: strings, or objects such as {"blocks": [{"type": "tool_use", "name": "Read", "input": {}}]}.';

/**
 * Parses turns from a JSON file. The file contains a list of turns, or an object with this list in the field
 * `turns`. A turn is a text or a {@link ConditionalTurn}. In the blocks of a turn, a plain string is a text
 * block. In conditions, a pattern is an object with the fields `pattern` and `flags`. Rejects unknown fields.
 */
export function parseScript(json: unknown): ConditionalTurn[] {
  if (Array.isArray(json)) return json.map((turn, index) => parseTurn(turn, `turns[${index}]`));
  if (!isRecord(json)) throw wrong("the script", "a list of turns", json);
  refuseOtherFields(json, "the script", ["turns"]);
  if (!Array.isArray(json.turns)) throw wrong("turns", "a list of turns", json.turns);
  return parseScript(json.turns);
}

const TURN_FIELDS = [
  "blocks",
  "stopReason",
  "stopDetails",
  "when",
  "times",
  "usage",
  "delayMs",
] as const satisfies readonly (keyof ConditionalTurn)[];

function parseTurn(value: unknown, at: string): ConditionalTurn {
  if (typeof value === "string") return textTurn(value);
  if (!isRecord(value)) throw wrong(at, "a string or an object", value);
  refuseOtherFields(value, at, TURN_FIELDS);
  const { blocks, stopReason, stopDetails, when, times, usage, delayMs } = value;
  if (!Array.isArray(blocks)) throw wrong(`${at}.blocks`, "a list of blocks", blocks);
  if (stopReason !== undefined && typeof stopReason !== "string")
    throw wrong(`${at}.stopReason`, "a string", stopReason);
  if (stopDetails !== undefined && !isRecord(stopDetails))
    throw wrong(`${at}.stopDetails`, "an object", stopDetails);
  return {
    blocks: blocks.map((block, index) => parseBlock(block, `${at}.blocks[${index}]`)),
    ...(stopReason !== undefined && { stopReason }),
    ...(stopDetails !== undefined && { stopDetails }),
    ...(when !== undefined && { when: parseConditions(when, `${at}.when`) }),
    ...(times !== undefined && { times: times === "always" ? times : ordinalIn(times, `${at}.times`) }),
    ...(usage !== undefined && { usage: parseUsage(usage, `${at}.usage`) }),
    ...(delayMs !== undefined && { delayMs: countIn(delayMs, `${at}.delayMs`) }),
  };
}

/** Parser of each condition. The type makes the compiler reject a table that lacks a condition. */
const CONDITIONS: {
  readonly [Name in keyof TurnConditions]-?: (value: unknown, at: string) => TurnConditions[Name];
} = {
  model: parseTextCondition,
  provider: (value, at) => oneOf(["anthropic", "openai"], value, at),
  purpose: (value, at) => oneOf([...CALL_PURPOSES, "any"], value, at),
  tools: parseTools,
  lastMessage: parseTextCondition,
  system: parseTextCondition,
  nth: ordinalIn,
};

function parseConditions(value: unknown, at: string): TurnConditions {
  if (!isRecord(value)) throw wrong(at, "an object with conditions", value);
  refuseOtherFields(value, at, Object.keys(CONDITIONS));
  const given = Object.entries(CONDITIONS).filter(([name]) => value[name] !== undefined);
  return Object.fromEntries(given.map(([name, parse]) => [name, parse(value[name], `${at}.${name}`)]));
}

function parseTextCondition(value: unknown, at: string): TextCondition {
  if (typeof value === "string") return value;
  if (!isRecord(value)) throw wrong(at, "a string, or an object with a pattern", value);
  refuseOtherFields(value, at, ["pattern", "flags"]);
  const pattern = textIn(value, "pattern", at);
  const flags = value.flags === undefined ? "" : textIn(value, "flags", at);
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    throw unusable(`${at} is not a regular expression: ${(error as Error).message}`);
  }
}

function parseTools(value: unknown, at: string): NonNullable<TurnConditions["tools"]> {
  if (value === "some" || value === "none") return value;
  const isNames = Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string");
  if (!isNames) throw wrong(at, 'a list of tool names, "some" or "none"', value);
  return value;
}

function oneOf<const Name extends string>(names: readonly Name[], value: unknown, at: string): Name {
  const found = names.find((name) => name === value);
  const list = names.map((name) => `"${name}"`).join(", ");
  if (found === undefined) throw wrong(at, `one of ${list}`, value);
  return found;
}

const USAGE_FIELDS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
] as const satisfies readonly (keyof ReportedUsage)[];

function parseUsage(value: unknown, at: string): ReportedUsage {
  if (!isRecord(value)) throw wrong(at, "an object", value);
  refuseOtherFields(value, at, USAGE_FIELDS);
  return Object.fromEntries(
    Object.entries(value).map(([name, count]) => [name, countIn(count, `${at}.${name}`)]),
  );
}

function countIn(value: unknown, at: string): number {
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if (!isCount) throw wrong(at, "a whole number of at least 0", value);
  return value;
}

function ordinalIn(value: unknown, at: string): number {
  const number = countIn(value, at);
  if (number === 0) throw wrong(at, "a whole number of at least 1", value);
  return number;
}

function parseBlock(value: unknown, at: string): TurnBlock {
  if (typeof value === "string") return { type: "text", text: value };
  if (!isRecord(value)) throw wrong(at, "a string or an object", value);
  switch (value.type) {
    case "text":
      refuseOtherFields(value, at, ["type", "text"]);
      return { type: "text", text: textIn(value, "text", at) };
    case "thinking":
      refuseOtherFields(value, at, ["type", "thinking"]);
      return { type: "thinking", thinking: textIn(value, "thinking", at) };
    case "tool_use":
      return parseToolUse(value, at);
    case "raw":
      refuseOtherFields(value, at, ["type", "block"]);
      if (!isRecord(value.block)) throw wrong(`${at}.block`, "an object", value.block);
      return { type: "raw", block: value.block };
    default:
      throw wrong(`${at}.type`, 'one of "text", "thinking", "tool_use", "raw"', value.type);
  }
}

function parseToolUse(value: JsonRecord, at: string): TurnBlock {
  refuseOtherFields(value, at, ["type", "name", "input", "id"]);
  const { input = {}, id } = value;
  if (!isRecord(input)) throw wrong(`${at}.input`, "an object", input);
  const call = { type: "tool_use" as const, name: textIn(value, "name", at), input };
  return id === undefined ? call : { ...call, id: textIn(value, "id", at) };
}

function textIn(value: JsonRecord, name: string, at: string): string {
  const text = value[name];
  if (typeof text !== "string") throw wrong(`${at}.${name}`, "a string", text);
  return text;
}

function refuseOtherFields(value: JsonRecord, at: string, known: readonly string[]): void {
  const other = Object.keys(value).find((name) => !known.includes(name));
  if (other === undefined) return;
  throw unusable(`${at}: unknown field "${other}". Known fields: ${known.join(", ")}`);
}

const wrong = (at: string, expected: string, found: unknown): LonghaulError =>
  unusable(`${at} must be ${expected}, but is ${describe(found)}`);

const unusable = (problem: string): LonghaulError =>
  new LonghaulError("simulator-script-invalid", `Invalid script: ${problem}.`, { remedy: REMEDY });

const MAX_SHOWN_CHARS = 60;

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  return (JSON.stringify(value) ?? typeof value).slice(0, MAX_SHOWN_CHARS);
}
