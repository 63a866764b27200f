import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import { requireJson } from "../messages/given-messages.ts";
import type { ToolSchema } from "../messages/message.ts";
import { RECALL_TOOL_NAME } from "../messages/tool-kinds.ts";
import { isRecord, stringField } from "../messages/untrusted.ts";
import type { ModelFailure } from "../models/model-error.ts";
import type { Finding } from "../request/check/rule.ts";
import { isSameJson } from "./compare-messages.ts";
import type { ChainRecord } from "./events.ts";
import type { Caller, Message } from "./options.ts";
import type { Reply } from "./plain-form.ts";

/** The turn under way: who calls, with which list, what the check found, and how far its call has come. */
export class CurrentTurn {
  readonly #newId: () => string;
  readonly #agentId: string | undefined;
  #id: string;
  #caller: Caller;
  #given: readonly Message[] = [];
  #findings: readonly Finding[] = [];
  #reply: Reply | undefined;
  #isAnswerUnderWay = false;
  #calls = 0;
  #recoveredFrom: ModelFailure | undefined;
  #hasLeftOutThinking = false;
  /** The turn of the newest compaction. */
  #compactedIn: { readonly id: string; readonly turn: number } | undefined;
  /** There was a compaction before, or the conversation came with a boundary that somebody else has written. */
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

  /** True for the main conversation: only it may reset what others share. */
  get ownsSharedState(): boolean {
    return this.#agentId === undefined && (this.#caller === "main" || this.#caller === "sdk");
  }

  /** The host's list. */
  get given(): readonly Message[] {
    return this.#given;
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** Facts of the last response, until its message is in the conversation. */
  get reply(): Reply | undefined {
    return this.#reply;
  }

  /** A call was made for the conversation as it is now. */
  get isAnswerUnderWay(): boolean {
    return this.#isAnswerUnderWay;
  }

  /** Calls for this conversation so far. */
  get calls(): number {
    return this.#calls;
  }

  /** The newest overflow of this turn from which a compaction was to recover. */
  get recoveredFrom(): ModelFailure | undefined {
    return this.#recoveredFrom;
  }

  get hasLeftOutThinking(): boolean {
    return this.#hasLeftOutThinking;
  }

  begin(caller: Caller | undefined): void {
    this.#id = this.#newId();
    this.#caller = caller ?? this.#usualCaller;
    this.#findings = [];
    this.#recoveredFrom = undefined;
    this.#hasLeftOutThinking = false;
  }

  /**
   * A compaction has come about in this turn, which is the `turn`th by `Health.turn`. The next one is linked to it.
   */
  compacted({ turn, threshold }: { readonly turn: number; readonly threshold: number }): ChainRecord {
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

  /** A boundary was found in what the host sent. */
  foundBoundary(): void {
    this.#isInChain = true;
  }

  /** The conversation was replaced: it continues as a new one. */
  renewId(): void {
    this.#id = this.#newId();
  }

  take(given: readonly Message[]): void {
    this.#given = given;
  }

  addFindings(findings: readonly Finding[]): void {
    this.#findings = [...this.#findings, ...findings];
  }

  /** A call goes out. */
  sent(): void {
    this.#isAnswerUnderWay = true;
    this.#calls += 1;
  }

  /** The conversation changed: an answer to the call under way is one to the old conversation. */
  abandonAnswer(): void {
    this.#isAnswerUnderWay = false;
  }

  answered(reply: Reply): void {
    this.#reply = reply;
  }

  /** The message of the last response is in the conversation now. */
  replyTaken(): void {
    this.#reply = undefined;
  }

  recovers(failure: ModelFailure): void {
    this.#recoveredFrom = failure;
  }

  leavesOutThinking(): void {
    this.#hasLeftOutThinking = true;
  }

  get #usualCaller(): Caller {
    return this.#agentId === undefined ? "main" : "subagent";
  }
}

/** The parts of the host's request that decide how messages are checked. */
export interface CheckedFrame {
  readonly thinking?: { readonly type: string };
  readonly tools?: readonly ToolSchema[];
}

/** The host's request around the messages: system prompt, tools, thinking. It stays until the host passes another. */
export class Frame {
  readonly #measure: (frame: RequestFrame) => number;
  #current: RequestFrame | undefined;
  /** The provider said that thinking is enabled. The host does not pass it in `request`. */
  #isThinkingEnabled = false;
  #measured: { readonly frame: RequestFrame; readonly tokens: number } | undefined;

  /** `measure`: system prompt and tools in tokens, by the estimate usual for the model. */
  constructor(initial: RequestFrame | undefined, measure: (frame: RequestFrame) => number) {
    this.#current = initial;
    this.#measure = measure;
  }

  /** Undefined if the host did not say what goes with the messages. */
  get current(): RequestFrame | undefined {
    return this.#current;
  }

  /** Estimated tokens of system prompt and tools; 0 if they are not known. */
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

  /** The name of the agent's tool for searching what was summarized; undefined if its requests have none. */
  get recallTool(): string | undefined {
    const tools: readonly unknown[] = Array.isArray(this.#current?.tools) ? this.#current.tools : [];
    const isThere = tools.some((tool) => stringField(tool, "name") === RECALL_TOOL_NAME);
    return isThere ? RECALL_TOOL_NAME : undefined;
  }

  /** The host passes another request. `isCheckedAnew`: messages may be checked otherwise with it. */
  replace(request: RequestFrame | undefined): { readonly isNew: boolean; readonly isCheckedAnew: boolean } {
    if (request === undefined || isSameJson(this.#current, request)) return UNCHANGED;
    requireJson(request, "request");
    const before = this.checked;
    this.#current = request;
    return { isNew: true, isCheckedAnew: !isSameJson(before, this.checked) };
  }

  /** Assumes thinking of type `enabled` from now on. False if that changes nothing. */
  assumeThinking(): boolean {
    if (this.#isThinkingEnabled || checkedPartOf(this.#current).thinking !== undefined) return false;
    this.#isThinkingEnabled = true;
    return true;
  }
}

const UNCHANGED = { isNew: false, isCheckedAnew: false } as const;

/** Names and schemas of the tools, and the kind of thinking. Cache marks on tools are the host's own. */
function checkedPartOf({ thinking, tools }: RequestFrame = {}): CheckedFrame {
  const named = Array.isArray(tools) ? tools.filter(isRecord) : [];
  return {
    ...(isRecord(thinking) ? { thinking: { type: String(thinking.type) } } : {}),
    ...(named.length === 0
      ? {}
      : { tools: named.map(({ name, input_schema }) => ({ name: String(name), input_schema })) }),
  };
}
