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
export const GO_ON_TEXT = "Go on from where you stopped.";

/** Only a final assistant message may be empty, and only if it was sent to us so; or one that sets the effort. */
export const noEmptyMessages: Rule = {
  reports: ["message-empty"],
  looksAt: "messages",
  apply(draft) {
    const last = draft.messages.at(-1);
    const kept = draft.messages.filter((message) => {
      if (message.parts.length > 0 || isEffortOnly(message)) return true;
      if (message === last && isEmptyPrefill(message)) return true;
      draft.report("message-empty", "dropped", message.origin, "A message without content was left out.");
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

/** A system message that does nothing but set the effort: it has no content, and may come before the user. */
function isEffortOnly({ role, parts, source }: DraftMessage): boolean {
  if (role !== "system" || parts.length > 0) return false;
  return typeof field(field(source, "output_config"), "effort") === "string";
}

/**
 * Today the API merges messages of one role in a row by itself, but its own tools still list the old
 * refusal. Merging here is right under both readings. System messages in a row are one section as they are.
 */
export const alternatingRoles: Rule = {
  reports: ["same-role"],
  looksAt: "messages",
  apply(draft, settings) {
    const hasNeighbours = draft.messages.some((message, index) => {
      const previous = draft.messages[index - 1];
      return previous !== undefined && canMerge(previous, message);
    });
    if (!hasNeighbours) return;
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
      const text = `Two ${message.role} messages in a row became one.`;
      draft.report("same-role", "merged", message.origin, text);
    }
    draft.messages = runs.flatMap(mergeRun);
  },
};

function canMerge(first: DraftMessage, second: DraftMessage): boolean {
  return first.role === second.role && first.role !== "system" && !isCompaction(first);
}

/** A message that is the provider's own summary may have the assistant's first kept message after it. */
function isCompaction(message: DraftMessage): boolean {
  return message.parts.length > 0 && message.parts.every((part) => tagOf(part.block) === "compaction");
}

function mergeRun(run: readonly DraftMessage[]): DraftMessage[] {
  const [first, ...rest] = run;
  if (first === undefined || rest.length === 0) return [...run];
  return [{ ...first, parts: run.flatMap((message) => message.parts) }];
}

/** A first message of the assistant is legal only if it begins with the provider's own summary. */
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
    const message = "The first message must be the user's; one was put before it.";
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
    const message = "The final assistant text cannot end in whitespace; the whitespace was cut off.";
    draft.report("final-whitespace", "truncated", part.origin, message);
    last.parts = [...last.parts.slice(0, -1), withBlock(part, { ...part.block, text })];
  },
};

export const userLast: Rule = {
  reports: ["prefill-unsupported"],
  looksAt: "messages",
  apply(draft, settings) {
    const last = draft.messages.at(-1);
    const { model } = draft.request;
    if (last?.role !== "assistant" || isPausedTurn(last) || !refusesPrefill(model)) return;
    // A request to summarise the conversation is not one to go on with it.
    if (isRecord(field(draft.request, "compaction"))) return;
    const adds = settings.prefill === "add-user-message";
    draft.report(
      "prefill-unsupported",
      adds ? "text-added" : "reported",
      last.origin,
      "This model needs a conversation that ends with a user message.",
      { model: String(model) },
    );
    const request = addedMessage("user", [textPart(GO_ON_TEXT, last.origin)], last.origin);
    if (adds) draft.messages = [...draft.messages, request];
  },
};

/** A turn that the provider paused, in the middle of its own tools or after its own summary, is sent back as it is. */
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
 * A system message inside the conversation stands directly after a user turn (or an assistant turn that
 * ends in a server tool's result) and is last or followed by the assistant; so it can never part a tool
 * use from its result. A misplaced one moves on to the end of the next user turn, or becomes the user's.
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
        if (opensWithEffort || (canStandAfter(before) && next !== "user")) placed.push(message);
        else waiting.push(message);
        continue;
      }
      placed.push(message);
      before = message;
      if (message.role !== "user" || next === "user") continue;
      for (const system of waiting.splice(0)) {
        const text = "A system message may not stand here; it moved to the end of the next user turn.";
        draft.report("system-placement", "moved", system.origin, text);
        placed.push(system);
      }
    }
    for (const system of waiting) {
      const text =
        "No user turn follows this system message, so it may not stand here; it is sent as the user's.";
      draft.report("system-placement", "rewritten", system.origin, text);
      placed.push(asUserMessage(system));
    }
    if (placed.some((message, index) => message !== draft.messages[index])) draft.messages = placed;
  },
};

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

/** Blocks that only a system message may hold (changes of the tool set) are sent as their JSON. */
function asUserMessage(message: DraftMessage): DraftMessage {
  const parts = message.parts.map((part) =>
    part.block.type === "text" ? part : textPart(JSON.stringify(part.block), part.origin),
  );
  return addedMessage("user", parts, message.origin);
}

/** Older models take the system prompt alone; later words in its name are then the user's. */
export const systemSupport: Rule = {
  reports: ["system-unsupported"],
  looksAt: "messages",
  apply(draft) {
    if (!draft.messages.some((message) => message.role === "system")) return;
    if (takesSystemMessages(draft.request.model)) return;
    draft.messages = draft.messages.map((message) => {
      if (message.role !== "system") return message;
      const text = "This model takes no system messages inside the conversation; it is sent as the user's.";
      draft.report("system-unsupported", "rewritten", message.origin, text);
      return asUserMessage(message);
    });
  },
};

/** Names of before the fourth generation carry the version first. What is no Claude's name is let through. */
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
  const message = `A request may hold ${MAX_MESSAGES.toLocaleString("en-US")} messages at most.`;
  return [{ rule: "message-count", path: "messages", message, action: "reported", detail: { count } }];
}

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
