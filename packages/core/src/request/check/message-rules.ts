import { claudeVersion, isAtLeast } from "../../messages/claude-version.ts";
import { isThinking, tagOf } from "../../messages/message.ts";
import { field, isRecord } from "../../messages/untrusted.ts";
import { FIRST_VERSION_WITH_SYSTEM_MESSAGES, FIRST_VERSION_WITHOUT_PREFILL, MAX_MESSAGES } from "./limits.ts";
import {
  addedMessage,
  type DraftMessage,
  type Finding,
  itemIndexOf,
  type Rule,
  textPart,
  withBlock,
} from "./rule.ts";
import { serverToolResult, serverToolUse } from "./tool-pair-rules.ts";

export const EARLIER_PART_MISSING_TEXT = "[The earlier part of this conversation is not included]";
export const CONTINUE_TEXT = "Continue at the point where you stopped.";

/**
 * Only two messages may be empty: a final assistant message that was already empty in the input, and a system
 * message that only sets the effort.
 */
export const noEmptyMessages: Rule = {
  reports: ["message-empty"],
  looksAt: "messages",
  apply(draft) {
    const last = draft.messages.at(-1);
    const kept = draft.messages.filter((message) => {
      if (message.parts.length > 0 || isEffortOnly(message)) return true;
      if (message === last && isEmptyPrefill(message)) return true;
      draft.report(
        "message-empty",
        "dropped",
        message.origin,
        "This message has no content. The repair removes it.",
      );
      return false;
    });
    if (kept.length !== draft.messages.length) draft.messages = kept;
  },
};

function isEmptyPrefill(message: DraftMessage): boolean {
  return (
    message.role === "assistant" && message.source?.role === "assistant" && message.sourceBlocks?.length === 0
  );
}

/**
 * Returns true for a system message that only sets the effort. It has no content and may precede the first
 * user message.
 */
function isEffortOnly({ role, parts, source }: DraftMessage): boolean {
  if (role !== "system" || parts.length > 0) return false;
  return typeof field(field(source, "output_config"), "effort") === "string";
}

/**
 * Merges consecutive messages of one role. The current API merges such messages itself, but the provider's
 * own tools still report them as an error. A merged message is valid in both cases. Consecutive system
 * messages stay separate.
 */
export const alternatingRoles: Rule = {
  reports: ["same-role"],
  looksAt: "messages",
  apply(draft, settings) {
    const hasNeighbors = draft.messages.some((message, index) => {
      const previous = draft.messages[index - 1];
      return previous !== undefined && canMerge(previous, message);
    });
    if (!hasNeighbors) return;
    const runs: DraftMessage[][] = [];
    for (const message of draft.messages) {
      const run = runs.at(-1);
      const previous = run?.[0];
      if (run === undefined || previous === undefined || !canMerge(previous, message)) {
        runs.push([message]);
        continue;
      }
      run.push(message);
      if (settings.consecutiveRoles === "accepted") continue;
      const text = `Two ${message.role} messages are consecutive. The repair merges them.`;
      draft.report("same-role", "merged", message.origin, text);
    }
    draft.messages = runs.flatMap(mergeRun);
  },
};

function canMerge(first: DraftMessage, second: DraftMessage): boolean {
  return first.role === second.role && first.role !== "system" && !isCompaction(first);
}

/**
 * Returns true for the provider's own summary. The first assistant message that the compaction kept may
 * follow it directly.
 */
function isCompaction(message: DraftMessage): boolean {
  return message.parts.length > 0 && message.parts.every((part) => tagOf(part.block) === "compaction");
}

function mergeRun(run: readonly DraftMessage[]): DraftMessage[] {
  const [first, ...rest] = run;
  if (first === undefined || rest.length === 0) return [...run];
  return [{ ...first, parts: run.flatMap((message) => message.parts) }];
}

