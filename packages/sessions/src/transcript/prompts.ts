import { contentText, entryBlocks } from "@longhaul/core/internal/messages";
import { classifyUserText } from "@longhaul/core/internal/summary";
import type { Entry } from "@longhaul/core/messages";
import { typedContent } from "./message-queue.ts";

const HUMAN_KINDS: ReadonlySet<string> = new Set(["request", "command", "shell"]);

/**
 * Returns text that the user wrote: a request, a slash command or a shell command. Returns undefined for any
 * other entry.
 */
export function promptIn(entry: Entry): string | undefined {
  const said = classifyUserText(contentText(typedContent(entry)));
  return HUMAN_KINDS.has(said.kind) && "text" in said ? said.text : undefined;
}

/** Checks whether a person wrote this text, and not the host in the person's name. */
export const isPrompt = (text: string): boolean => HUMAN_KINDS.has(classifyUserText(text).kind);

/** Returns text that the user wrote to the model, without commands to the agent. */
export function requestIn(entry: Entry): string | undefined {
  if (entry.isSidechain === true) return undefined;
  const said = classifyUserText(contentText(typedContent(entry)));
  return said.kind === "request" ? said.text : undefined;
}

/** Returns the text of a prompt. Images without a word count as a prompt too. */
export function spokenIn(entry: Entry): string | undefined {
  if (entry.type !== "user") return undefined;
  const text = promptIn(entry);
  if (text !== undefined || entry.isMeta === true || entry.isCompactSummary === true) return text;
  const blocks = entryBlocks(entry);
  const isShown = blocks.length > 0 && blocks.every(({ type }) => type === "image" || type === "document");
  return isShown ? blocks.map(({ type }) => `[${type}]`).join(" ") : undefined;
}
