import type { Report } from "../report.ts";
import { itemType } from "../shapes/responses-items.ts";
import { at, fieldOf, isSet, type JsonRecord, listOf, own, quote, textOf } from "../values.ts";
import { checkImageUrl, checkResponsesParts } from "./media.ts";

/** Checks the items of `input`: ids, contents, calls with their outputs, and reasoning. */
export function checkResponsesItems(body: JsonRecord, report: Report): void {
  const input = listOf(body, "input");
  checkIds(input, report);
  checkCalls(body, input, report);
  for (const [index, item] of input.entries()) {
    const path = `input[${index}]`;
    checkContents(item, path, report);
    if (itemType(item) === "reasoning") checkFollower(item, input[index + 1], path, report);
    if (itemType(item) === "compaction_trigger" && index < input.length - 1)
      report.add(
        "trigger-not-last",
        path,
        `${path} is a compaction_trigger, but other items follow it. Move it to the end of the input.`,
      );
  }
}

const MAX_ID_LENGTH = 64;

/** Beginning of the id, by the type of the item. The API's check for other types is not documented. */
const ID_PREFIX: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  custom_tool_call: "ctc",
  reasoning: "rs",
};

function checkIds(input: readonly unknown[], report: Report): void {
  const seen = new Set<string>();
  for (const item of report.options.earlier ?? []) {
    const id = textOf(item, "id");
    if (id !== undefined) seen.add(id);
  }
  const references = new Set<string>();
  for (const [index, item] of input.entries()) {
    const type = itemType(item);
    const id = textOf(item, "id");
    // The output of a local shell call has the id of its call.
    if (type === undefined || id === undefined || type === "local_shell_call_output") continue;
    const path = `input[${index}].id`;
    checkId(id, type, path, report);
    // A reference repeats the id of an earlier item on purpose.
    const known = type === "item_reference" ? references : seen;
    if (known.has(id))
      report.add("item-id-duplicate", path, `Two items have the id ${quote(id)}. Remove one of them.`);
    known.add(id);
  }
}

function checkId(id: string, type: string, path: string, report: Report): void {
  if (id.length > MAX_ID_LENGTH)
    report.add(
      "item-id-length",
      path,
      `${path} has ${id.length} characters, but the API accepts at most ${MAX_ID_LENGTH}. Remove the id.`,
    );
  const prefix = Object.hasOwn(ID_PREFIX, type) ? ID_PREFIX[type] : undefined;
  if (prefix === undefined || id.startsWith(prefix)) return;
  report.add(
    "item-id-prefix",
    path,
    `The id of an item of type ${type} begins with ${quote(prefix)}. Send the id that the API gave to the item, or none.`,
  );
}

/** Type of the call, by the type of its output. */
const CALL_OF: Readonly<Record<string, string>> = {
  function_call_output: "function_call",
  custom_tool_call_output: "custom_tool_call",
  shell_call_output: "shell_call",
  apply_patch_call_output: "apply_patch_call",
  computer_call_output: "computer_call",
};

const CALLS: ReadonlySet<string> = new Set(Object.values(CALL_OF));

/**
 * Pairs calls with their outputs, over the stored items and the input. Without the stored items, and with a
 * reference to an unknown item, an output may belong to a call that the check does not see.
 */
function checkCalls(body: JsonRecord, input: readonly unknown[], report: Report): void {
  const { earlier } = report.options;
  const calls = new Map<string, string>();
  const answered = new Set<string>();
  const known = new Set<string>();
  for (const item of earlier ?? []) {
    const id = textOf(item, "id");
    if (id !== undefined) known.add(id);
    place(item, "input", calls, answered);
  }
  const continues =
    isSet(body, "previous_response_id") || isSet(body, "conversation") || isSet(body, "prompt");
  const refersOutside = input.some(
    (item) => itemType(item) === "item_reference" && !known.has(textOf(item, "id") ?? ""),
  );
  const seesAll = !refersOutside && (!continues || earlier !== undefined);
  for (const [index, item] of input.entries()) {
    const path = `input[${index}]`;
    if (place(item, path, calls, answered) || !seesAll) continue;
    report.add(
      "output-orphan",
      at(path, "call_id"),
      `${path} answers the call ${quote(textOf(item, "call_id") ?? "")}, but no earlier item makes this call. ` +
        "Add the call before it, or remove the output.",
    );
  }
  for (const [key, path] of calls) {
    if (answered.has(key)) continue;
    const id = quote(key.slice(key.indexOf(" ") + 1));
    report.add("call-unanswered", path, `The call ${id} has no output. Add its output to the input.`);
  }
}

/** Notes a call or an output. Returns false for an output without a call. */
function place(item: unknown, path: string, calls: Map<string, string>, answered: Set<string>): boolean {
  const type = itemType(item) ?? "";
  const callId = textOf(item, "call_id");
  if (callId === undefined) return true;
  if (CALLS.has(type)) {
    const key = `${type} ${callId}`;
    if (!calls.has(key)) calls.set(key, path === "input" ? path : at(path, "call_id"));
    return true;
  }
  const call = Object.hasOwn(CALL_OF, type) ? CALL_OF[type] : undefined;
  if (call === undefined) return true;
  const key = `${call} ${callId}`;
  if (!calls.has(key)) return false;
  answered.add(key);
  return true;
}

function checkContents(item: unknown, path: string, report: Report): void {
  const type = itemType(item);
  if (type === "message") checkResponsesParts(listOf(item, "content"), at(path, "content"), report);
  if (type === "function_call_output" || type === "custom_tool_call_output")
    checkResponsesParts(listOf(item, "output"), at(path, "output"), report);
  const url = type === "computer_call_output" ? textOf(fieldOf(item, "output"), "image_url") : undefined;
  if (url !== undefined) checkImageUrl(url, `${path}.output.image_url`, report);
}

/** Items that the client writes. They do not belong to the reasoning before them. */
function isClientItem(item: unknown): boolean {
  const type = itemType(item);
  if (type === "message") return textOf(item, "role") !== "assistant";
  return (
    type === "compaction_trigger" ||
    type === "mcp_approval_response" ||
    (type !== undefined && Object.hasOwn(CALL_OF, type)) ||
    type === "local_shell_call_output"
  );
}

function checkFollower(item: unknown, next: unknown, path: string, report: Report): void {
  const id = own(item as JsonRecord, "id");
  if (typeof id !== "string" || (next !== undefined && !isClientItem(next))) return;
  report.add(
    "reasoning-unfollowed",
    path,
    `The reasoning item ${quote(id)} comes without the item that the model wrote after it. Add that item, or remove the reasoning.`,
  );
}
