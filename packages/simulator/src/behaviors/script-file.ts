import { LonghaulError } from "@longhaul/core/errors";
import {
  isNestedTooDeep,
  isRecord,
  type JsonRecord,
  MAX_NESTED_LEVELS,
} from "@longhaul/core/internal/messages";
import { CALL_PURPOSES, type ReportedUsage, type TurnBlock } from "../exchange.ts";
import { StrictJson } from "../strict-json.ts";
import { textTurn } from "./answers.ts";
import type { ConditionalTurn, TextCondition, TurnConditions } from "./conditions.ts";

const REMEDY =
  'Write the script as a list of turns: strings, or objects such as {"blocks": [{"type": "tool_use", "name": "Read", "input": {}}]}.';

const read = new StrictJson(
  (problem) =>
    new LonghaulError("simulator-script-invalid", `Invalid script: ${problem}.`, { remedy: REMEDY }),
);

/**
 * Parses turns from a JSON file. The file contains a list of turns, or an object with this list in the field
 * `turns`. A turn is a text or a {@link ConditionalTurn}. In the blocks of a turn, a plain string is a text
 * block. In conditions, a pattern is an object with the fields `pattern` and `flags`. Rejects unknown fields.
 */
export function parseScript(json: unknown): ConditionalTurn[] {
  if (isNestedTooDeep(json)) throw read.problem(`it is nested more than ${MAX_NESTED_LEVELS} levels deep`);
  if (Array.isArray(json)) return json.map((turn, index) => parseTurn(turn, `turns[${index}]`));
  const { turns } = read.record(json, "the script", ["turns"], "a list of turns");
  return parseScript(read.list(turns, "turns", "a list of turns"));
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

/** Refuses unknown fields and conditions. Without types, a misspelled condition would fit every call. */
export function requireKnownFields(turn: ConditionalTurn, at: string): void {
  const { when, times } = read.record(turn, at, TURN_FIELDS);
  const hasLimit = times !== undefined && times !== "always" && times !== Number.POSITIVE_INFINITY;
  if (hasLimit) read.count(times, `${at}.times`, 1);
  if (when !== undefined && typeof when !== "function") parseConditions(when, `${at}.when`);
}

function parseTurn(value: unknown, at: string): ConditionalTurn {
  if (typeof value === "string") return textTurn(value);
  const turn = read.record(value, at, TURN_FIELDS, "a string or an object");
  const { stopReason, stopDetails, when, times, usage, delayMs } = turn;
  const blocks = read.list(turn.blocks, `${at}.blocks`, "a list of blocks");
  return {
    blocks: blocks.map((block, index) => parseBlock(block, `${at}.blocks[${index}]`)),
    ...(stopReason !== undefined && { stopReason: read.text(stopReason, `${at}.stopReason`) }),
    ...(stopDetails !== undefined && { stopDetails: anyRecord(stopDetails, `${at}.stopDetails`) }),
    ...(when !== undefined && { when: parseConditions(when, `${at}.when`) }),
    ...(times !== undefined && { times: times === "always" ? times : read.count(times, `${at}.times`, 1) }),
    ...(usage !== undefined && { usage: parseUsage(usage, `${at}.usage`) }),
    ...(delayMs !== undefined && { delayMs: read.milliseconds(delayMs, `${at}.delayMs`) }),
  };
}

/** Parser of each condition. The type makes the compiler reject a table that lacks a condition. */
const CONDITIONS: {
  readonly [Name in keyof TurnConditions]-?: (value: unknown, at: string) => TurnConditions[Name];
} = {
  model: parseTextCondition,
  provider: (value, at) => read.oneOf(["anthropic", "openai"], value, at),
  purpose: (value, at) => read.oneOf([...CALL_PURPOSES, "any"], value, at),
  tools: parseTools,
  lastMessage: parseTextCondition,
  system: parseTextCondition,
  nth: (value, at) => read.count(value, at, 1),
};

function parseConditions(value: unknown, at: string): TurnConditions {
  const conditions = read.record(value, at, Object.keys(CONDITIONS), "an object with conditions");
  const given = Object.entries(CONDITIONS).filter(([name]) => conditions[name] !== undefined);
  return Object.fromEntries(given.map(([name, parse]) => [name, parse(conditions[name], `${at}.${name}`)]));
}

function parseTextCondition(value: unknown, at: string): TextCondition {
  // Code writes a pattern as a RegExp, and JSON as an object.
  if (typeof value === "string" || value instanceof RegExp) return value;
  const known = ["pattern", "flags"];
  const { pattern, flags = "" } = read.record(value, at, known, "a string, or an object with a pattern");
  try {
    return new RegExp(read.text(pattern, `${at}.pattern`), read.text(flags, `${at}.flags`));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw read.problem(`${at} is not a regular expression: ${error.message}`);
  }
}

function parseTools(value: unknown, at: string): NonNullable<TurnConditions["tools"]> {
  if (value === "some" || value === "none") return value;
  const isNames = Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string");
  if (!isNames) throw read.wrong(at, 'a list of tool names, "some" or "none"', value);
  return value;
}

const USAGE_FIELDS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
] as const satisfies readonly (keyof ReportedUsage)[];

function parseUsage(value: unknown, at: string): ReportedUsage {
  const usage = Object.entries(read.record(value, at, USAGE_FIELDS));
  return Object.fromEntries(usage.map(([name, count]) => [name, read.count(count, `${at}.${name}`)]));
}

function parseBlock(value: unknown, at: string): TurnBlock {
  if (typeof value === "string") return { type: "text", text: value };
  const { type } = anyRecord(value, at, "a string or an object");
  switch (type) {
    case "text": {
      const { text } = read.record(value, at, ["type", "text"]);
      return { type, text: read.text(text, `${at}.text`) };
    }
    case "thinking": {
      const { thinking } = read.record(value, at, ["type", "thinking"]);
      return { type, thinking: read.text(thinking, `${at}.thinking`) };
    }
    case "tool_use": {
      const { name, input = {}, id } = read.record(value, at, ["type", "name", "input", "id"]);
      return {
        type,
        name: read.text(name, `${at}.name`),
        input: anyRecord(input, `${at}.input`),
        ...(id !== undefined && { id: read.text(id, `${at}.id`) }),
      };
    }
    case "raw": {
      const { block } = read.record(value, at, ["type", "block"]);
      return { type, block: anyRecord(block, `${at}.block`) };
    }
    default:
      throw read.wrong(`${at}.type`, 'one of "text", "thinking", "tool_use", "raw"', type);
  }
}

/** Returns an object with any fields. */
function anyRecord(value: unknown, at: string, expected = "an object"): JsonRecord {
  if (!isRecord(value)) throw read.wrong(at, expected, value);
  return value;
}
