import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { ToolSchema } from "../messages/message.ts";
import { requireJson } from "../messages/require-messages.ts";
import { RECALL_TOOL_NAME } from "../messages/tool-kinds.ts";
import { isRecord, stringField } from "../messages/untrusted.ts";
import type { ModelFailure } from "../models/model-error.ts";
import type { Finding } from "../request/check/rule.ts";
import { isSameJson } from "./compare-messages.ts";
import type { ChainRecord } from "./events.ts";
import type { Caller, Message } from "./options.ts";
import type { Reply } from "./plain-messages.ts";

/**
 * The current turn: its caller, the host's list, the findings of the message check, and the state of the
 * model call.
 */
export class CurrentTurn {
  readonly #newId: () => string;
  readonly #agentId: string | undefined;
  #id: string;
  #caller: Caller;
  #hostMessages: readonly Message[] = [];
  #findings: readonly Finding[] = [];
  #reply: Reply | undefined;
  #isCallPending = false;
  #calls = 0;
  #recoveredFrom: ModelFailure | undefined;
  #hasRemovedThinking = false;
  /** Turn of the newest compaction. */
  #compactedIn: { readonly id: string; readonly turn: number } | undefined;
  /** True after a compaction, or if the conversation started with a boundary. */
  #isInChain = false;

  constructor(agentId: string | undefined, newId: () => string) {
    this.#agentId = agentId;
    this.#newId = newId;
    this.#id = newId();
    this.#caller = this.#usualCaller;
  }

  get id(): string {
    return this.#id;
  }

  get caller(): Caller {
    return this.#caller;
  }

  /** True for the main conversation. Only the main conversation may reset shared state. */
  get ownsSharedState(): boolean {
    return this.#agentId === undefined && (this.#caller === "main" || this.#caller === "sdk");
  }

  /** The list that the host passed in this turn. */
  get hostMessages(): readonly Message[] {
    return this.#hostMessages;
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** Facts of the last response. Undefined after its message is in the conversation. */
  get reply(): Reply | undefined {
    return this.#reply;
  }

  /** True if a call for the current conversation is running. */
  get isCallPending(): boolean {
    return this.#isCallPending;
  }

  /** Number of calls for this conversation. */
  get calls(): number {
    return this.#calls;
  }

  /** The newest overflow in this turn that triggered a recovery. */
  get recoveredFrom(): ModelFailure | undefined {
    return this.#recoveredFrom;
  }

  get hasRemovedThinking(): boolean {
    return this.#hasRemovedThinking;
  }

  begin(caller: Caller | undefined): void {
    this.#id = this.#newId();
    this.#caller = caller ?? this.#usualCaller;
    this.#findings = [];
    this.#recoveredFrom = undefined;
    this.#hasRemovedThinking = false;
  }

  /**
   * Records a compaction in this turn, and links it with the previous one. `turn` is the value of
   * `Health.turn`.
   */
  recordCompaction({ turn, threshold }: { readonly turn: number; readonly threshold: number }): ChainRecord {
    const previous = this.#compactedIn;
    const record: ChainRecord = {
      isInChain: this.#isInChain,
      turnsSincePrevious: previous === undefined ? undefined : Math.max(0, turn - previous.turn),
      previousTurnId: previous?.id,
      threshold,
      caller: this.#caller,
    };
    this.#compactedIn = { id: this.#id, turn };
    this.#isInChain = true;
    return record;
  }

  /** Records that the host's list contains a boundary. */
  recordBoundary(): void {
    this.#isInChain = true;
  }

  /** Assigns a new id after the conversation was replaced. */
  renewId(): void {
    this.#id = this.#newId();
  }

  setHostMessages(given: readonly Message[]): void {
    this.#hostMessages = given;
  }

  addFindings(findings: readonly Finding[]): void {
    this.#findings = [...this.#findings, ...findings];
  }

  /** Records that a call starts. */
  recordCall(): void {
    this.#isCallPending = true;
    this.#calls += 1;
  }

  /** Ignores the answer of the running call, because the conversation changed. */
  abandonAnswer(): void {
    this.#isCallPending = false;
  }

  recordReply(reply: Reply): void {
    this.#reply = reply;
  }

  /** Records that the message of the last response is in the conversation. */
  clearReply(): void {
    this.#reply = undefined;
  }

  recordRecovery(failure: ModelFailure): void {
    this.#recoveredFrom = failure;
  }

  recordThinkingRemoval(): void {
    this.#hasRemovedThinking = true;
  }

  get #usualCaller(): Caller {
    return this.#agentId === undefined ? "main" : "subagent";
  }
}

