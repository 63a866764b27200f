import type { Report } from "../report.ts";
import { itemType } from "../shapes/responses-items.ts";
import { at, fieldOf, isSet, type JsonRecord, listOf, quote, textOf } from "../values.ts";
import { checkId } from "./ids.ts";
import { checkImageSupport, checkImageUrl, checkResponsesParts } from "./media.ts";

/** Checks the items of `input`: ids, contents, calls with their outputs, and reasoning. */
export function checkResponsesItems(body: JsonRecord, report: Report): void {
  const input = listOf(body, "input");
  checkIds(input, report);
  checkCalls(body, input, report);
  checkReasoning(input, report);
  for (const [index, item] of input.entries()) {
    const path = `input[${index}]`;
    checkContents(item, path, report);
    if (itemType(item) === "compaction_trigger" && index < input.length - 1)
      report.add(
        "trigger-not-last",
        path,
        `${path} is a compaction_trigger, but other items follow it. Move it to the end of the input.`,
      );
  }
}

/** Beginning of the id, by the type of the item. No source names it for other types. */
const ID_PREFIX: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fc",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctc",
  compaction: "cmp",
  reasoning: "rs",
  tool_search_call: "tsc",
  web_search_call: "ws",
};

/** Types whose ids the API does not check, or not as ids of items. */
const FREE_IDS: ReadonlySet<string> = new Set([
  "item_reference",
  "local_shell_call_output",
  "program",
  "program_output",
  "agent_message",
  "multi_agent_call",
  "multi_agent_call_output",
]);

function checkIds(input: readonly unknown[], report: Report): void {
  const seen = new Set<string>();
  for (const item of report.options.earlier ?? []) {
    const id = textOf(item, "id");
    if (id !== undefined) seen.add(id);
  }
  for (const [index, item] of input.entries()) {
    const type = itemType(item);
    const id = textOf(item, "id");
    if (type === undefined || id === undefined) continue;
    const path = `input[${index}].id`;
    if (!FREE_IDS.has(type)) checkId(id, prefixOf(type), path, report);
    // The output of a local shell call has the id of its call.
    if (type === "local_shell_call_output") continue;
    if (seen.has(id))
      report.add("item-id-duplicate", path, `Two items have the id ${quote(id)}. Remove one of them.`);
    seen.add(id);
  }
}

function prefixOf(type: string): string {
  return (Object.hasOwn(ID_PREFIX, type) ? ID_PREFIX[type] : undefined) ?? "";
}

/** Types of the calls that an output may answer, by the type of the output. */
const CALLS_OF: ReadonlyMap<string, readonly string[]> = new Map([
  // Codex answers local shells with outputs of functions.
  ["function_call_output", ["function_call", "local_shell_call"]],
  ["custom_tool_call_output", ["custom_tool_call"]],
  ["shell_call_output", ["shell_call"]],
  ["local_shell_call_output", ["local_shell_call"]],
  ["apply_patch_call_output", ["apply_patch_call"]],
  ["computer_call_output", ["computer_call"]],
  ["tool_search_output", ["tool_search_call"]],
]);

const CALLS: ReadonlySet<string> = new Set([...CALLS_OF.values()].flat());

/** One call, which one or two ids name. */
interface OpenCall {
  readonly id: string;
  readonly path: string;
  isAnswered: boolean;
}

/** Calls by type and id. */
type Calls = Map<string, OpenCall>;

/**
 * Pairs calls with their outputs, over the stored items and the input. Without the stored items, and with a
 * reference to an unknown item, an output may belong to a call that the check does not see.
 */
