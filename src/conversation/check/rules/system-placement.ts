import type { Draft, DraftMessage, Part } from "../draft.ts";
import { isEffortOnly } from "../effort-only.ts";
import { serverToolResult } from "../server-tools.ts";

/**
 * A system message inside the conversation stands directly after a user turn (or an assistant turn that
 * ends in a server tool's result) and is last or followed by the assistant; so it can never part a tool
 * use from its result. A misplaced one moves on to the end of the next user turn, or becomes the user's.
 */
export function placeSystemMessages(draft: Draft): void {
  if (!draft.messages.some((message) => message.role === "system")) return;
  const followers = nextSpeakers(draft.messages);
  const placed: DraftMessage[] = [];
  let waiting: DraftMessage[] = [];
  let before: DraftMessage | undefined;
  for (const [index, message] of draft.messages.entries()) {
    const next = followers[index];
    if (message.role === "system") {
      const opensWithEffort = before === undefined && isEffortOnly(message);
      if (opensWithEffort || (canStandAfter(before) && next !== "user")) placed.push(message);
      else waiting.push(message);
      continue;
    }
    placed.push(message);
    before = message;
    if (message.role !== "user" || next === "user") continue;
    for (const system of waiting) placed.push(reportMoved(draft, system));
    waiting = [];
  }
  for (const system of waiting) placed.push(reportSentAsUser(draft, system));
  if (placed.some((message, index) => message !== draft.messages[index])) draft.messages = placed;
}

/** For each message the role of the next one that is not a system message. */
function nextSpeakers(messages: readonly DraftMessage[]): readonly (DraftMessage["role"] | undefined)[] {
  const speakers = new Array<DraftMessage["role"] | undefined>(messages.length).fill(undefined);
  let next: DraftMessage["role"] | undefined;
  for (let index = messages.length - 1; index >= 0; index--) {
    speakers[index] = next;
    const role = messages[index]?.role;
    if (role !== "system") next = role;
  }
  return speakers;
}

function canStandAfter(before: DraftMessage | undefined): boolean {
  if (before === undefined) return false;
  if (before.role === "user") return true;
  const last = before.parts.at(-1);
  return last !== undefined && serverToolResult(last.block) !== undefined;
}

function reportMoved(draft: Draft, message: DraftMessage): DraftMessage {
  const text = "A system message may not stand here; it moved to the end of the next user turn.";
  draft.report({ rule: "system-placement", at: message.origin, message: text, action: "moved" });
  return message;
}

function reportSentAsUser(draft: Draft, message: DraftMessage): DraftMessage {
  const text =
    "No user turn follows this system message, so it may not stand here; it is sent as the user's.";
  draft.report({ rule: "system-placement", at: message.origin, message: text, action: "rewritten" });
  return asUserMessage(message);
}

/** Blocks that only a system message may hold (changes of the tool set) are sent as their JSON. */
export function asUserMessage(message: DraftMessage): DraftMessage {
  const parts = message.parts.map((part): Part => {
    if (part.block.type === "text") return part;
    return { block: { type: "text", text: JSON.stringify(part.block) }, origin: part.origin };
  });
  return { role: "user", parts, origin: message.origin, source: undefined, sourceBlocks: undefined };
}