/** The first message may come from the assistant only if it starts with the provider's own summary. */
export const userFirst: Rule = {
  reports: ["first-role", "no-messages"],
  looksAt: "request",
  apply(draft) {
    const [opening] = draft.messages;
    if (opening === undefined) {
      draft.report("no-messages", "reported", "messages", "There is no message to send.");
      return;
    }
    const first = draft.messages.find((message) => !isEffortOnly(message)) ?? opening;
    const beginsWithSummary = first.parts[0] !== undefined && tagOf(first.parts[0].block) === "compaction";
    if (first.role === "user" || (first.role === "assistant" && beginsWithSummary)) return;
    const message = "The first message must be a user message. The repair adds one before it.";
    draft.report("first-role", "text-added", first.origin, message);
    const added = addedMessage("user", [textPart(EARLIER_PART_MISSING_TEXT, first.origin)], first.origin);
    draft.messages = [added, ...draft.messages];
  },
};

export const noFinalWhitespace: Rule = {
  reports: ["final-whitespace"],
  looksAt: "messages",
  apply(draft) {
    const last = draft.messages.at(-1);
    const part = last?.parts.at(-1);
    if (last?.role !== "assistant" || part?.block.type !== "text") return;
    const text = part.block.text.trimEnd();
    if (text === part.block.text) return;
    const message = "The final assistant text cannot end with whitespace. The repair removes the whitespace.";
    draft.report("final-whitespace", "truncated", part.origin, message);
    last.parts = [...last.parts.slice(0, -1), withBlock(part, { ...part.block, text })];
  },
};

export const userLast: Rule = {
  reports: ["prefill-unsupported"],
  looksAt: "messages",
  apply(draft, settings) {
    const last = draft.messages.at(-1);
    const { model, thinking } = draft.request;
    if (last?.role !== "assistant" || isPausedTurn(last)) return;
    // With thinking, every model refuses to continue an answer that does not begin with thinking.
    const lacksThinking = thinking?.type === "enabled" && turnBeginningOf(last) === "without";
    if (!refusesPrefill(model) && !lacksThinking) return;
    // A request for a summary may end with an assistant message, because the model does not continue that
    // message.
    if (isRecord(field(draft.request, "compaction"))) return;
    const adds = settings.prefill === "add-user-message";
    draft.report(
      "prefill-unsupported",
      adds ? "text-added" : "reported",
      last.origin,
      refusesPrefill(model)
        ? "This model needs a conversation that ends with a user message."
        : "With thinking enabled, the conversation must end with a user message.",
      { model: String(model) },
    );
    const request = addedMessage("user", [textPart(CONTINUE_TEXT, last.origin)], last.origin);
    if (adds) draft.messages = [...draft.messages, request];
  },
};

/**
 * Returns true for a turn that the provider paused. The provider pauses while a server tool runs, or after
 * its own summary. Such a turn is sent back unchanged.
 */
function isPausedTurn(message: DraftMessage): boolean {
  const last = message.parts.at(-1);
  if (last === undefined) return false;
  if (tagOf(last.block) === "compaction") return true;
  return (serverToolUse(last.block) ?? serverToolResult(last.block)) !== undefined;
}

export function refusesPrefill(model: unknown): boolean {
  const { major, minor } = FIRST_VERSION_WITHOUT_PREFILL;
  return isAtLeast(claudeVersion(model), major, minor);
}

/**
 * Checks the place of system messages inside the conversation. A system message must directly follow a user
 * turn, or an assistant turn that ends with a server tool result. It must be the last message, or an
 * assistant message must follow. So it never separates a tool use from its result. A misplaced system message
 * moves to the end of the next user turn, or becomes a user message.
 */