/** The request fields that affect the message check. */
export interface CheckedFrame {
  readonly thinking?: { readonly type: string };
  readonly tools?: readonly ToolSchema[];
}

/**
 * The host's request fields besides messages: system prompt, tools, thinking. They apply until the host
 * passes new ones.
 */
export class Frame {
  readonly #measure: (frame: RequestFrame) => number;
  #current: RequestFrame | undefined;
  /**
   * True if an error of the provider showed that thinking is enabled, although the host did not pass it in
   * `request`.
   */
  #isThinkingEnabled = false;
  #measured: { readonly frame: RequestFrame; readonly tokens: number } | undefined;

  /** @param measure Estimates the tokens of system prompt and tools for the model. */
  constructor(initial: RequestFrame | undefined, measure: (frame: RequestFrame) => number) {
    this.#current = initial;
    this.#measure = measure;
  }

  /** Undefined if the host passed no request fields. */
  get current(): RequestFrame | undefined {
    return this.#current;
  }

  /** Estimated tokens of system prompt and tools, or 0 if they are unknown. */
  get tokens(): number {
    const frame = this.#current;
    if (frame === undefined) return 0;
    if (this.#measured?.frame !== frame) this.#measured = { frame, tokens: this.#measure(frame) };
    return this.#measured.tokens;
  }

  get checked(): CheckedFrame {
    const checked = checkedPartOf(this.#current);
    const isAssumed = this.#isThinkingEnabled && checked.thinking === undefined;
    return isAssumed ? { ...checked, thinking: { type: "enabled" } } : checked;
  }

  /**
   * Name of the agent's tool that searches summarized messages. Undefined if the requests have no such tool.
   */
  get recallTool(): string | undefined {
    const tools: readonly unknown[] = Array.isArray(this.#current?.tools) ? this.#current.tools : [];
    const isThere = tools.some((tool) => stringField(tool, "name") === RECALL_TOOL_NAME);
    return isThere ? RECALL_TOOL_NAME : undefined;
  }

  /** Replaces the request fields. `needsRecheck` is true if the change can affect the message check. */
  replace(request: RequestFrame | undefined): { readonly isNew: boolean; readonly needsRecheck: boolean } {
    if (request === undefined || isSameJson(this.#current, request)) return UNCHANGED;
    requireJson(request, "request");
    const before = this.checked;
    this.#current = request;
    return { isNew: true, needsRecheck: !isSameJson(before, this.checked) };
  }

  /**
   * Assumes from now on that thinking is enabled. Returns false if the thinking setting was already known.
   */
  assumeThinking(): boolean {
    if (this.#isThinkingEnabled || checkedPartOf(this.#current).thinking !== undefined) return false;
    this.#isThinkingEnabled = true;
    return true;
  }
}

const UNCHANGED = { isNew: false, needsRecheck: false } as const;

/** Returns the names and schemas of the tools, and the thinking type. Cache marks on tools do not matter. */
function checkedPartOf({ thinking, tools }: RequestFrame = {}): CheckedFrame {
  const named = Array.isArray(tools) ? tools.filter(isRecord) : [];
  return {
    ...(isRecord(thinking) ? { thinking: { type: String(thinking.type) } } : {}),
    ...(named.length === 0
      ? {}
      : { tools: named.map(({ name, input_schema }) => ({ name: String(name), input_schema })) }),
  };
}
