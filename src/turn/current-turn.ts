import type { Finding } from "../conversation/check/rule.ts";
import type { ModelFailure } from "../models/model-error.ts";
import type { Caller, Message } from "./options.ts";
import type { Reply } from "./thread.ts";

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
