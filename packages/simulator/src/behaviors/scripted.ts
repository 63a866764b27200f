import { LonghaulError } from "@longhaul/core/errors";
import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import {
  type Behavior,
  CALL_PURPOSES,
  type CallPurpose,
  type ReportedUsage,
  type SeenRequest,
  type Turn,
  type TurnBlock,
} from "../exchange.ts";
import { textTurn } from "./answers.ts";

/**
 * A turn that answers only calls of the purpose `for`. Without `for`, the turn answers every call except
 * Claude Code's side calls.
 */
export interface AddressedTurn extends Turn {
  readonly for?: CallPurpose;
}

/** A turn of a script. A plain string is one text block. */
export type ScriptedTurn = AddressedTurn | string | ((request: SeenRequest) => Turn | string | undefined);

export interface ScriptedBehavior extends Behavior {
  /** Appends turns to the queue, even while the simulator is running. */
  add(...turns: readonly ScriptedTurn[]): void;
  /** Number of turns that are left. */
  remaining(): number;
}

/**
 * Creates a behavior that answers calls with these turns, in order. Each call gets the first turn that fits
 * its purpose. If a function returns undefined, the next behavior answers this call, and the function is
 * called again for the next call.
 * @param options.repeatLast repeats the last turn for every further call. Without it, the next behavior
 * answers further calls.
 */
export function scriptedTurns(
  turns: readonly ScriptedTurn[] = [],
  options: { readonly repeatLast?: boolean } = {},
): ScriptedBehavior {
  const queue = [...turns];
  const answer = (request: SeenRequest): Turn | undefined => {
    const at = queue.findIndex((turn) => typeof turn === "function" || isFor(turn, request.purpose));
    const next = queue[at];
    if (next === undefined) return undefined;
    const turn = typeof next === "function" ? next(request) : next;
    if (turn === undefined) return undefined;
    if (queue.length > 1 || !options.repeatLast) queue.splice(at, 1);
    return typeof turn === "string" ? textTurn(turn) : turn;
  };
  return Object.assign(answer, {
    add: (...more: readonly ScriptedTurn[]): void => {
      queue.push(...more);
    },
    remaining: (): number => queue.length,
  });
}

function isFor(turn: AddressedTurn | string, purpose: CallPurpose): boolean {
  const wanted = typeof turn === "string" ? undefined : turn.for;
  return wanted === undefined ? purpose !== "side-call" : wanted === purpose;
}

// Scripts in JSON

const REMEDY =
  'Write the script as a list of turns: strings, or objects such as {"blocks": [{"type": "tool_use", "name": "Read", "input": {}}]}.';

/**
 * Parses turns from a JSON file. The file contains a list of turns, or an object with this list in the field
 * `turns`. A turn is a text or an {@link AddressedTurn}. In the blocks of a turn, a plain string is a text
 * block. Rejects unknown fields.
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
  if (!isRecord(value)) throw wrong(at, "a string or an object", value);
  refuseOtherFields(value, at, ["blocks", "stopReason", "stopDetails", "for", "usage", "delayMs"]);
  const { blocks, stopReason, stopDetails, for: purpose, usage, delayMs } = value;
  if (!Array.isArray(blocks)) throw wrong(`${at}.blocks`, "a list of blocks", blocks);
  if (stopReason !== undefined && typeof stopReason !== "string")
    throw wrong(`${at}.stopReason`, "a string", stopReason);
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
  const names = CALL_PURPOSES.map((name) => `"${name}"`).join(", ");
  if (purpose === undefined) throw wrong(at, `one of ${names}`, value);
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
