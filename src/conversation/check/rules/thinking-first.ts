import { isThinking, tagOf } from "../../message.ts";
import { addedMessage, type Draft, type DraftMessage, textPart } from "../draft.ts";

/** Blocks that the provider itself puts before a reply. */
const OF_THE_PROVIDER: ReadonlySet<string> = new Set(["compaction", "fallback"]);

export const RESULTS_READ_TEXT = "I have the tool results.";
export const CONTINUE_WITH_RESULTS_TEXT = "Continue with the tool results above.";

/**
 * With thinking of type `enabled`, the turn whose tool results are being sent must begin with thinking. A turn lasts
 * from a user message without tool results to the next one. Thinking cannot be made up, so a turn that lacks it ends
 * at its last results: two short texts begin the next one. Calls and results stay as they are.
 */
export function beginToolTurnWithThinking(draft: Draft): void {
  if (draft.request.thinking?.type !== "enabled") return;
  const { messages } = draft;
  const turn = openToolTurn(messages);
  if (turn === undefined || (turn.first === 1 && draft.followsThinking)) return;
  const first = messages[turn.first];
  if (first === undefined || begins(first) === "with-thinking") return;
  const next = nextWithThinking(messages, turn);
  const place = next === -1 ? turn.end : messages.findLastIndex(({ role }, at) => at < next && isUser(role));
  const answer = messages[place];
  if (answer === undefined) return;
  const message =
    "With thinking enabled, a turn that calls tools must begin with thinking; the turn was ended after its results.";
  draft.report({ rule: "thinking-not-first", at: first.origin, message, action: "text-added" });
  draft.messages = [...messages.slice(0, place), ...endedTurn(answer), ...messages.slice(place + 1)];
}

interface ToolTurn {
  /** Index of its first message of the assistant. */
  readonly first: number;
  /** Index of the newest message with its results. */
  readonly end: number;
}

/** The turn whose results end the conversation. */
function openToolTurn(messages: readonly DraftMessage[]): ToolTurn | undefined {
  const end = messages.findLastIndex(({ role }) => role !== "system");
  const call = messages.findLastIndex(({ role }, at) => at < end && role !== "system");
  const isOpen = isUser(messages[end]?.role) && messages[call]?.role === "assistant";
  if (!isOpen || messages[call]?.parts.every(({ block }) => block.type !== "tool_use")) return undefined;
  const start = messages.findLastIndex((message, at) => at <= call && startsTurn(message));
  return { first: messages.findIndex((message, at) => at >= start && begins(message) !== undefined), end };
}

const nextWithThinking = (messages: readonly DraftMessage[], { first, end }: ToolTurn): number =>
  messages.findIndex((message, at) => at > first && at < end && begins(message) === "with-thinking");

const isUser = (role: DraftMessage["role"] | undefined): boolean => role === "user";

/** A user message without tool results starts a turn, and so does a summary, which replaces all before it. */
export function startsTurn({ role, parts }: DraftMessage): boolean {
  if (role === "user") return parts.every(({ block }) => block.type !== "tool_result");
  return role === "assistant" && parts.some(({ block }) => tagOf(block) === "compaction");
}

/** Undefined for other roles, and for messages that hold only the provider's own blocks. */
export function begins({ role, parts }: DraftMessage): "with-thinking" | "without" | undefined {
  const first =
    role === "assistant" ? parts.find(({ block }) => !OF_THE_PROVIDER.has(tagOf(block))) : undefined;
  if (first === undefined) return undefined;
  return isThinking(first.block) ? "with-thinking" : "without";
}

function endedTurn(answer: DraftMessage): readonly DraftMessage[] {
  const { origin, parts } = answer;
  const results = parts.filter(({ block }) => block.type === "tool_result");
  const others = parts.filter(({ block }) => block.type !== "tool_result");
  const begins = others.length > 0 ? others : [textPart(CONTINUE_WITH_RESULTS_TEXT, origin)];
  return [
    others.length === 0 ? answer : { ...answer, parts: results },
    addedMessage("assistant", [textPart(RESULTS_READ_TEXT, origin)], origin),
    addedMessage("user", begins, origin),
  ];
}