function checkCalls(body: JsonRecord, input: readonly unknown[], report: Report): void {
  const { earlier } = report.options;
  const calls: Calls = new Map();
  const continues = ["previous_response_id", "conversation", "prompt"].some((name) => isSet(body, name));
  const refersOutside = input.some((item) => itemType(item) === "item_reference");
  const seesAll = !refersOutside && (!continues || earlier !== undefined);
  for (const item of earlier ?? []) place(item, "input", calls);
  for (const [index, item] of input.entries()) {
    const path = `input[${index}]`;
    if (place(item, path, calls) || !seesAll) continue;
    report.add(
      "output-orphan",
      at(path, "call_id"),
      `${path} answers the call ${quote(textOf(item, "call_id") ?? "")}, but no earlier item makes this call. ` +
        "Add the call before it, or remove the output.",
    );
  }
  for (const { id, path, isAnswered } of new Set(calls.values())) {
    if (isAnswered) continue;
    report.add("call-unanswered", path, `The call ${quote(id)} has no output. Add its output to the input.`);
  }
}

/** Notes a call or an output. Returns false for an output without a call. */
function place(item: unknown, path: string, calls: Calls): boolean {
  const type = itemType(item) ?? "";
  const id = textOf(item, "call_id") ?? (type.startsWith("local_shell") ? textOf(item, "id") : undefined);
  if (id === undefined) return true;
  if (CALLS.has(type)) {
    const callPath = path === "input" ? path : at(path, "call_id");
    const call = { id, path: callPath, isAnswered: fieldOf(item, "async") === true };
    calls.set(`${type} ${id}`, call);
    const itemId = textOf(item, "id");
    // The SDK names the call of a local shell by the id of its item.
    if (type === "local_shell_call" && itemId !== undefined) calls.set(`${type} ${itemId}`, call);
    return true;
  }
  const answerable = CALLS_OF.get(type);
  if (answerable === undefined) return true;
  const call = answerable.map((kind) => calls.get(`${kind} ${id}`)).find((found) => found !== undefined);
  if (call !== undefined) call.isAnswered = true;
  return call !== undefined;
}

function checkContents(item: unknown, path: string, report: Report): void {
  const type = itemType(item);
  if (type === "message") checkResponsesParts(listOf(item, "content"), at(path, "content"), report);
  if (type === "function_call_output" || type === "custom_tool_call_output")
    checkResponsesParts(listOf(item, "output"), at(path, "output"), report);
  if (type !== "computer_call_output") return;
  checkImageSupport(path, report);
  const url = textOf(fieldOf(item, "output"), "image_url");
  if (url !== undefined) checkImageUrl(url, `${path}.output.image_url`, report);
}

/** Items that the client writes. They do not belong to the reasoning before them. */
const CLIENT_ITEMS: ReadonlySet<string | undefined> = new Set([
  "function_call_output",
  "custom_tool_call_output",
  "local_shell_call_output",
  "apply_patch_call_output",
  "computer_call_output",
  "mcp_approval_response",
  "compaction_trigger",
  "configuration_update",
  "additional_tools",
]);

function isClientItem(item: unknown): boolean {
  const type = itemType(item);
  return type === "message" ? textOf(item, "role") !== "assistant" : CLIENT_ITEMS.has(type);
}

function checkReasoning(input: readonly unknown[], report: Report): void {
  const { reasoningModel, earlier = [] } = report.options;
  let isFollowed = false;
  // From the end: several reasoning items may stand before one item of the model.
  for (let index = input.length - 1; index >= 0; index -= 1) {
    const item = input[index];
    if (itemType(item) !== "reasoning") {
      isFollowed = !isClientItem(item);
      continue;
    }
    const id = textOf(item, "id");
    if (!isFollowed && id !== undefined)
      report.add(
        "reasoning-unfollowed",
        `input[${index}]`,
        `The reasoning item ${quote(id)} comes without the item that the model wrote after it. Add that item, or remove the reasoning.`,
      );
  }
  const isReasoning = (item: unknown): boolean => itemType(item) === "reasoning";
  if (reasoningModel === false && (input.some(isReasoning) || earlier.some(isReasoning)))
    report.add(
      "reasoning-unsupported",
      "input",
      "The model does not reason. Remove the reasoning items from the input.",
    );
}
