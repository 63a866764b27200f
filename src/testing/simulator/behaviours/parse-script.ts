import { isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";
import { LonghaulError } from "../../../errors.ts";
import { CALL_PURPOSES, type CallPurpose, type ReportedUsage, type TurnBlock } from "../exchange.ts";
import { textTurn } from "./answers.ts";
import type { AddressedTurn } from "./scripted.ts";

const REMEDY =
  'A script is a list of turns: texts, or objects such as {"blocks": [{"type": "tool_use", "name": "Read", "input": {}}]}.';

/**
 * Turns from a JSON file: a list, or an object with the list as `turns`. A turn is a text or an
 * {@link AddressedTurn}; inside one, a plain string stands for a block of text. What is misspelt is refused, not
 * ignored.
 */
export function parseScript(json: unknown): AddressedTurn[] {
  if (Array.isArray(json)) return json.map((turn, index) => parseTurn(turn, `turns[${index}]`));
  if (!isRecord(json)) throw wrong("the script", "a list of turns", json);
  refuseOtherFields(json, "the script", ["turns"]);
  if (!Array.isArray(json.turns)) throw wrong("turns", "a list of turns", json.turns);
  return parseScript(json.turns);
}

function parseTurn(value: unknown, at: string): AddressedTurn {
  if (typeof value === "string") return textTurn(value);
  if (!isRecord(value)) throw wrong(at, "a text or an object", value);
  refuseOtherFields(value, at, ["blocks", "stopReason", "stopDetails", "for", "usage", "delayMs"]);
  const { blocks, stopReason, stopDetails, for: purpose, usage, delayMs } = value;
  if (!Array.isArray(blocks)) throw wrong(`${at}.blocks`, "a list of blocks", blocks);
  if (stopReason !== undefined && typeof stopReason !== "string")
    throw wrong(`${at}.stopReason`, "a text", stopReason);
  if (stopDetails !== undefined && !isRecord(stopDetails))
    throw wrong(`${at}.stopDetails`, "an object", stopDetails);
  return {
    blocks: blocks.map((block, index) => parseBlock(block, `${at}.blocks[${index}]`)),
    ...(stopReason !== undefined && { stopReason }),
    ...(stopDetails !== undefined && { stopDetails }),
    ...(purpose !== undefined && { for: parsePurpose(purpose, `${at}.for`) }),
    ...(usage !== undefined && { usage: parseUsage(usage, `${at}.usage`) }),
    ...(delayMs !== undefined && { delayMs: countIn(delayMs, `${at}.delayMs`) }),
  };
}

function parsePurpose(value: unknown, at: string): CallPurpose {
  const purpose = CALL_PURPOSES.find((one) => one === value);
  if (purpose === undefined) throw wrong(at, `one of ${quoted(CALL_PURPOSES)}`, value);
  return purpose;
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

function parseBlock(value: unknown, at: string): TurnBlock {
  if (typeof value === "string") return { type: "text", text: value };
  if (!isRecord(value)) throw wrong(at, "a text or an object", value);
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
  if (typeof text !== "string") throw wrong(`${at}.${name}`, "a text", text);
  return text;
}

function refuseOtherFields(value: JsonRecord, at: string, known: readonly string[]): void {
  const other = Object.keys(value).find((name) => !known.includes(name));
  if (other === undefined) return;
  const text = `${at}: unknown field "${other}"; it may hold ${known.join(", ")}`;
  throw new LonghaulError("simulator-failed", `The script cannot be used: ${text}.`, { remedy: REMEDY });
}

function wrong(at: string, expected: string, found: unknown): LonghaulError {
  const text = `The script cannot be used: ${at} must be ${expected}, but is ${describe(found)}.`;
  return new LonghaulError("simulator-failed", text, { remedy: REMEDY });
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

const MAX_SHOWN_CHARS = 60;

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  return (JSON.stringify(value) ?? typeof value).slice(0, MAX_SHOWN_CHARS);
}