export const systemPlacement: Rule = {
  reports: ["system-placement"],
  looksAt: "messages",
  apply(draft) {
    if (!draft.messages.some((message) => message.role === "system")) return;
    const followers = nextSpeakers(draft.messages);
    const placed: DraftMessage[] = [];
    const waiting: DraftMessage[] = [];
    let before: DraftMessage | undefined;
    for (const [index, message] of draft.messages.entries()) {
      const next = followers[index];
      if (message.role === "system") {
        const opensWithEffort = before === undefined && isEffortOnly(message);
        if (opensWithEffort || (canFollow(before) && next !== "user")) placed.push(message);
        else waiting.push(message);
        continue;
      }
      placed.push(message);
      before = message;
      if (message.role !== "user" || next === "user") continue;
      for (const system of waiting.splice(0)) {
        const text =
          "A system message cannot be at this position. The repair moves it to the end of the next user turn.";
        draft.report("system-placement", "moved", system.origin, text);
        placed.push(system);
      }
    }
    for (const system of waiting) {
      const text =
        "No user turn follows this system message, so it cannot be at this position. The repair sends it as a user message.";
      draft.report("system-placement", "rewritten", system.origin, text);
      placed.push(asUserMessage(system));
    }
    if (placed.some((message, index) => message !== draft.messages[index])) draft.messages = placed;
  },
};

/** Returns, for each message, the role of the next message that is not a system message. */
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

function canFollow(before: DraftMessage | undefined): boolean {
  if (before === undefined) return false;
  if (before.role === "user") return true;
  const last = before.parts.at(-1);
  return last !== undefined && serverToolResult(last.block) !== undefined;
}

/**
 * Converts a system message to a user message. Blocks that only a system message may contain (changes of the
 * tool set) become JSON text.
 */
function asUserMessage(message: DraftMessage): DraftMessage {
  const parts = message.parts.map((part) =>
    part.block.type === "text" ? part : textPart(JSON.stringify(part.block), part.origin),
  );
  return addedMessage("user", parts, message.origin);
}

/** Older models accept only the system prompt. Later system messages become user messages. */
export const systemSupport: Rule = {
  reports: ["system-unsupported"],
  looksAt: "messages",
  apply(draft) {
    if (!draft.messages.some((message) => message.role === "system")) return;
    if (takesSystemMessages(draft.request.model)) return;
    draft.messages = draft.messages.map((message) => {
      if (message.role !== "system") return message;
      const text =
        "This model does not accept system messages inside the conversation. The repair sends this one as a user message.";
      draft.report("system-unsupported", "rewritten", message.origin, text);
      return asUserMessage(message);
    });
  },
};

/**
 * Returns true if the model accepts system messages, and for all models other than Claude. In the names of
 * Claude models before generation 4, the version comes first.
 */
function takesSystemMessages(model: unknown): boolean {
  const version = claudeVersion(model);
  const { major, minor } = FIRST_VERSION_WITH_SYSTEM_MESSAGES;
  if (version !== undefined) return isAtLeast(version, major, minor);
  return typeof model !== "string" || !/claude-\d/.test(model);
}

export const messageCount: Rule = {
  reports: ["message-count"],
  looksAt: "request",
  apply: ({ messages, findings }) => {
    findings.push(...tooManyMessages(messages));
  },
  remember: () => ({ lengthFindings: tooManyMessages }),
};

function tooManyMessages({ length: count }: readonly unknown[]): readonly Finding[] {
  if (count <= MAX_MESSAGES) return [];
  const message = `A request can have at most ${MAX_MESSAGES.toLocaleString("en-US")} messages.`;
  return [{ rule: "message-count", path: "messages", message, action: "reported", detail: { count } }];
}

/** Blocks that the provider itself puts before a reply. */
const PROVIDER_BLOCKS: ReadonlySet<string> = new Set(["compaction", "fallback"]);

export const RESULTS_READ_TEXT = "I have the tool results.";
export const CONTINUE_WITH_RESULTS_TEXT = "Continue with the tool results above.";

