import { isThinking, tagOf } from "../message.ts";
import { addedMessage, type DraftMessage, itemIndexOf, textPart } from "./draft.ts";
import type { Rule } from "./rule.ts";

/** Blocks that the provider itself puts before a reply. */
const OF_THE_PROVIDER: ReadonlySet<string> = new Set(["compaction", "fallback"]);

export const RESULTS_READ_TEXT = "I have the tool results.";
export const CONTINUE_WITH_RESULTS_TEXT = "Continue with the tool results above.";

/**
 * An assistant message cannot end in thinking. Such thinking led to nothing that was kept; it is removed
 * whole, since a thinking block may never be changed.
 */
export const noTrailingThinking: Rule = {
  reports: ["thinking-last", "thinking-only"],
  looksAt: "messages",
  apply(draft) {
    const kept = draft.messages.filter((message) => {
      const end = message.role === "assistant" ? endBeforeThinking(message) : message.parts.length;
      if (end === message.parts.length) return true;
      const detail = { blocks: message.parts.length - end };
      if (end === 0) {
        const text = "An assistant message of nothing but thinking was left out.";
        draft.report("thinking-only", "dropped", message.origin, text, detail);
        return false;
      }
      const at = message.parts[end]?.origin ?? message.origin;
      const text = "An assistant message cannot end in thinking; the thinking at its end was left out.";
      draft.report("thinking-last", "dropped", at, text, detail);
      message.parts = message.parts.slice(0, end);
      return true;
    });
    if (kept.length !== draft.messages.length) draft.messages = kept;
  },
};

function endBeforeThinking(message: DraftMessage): number {
  return message.parts.findLastIndex((part) => !isThinking(part.block)) + 1;
}

/**
 * With thinking of type `enabled`, the turn whose tool results are being sent must begin with thinking. A turn lasts
 * from a user message without tool results to the next one. Thinking cannot be made up, so a turn that lacks it ends
 * at its last results: two short texts begin the next one. Calls and results stay as they are.
 */
export const thinkingBeginsToolTurn: Rule = {
  reports: ["thinking-not-first"],
  looksAt: "turn",
  apply(draft) {
    if (draft.request.thinking?.type !== "enabled") return;
    const { messages } = draft;
    const turn = openToolTurn(messages);
    if (turn === undefined || (turn.first === 1 && draft.followsThinking)) return;
    const first = messages[turn.first];
    if (first === undefined || begins(first) === "with-thinking") return;
    const next = nextWithThinking(messages, turn);
    const place =
      next === -1 ? turn.end : messages.findLastIndex(({ role }, at) => at < next && isUser(role));
    const answer = messages[place];
    if (answer === undefined) return;
    const message =
      "With thinking enabled, a turn that calls tools must begin with thinking; the turn was ended after its results.";
    draft.report("thinking-not-first", "text-added", first.origin, message);
    draft.messages = [...messages.slice(0, place), ...endedTurn(answer), ...messages.slice(place + 1)];
  },
  // A turn that was ended for lack of thinking stays on one side of a cut: it is whole again once the user speaks.
  allowsCut: ({ messages, findings }) => {
    let ended = Number.POSITIVE_INFINITY;
    for (const finding of findings) {
      if (finding.rule === "thinking-not-first") ended = Math.min(ended, itemIndexOf(finding) ?? ended);
    }
    return (index) => (messages[index]?.origin.message ?? 0) <= ended;
  },
  remember: ({ request }) => {
    let begun: TurnBeginning;
    return {
      allowsTail: (tail, between) => {
        const beginning = turnAfter(begun, between);
        tail.followsThinking = beginning === "with-thinking";
        return request.thinking?.type !== "enabled" || beginning !== "without";
      },
      close: (messages) => {
        begun = turnAfter(begun, messages);
      },
    };
  },
};

/** Undefined where the assistant has not begun its turn. */
type TurnBeginning = "with-thinking" | "without" | undefined;

/** The beginning of the turn at the end of these messages, given that of the turn before them. */
function turnAfter(before: TurnBeginning, messages: readonly DraftMessage[]): TurnBeginning {
  let begun = before;
  for (const message of messages) {
    if (startsTurn(message)) begun = undefined;
    begun ??= begins(message);
  }
  return begun;
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
function startsTurn({ role, parts }: DraftMessage): boolean {
  if (role === "user") return parts.every(({ block }) => block.type !== "tool_result");
  return role === "assistant" && parts.some(({ block }) => tagOf(block) === "compaction");
}

/** Undefined for other roles, and for messages that hold only the provider's own blocks. */
function begins({ role, parts }: DraftMessage): TurnBeginning {
  const first =
    role === "assistant" ? parts.find(({ block }) => !OF_THE_PROVIDER.has(tagOf(block))) : undefined;
  if (first === undefined) return undefined;
  return isThinking(first.block) ? "with-thinking" : "without";
}

function endedTurn(answer: DraftMessage): readonly DraftMessage[] {
  const { origin, parts } = answer;
  const results = parts.filter(({ block }) => block.type === "tool_result");
  const others = parts.filter(({ block }) => block.type !== "tool_result");
  const words = others.length > 0 ? others : [textPart(CONTINUE_WITH_RESULTS_TEXT, origin)];
  return [
    others.length === 0 ? answer : { ...answer, parts: results },
    addedMessage("assistant", [textPart(RESULTS_READ_TEXT, origin)], origin),
    addedMessage("user", words, origin),
  ];
}
