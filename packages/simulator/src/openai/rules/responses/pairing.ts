import type { JsonRecord } from "@longhaul/core/internal/messages";
import { refuse } from "../../wording/refuse.ts";
import { shortened } from "../shape/inspection.ts";

/** Calls of one kind of tool with their outputs, and how the error texts name them. */
interface Family {
  readonly call: string;
  readonly output: string;
}

const familyOf = (call: string, output = `${call} output`): Family => ({ call, output });

const FUNCTION = familyOf("function call");
const CUSTOM = familyOf("custom tool call");
const SHELL = familyOf("shell call");
const LOCAL_SHELL = familyOf("local shell call");
const PATCH = familyOf("apply patch call");
const COMPUTER = familyOf("computer call");
const SEARCH = familyOf("tool search call", "tool search output");

const CALLS: ReadonlyMap<unknown, Family> = new Map([
  ["function_call", FUNCTION],
  ["custom_tool_call", CUSTOM],
  ["shell_call", SHELL],
  ["local_shell_call", LOCAL_SHELL],
  ["apply_patch_call", PATCH],
  ["computer_call", COMPUTER],
  ["tool_search_call", SEARCH],
]);

/** Families that an output may answer. Codex answers calls of the local shell with outputs of functions. */
const OUTPUTS: ReadonlyMap<unknown, readonly [Family, ...Family[]]> = new Map<
  unknown,
  readonly [Family, ...Family[]]
>([
  ["function_call_output", [FUNCTION, LOCAL_SHELL]],
  ["custom_tool_call_output", [CUSTOM]],
  ["shell_call_output", [SHELL]],
  ["local_shell_call_output", [LOCAL_SHELL]],
  ["apply_patch_call_output", [PATCH]],
  ["computer_call_output", [COMPUTER]],
  ["tool_search_output", [SEARCH]],
]);

interface Call {
  readonly family: Family;
  readonly id: string;
  isAnswered: boolean;
}

/** Calls so far, by family and id. Calls of several families may have the same id. */
type Calls = Map<string, Call>;

const keyOf = (family: Family, id: string): string => `${family.call}:${id}`;

/**
 * Refuses outputs without an earlier call and calls without a later output. The items are the whole
 * conversation: the stored items that a request continues, then its input. Calls that run asynchronously and
 * searches for tools that OpenAI runs need no output. It is not documented whether a call may have two
 * outputs, so it may.
 */
export function checkPairs(items: readonly JsonRecord[]): void {
  const calls: Calls = new Map();
  for (const item of items) {
    const called = CALLS.get(item.type);
    if (called !== undefined) addCall(called, item, calls);
    const answered = OUTPUTS.get(item.type);
    if (answered !== undefined) answerCall(answered, item, calls);
  }
  for (const { family, id, isAnswered } of calls.values()) {
    if (!isAnswered) refuse("toolOutputMissing", "input", { call: family.call, id: shortened(id) });
  }
}

function addCall(called: Family, item: JsonRecord, calls: Calls): void {
  const { call_id: id } = item;
  if (typeof id !== "string") return;
  const call = { family: called, id, isAnswered: item.async === true };
  calls.set(keyOf(called, id), call);
  // The types of the SDK name the call of a local shell by the id of its item.
  if (called === LOCAL_SHELL && typeof item.id === "string") calls.set(keyOf(called, item.id), call);
}

function answerCall(families: readonly [Family, ...Family[]], item: JsonRecord, calls: Calls): void {
  const id = item.call_id ?? (item.type === "local_shell_call_output" ? item.id : undefined);
  if (typeof id !== "string") return;
  for (const family of families) {
    const call = calls.get(keyOf(family, id));
    if (call === undefined) continue;
    call.isAnswered = true;
    return;
  }
  refuse("toolCallMissing", "input", { output: families[0].output, id: shortened(id) });
}
