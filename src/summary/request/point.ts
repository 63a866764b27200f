import type { AssistantEntry, Entry, UserEntry } from "../../conversation/entry.ts";
import { entryBlocks, isEntry } from "../../conversation/entry.ts";
import { countMessages } from "../../conversation/flatten/flatten.ts";
import { contentText } from "../../conversation/untrusted.ts";
import type { SummaryPoint } from "../prompt.ts";

/** Enough to find a message by, and too little to smuggle much into the request. */
const MAX_QUOTE_CHARS = 120;

/** Where these entries begin, told so that a model finds it in a conversation that ends with them. */
export function pointAt(later: readonly Entry[]): SummaryPoint | undefined {
  const first = later.find(isSaid);
  if (first === undefined) return undefined;
  return { description: describe(first), messages: Math.max(1, countMessages(later)) };
}

const isSaid = (entry: Entry): entry is UserEntry | AssistantEntry =>
  isEntry(entry) && (entry.type === "user" || entry.type === "assistant") && entryBlocks(entry).length > 0;

function describe(entry: UserEntry | AssistantEntry): string {
  const whose = entry.type === "user" ? "the user's message" : "the assistant's message";
  const blocks = entryBlocks(entry);
  const spoken = quote(contentText(blocks));
  if (spoken !== undefined) return `${whose} that begins with ${spoken}`;
  for (const block of blocks) {
    if (block.type === "tool_use") return `${whose} that calls ${quote(String(block.name)) ?? "a tool"}`;
    const result = block.type === "tool_result" ? quote(contentText(block.content)) : undefined;
    if (result !== undefined) return `the tool result that begins with ${result}`;
  }
  return whose;
}

/** On one line and in quotation marks, so that it cannot pass for a paragraph of ours. */
function quote(text: string): string | undefined {
  const line = text
    .slice(0, 4 * MAX_QUOTE_CHARS)
    .replace(/\s+/g, " ")
    .trim();
  return line === "" ? undefined : JSON.stringify(line.slice(0, MAX_QUOTE_CHARS).toWellFormed());
}