/**
 * An assistant message cannot end with thinking. The rule removes such thinking completely, because a
 * thinking block must never be modified.
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
        const text = "This assistant message contains only thinking. The repair removes it.";
        draft.report("thinking-only", "dropped", message.origin, text, detail);
        return false;
      }
      const at = message.parts[end]?.origin ?? message.origin;
      const text =
        "An assistant message cannot end with thinking. The repair removes the thinking at its end.";
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
 * If thinking has the type `enabled`, the turn of the newest tool results must start with thinking. A turn
 * starts at a user message without tool results and ends before the next such message. If a turn lacks
 * thinking, the rule ends the turn after its last results, because thinking cannot be invented. Two short
 * texts start the next turn. Calls and results do not change.
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
    if (first === undefined || turnBeginningOf(first) === "with-thinking") return;
    const next = nextWithThinking(messages, turn);
    const place =
      next === -1 ? turn.end : messages.findLastIndex(({ role }, at) => at < next && isUser(role));
    const answer = messages[place];
    if (answer === undefined) return;
    const message =
      "With thinking enabled, a turn that calls tools must begin with thinking. The repair ends the turn after its results.";
    draft.report("thinking-not-first", "text-added", first.origin, message);
    draft.messages = [...messages.slice(0, place), ...endedTurn(answer), ...messages.slice(place + 1)];
  },
  // Allows no cut inside or after a turn that this rule ended, because that turn must stay in the open part
  // of the conversation. When the user writes the next message, the turn is complete. Then the messages that
  // the rule added are no longer needed.
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

/** Start of a turn. Undefined if the assistant has not started its turn. */
type TurnBeginning = "with-thinking" | "without" | undefined;

/**
 * Returns how the last turn of these messages starts. The turn may have started before these messages.
 * `before` says how that earlier turn starts.
 */
function turnAfter(before: TurnBeginning, messages: readonly DraftMessage[]): TurnBeginning {
  let begun = before;
  for (const message of messages) {
    if (startsTurn(message)) begun = undefined;
    begun ??= turnBeginningOf(message);
  }
  return begun;
}

interface ToolTurn {
  /** Index of the turn's first assistant message. */
  readonly first: number;
  /** Index of the turn's newest message with tool results. */
  readonly end: number;
}

/** Finds the turn whose tool results end the conversation. */
function openToolTurn(messages: readonly DraftMessage[]): ToolTurn | undefined {
  const end = messages.findLastIndex(({ role }) => role !== "system");
  const call = messages.findLastIndex(({ role }, at) => at < end && role !== "system");
  const isOpen = isUser(messages[end]?.role) && messages[call]?.role === "assistant";
  if (!isOpen || messages[call]?.parts.every(({ block }) => block.type !== "tool_use")) return undefined;
  const start = messages.findLastIndex((message, at) => at <= call && startsTurn(message));
  return {
    first: messages.findIndex((message, at) => at >= start && turnBeginningOf(message) !== undefined),
    end,
  };
}

const nextWithThinking = (messages: readonly DraftMessage[], { first, end }: ToolTurn): number =>
  messages.findIndex((message, at) => at > first && at < end && turnBeginningOf(message) === "with-thinking");

const isUser = (role: DraftMessage["role"] | undefined): boolean => role === "user";

/**
 * Returns true for a user message without tool results. Also returns true for a summary, because it replaces
 * everything before it.
 */
function startsTurn({ role, parts }: DraftMessage): boolean {
  if (role === "user") return parts.every(({ block }) => block.type !== "tool_result");
  return role === "assistant" && parts.some(({ block }) => tagOf(block) === "compaction");
}

/**
 * Returns how a message starts its turn. Undefined for other roles and for messages that contain only the
 * provider's own blocks.
 */
function turnBeginningOf({ role, parts }: DraftMessage): TurnBeginning {
  const first =
    role === "assistant" ? parts.find(({ block }) => !PROVIDER_BLOCKS.has(tagOf(block))) : undefined;
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
