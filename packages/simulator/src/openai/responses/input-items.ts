import { isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";

/** Converts `input` to items. A text is one message of the user. Entries that are no objects are skipped. */
export function inputItems(input: unknown): readonly JsonRecord[] {
  if (typeof input === "string")
    return input === "" ? [] : [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input.filter(isRecord) : [];
}

/** Returns the type of an item. A message may leave out its type, and so may a reference. */
export function itemType(item: JsonRecord): string {
  if (typeof item.type === "string") return item.type;
  return typeof item.role !== "string" && typeof item.id === "string" ? "item_reference" : "message";
}

/** True if the last item asks for a compaction instead of an answer. */
export const asksForCompaction = (items: readonly JsonRecord[]): boolean =>
  items.at(-1)?.type === "compaction_trigger";

/**
 * Returns the items that the model sees. The latest compaction item replaces what the model did before it.
 * Instructions, tools and messages of the user stay, as in the output of `POST /v1/responses/compact`.
 */
export function fromLatestCompaction(items: readonly JsonRecord[]): readonly JsonRecord[] {
  const start = items.findLastIndex((item) => item.type === "compaction");
  return start <= 0 ? items : items.filter((item, index) => index >= start || staysAfterCompaction(item));
}

const staysAfterCompaction = (item: JsonRecord): boolean => {
  const type = itemType(item);
  if (type === "message") return item.role !== "assistant";
  return type === "additional_tools" || type === "configuration_update";
};

/** Replaces references by the items that they name. Unknown references are dropped, because rules refuse them. */
export function withoutReferences(
  items: readonly JsonRecord[],
  find: (id: string) => JsonRecord | undefined,
): readonly JsonRecord[] {
  if (!items.some((item) => itemType(item) === "item_reference")) return items;
  return items.flatMap((item): readonly JsonRecord[] => {
    if (itemType(item) !== "item_reference") return [item];
    const found = find(stringField(item, "id") ?? "");
    return found === undefined ? [] : [found];
  });
}

export const isUserMessage = (item: JsonRecord): boolean =>
  itemType(item) === "message" && item.role === "user";

/** Prefixes of the ids of items, by type. The API generates ids with these prefixes. */
const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  local_shell_call: "lsh",
  local_shell_call_output: "lsho",
  shell_call: "sh",
  shell_call_output: "sho",
  apply_patch_call: "apc",
  apply_patch_call_output: "apco",
  computer_call: "cu",
  computer_call_output: "cuo",
  compaction: "cmp",
};

export const idPrefix = (type: string): string => ID_PREFIXES[type] ?? "item";

/** Form in which the API returns an input item: with id, type and status, and with its content as parts. */
export function storedInputItem(item: JsonRecord, newId: (prefix: string) => string): JsonRecord {
  const type = itemType(item);
  const id = typeof item.id === "string" ? item.id : newId(idPrefix(type));
  if (type !== "message") return { ...item, id, type };
  const partType = item.role === "assistant" ? "output_text" : "input_text";
  const content =
    typeof item.content === "string"
      ? [{ type: partType, text: item.content, ...(partType === "output_text" ? { annotations: [] } : {}) }]
      : item.content;
  return { ...item, id, type, status: item.status ?? "completed", content };
}
