import { applyRules, checkSettings } from "../check/check.ts";
import { addedMessage, type Draft, type DraftMessage, finishMessage, textPart } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import type { CheckOptions, CheckSettings } from "../check/rule.ts";
import type { ApiMessage, ApiRequest } from "../message.ts";
import { ClosedPart, turnThoughtAfter } from "./closed-part.ts";
import { lastCut } from "./cut-point.ts";
import { lengthFindings } from "./length-findings.ts";
import { NOTHING_OPEN, OpenPart } from "./open-part.ts";
import { type IdAt, toolIdsIn } from "./tool-ids.ts";
import { isAboutTheLength, itemIndexOf, looksAtTheWhole, newFindings } from "./whole-rules.ts";

/** How items of one form, messages or entries, become the draft that the rules work on. */
export interface ItemForm<Item> {
  /** With system, tools and all else that goes along. */
  draftWhole(items: readonly Item[]): Draft;
  /** Of the items from `from` on, with as much of the request as decides about single messages. */
  draftTail(items: readonly Item[], from: number): Draft;
  /** Messages are made from the items at every reading; otherwise they are the items. */
  readonly makesMessages: boolean;
  /** The id by which later items join this one, where they can at all. */
  readonly joinId?: (item: Item) => string | undefined;
}

interface TailStart {
  /** Index of the first item that is checked. */
  readonly start: number;
  /** True if the turn that the item continues begins with thinking. Undefined if the item begins a turn. */
  readonly isTurnThought: boolean | undefined;
}

const STUB_TEXT = "[stands for all that is checked already]";

/**
 * The checker for a conversation that grows at its end. What is checked stays checked: only what is new is
 * looked at, and where it may belong to the last response, that again. Where it concerns the rest (an id used
 * again, a late result, a limit), everything is checked. The outcome is always that of one check of all items.
 */
export class GrowingCheck<Item> {
  readonly #form: ItemForm<Item>;
  readonly #settings: CheckSettings;
  #items: Item[] = [];
  #messages: ApiMessage[] = [];
  #frame: ApiRequest = { messages: [] };
  #closed: ClosedPart;
  #open: OpenPart = NOTHING_OPEN;
  /** About no single item, but for those about the length. */
  #wholeFindings: readonly Finding[] = [];
  #hasTooManyBytes = false;
  #fullPasses = 0;

  constructor(form: ItemForm<Item>, options: CheckOptions) {
    this.#form = form;
    this.#settings = checkSettings(options);
    this.#closed = new ClosedPart(this.#frame, this.#settings, []);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /**
   * What to send. Valid until the next `append` or `replace`, which may change this very array;
   * what {@link outbox} gives never does.
   */
  get messages(): readonly ApiMessage[] {
    return this.#messages;
  }

  /**
   * What to send as of now, to be asked for now or later. Costs what is still open: the array is changed in its open
   * part alone, and a check of everything makes another.
   */
  outbox(): () => readonly ApiMessage[] {
    const messages = this.#messages;
    const { messages: closed } = this.#closed;
    const open = messages.slice(closed);
    return () => messages.slice(0, closed).concat(open);
  }

  /** What goes along with the messages, as it was repaired; `messages` in it is empty. */
  get frame(): ApiRequest {
    return this.#frame;
  }

  /** All that one check of everything would find now. */
  get findings(): readonly Finding[] {
    return this.#findings(this.#hasTooManyBytes ? this.#closed.size.bytes(this.#messages) : 0);
  }

  /** Nothing had to be repaired: the messages are those that were given, one for one. */
  get isUntouched(): boolean {
    return (
      !this.#closed.isRepaired && !this.#open.findings.some(isRepair) && !this.#wholeFindings.some(isRepair)
    );
  }

  /** How often everything was looked at instead of the newest alone. */
  get fullPasses(): number {
    return this.#fullPasses;
  }

  /** Forgets what was given before. Returns all that was found. */
  replace(items: readonly Item[]): readonly Finding[] {
    this.#items = [...items];
    this.#checkAll();
    return this.findings;
  }

  /** Returns what was not found before. */
  append(added: readonly Item[]): readonly Finding[] {
    if (added.length === 0 && this.#fullPasses > 0) return [];
    const start = this.#items.length;
    for (const item of added) this.#items.push(item);
    const { findings: before } = this.#open;
    const length = this.#lengthFindings(0);
    const found = this.#checkNew(start) ?? this.#checkTail();
    if (found !== undefined)
      return newFindings([...found, ...this.#lengthFindings(0)], [...before, ...length]);
    const known = [...this.#findings(0), ...length];
    this.#checkAll();
    return newFindings(this.findings, known);
  }

  #findings(bytes: number): readonly Finding[] {
    const found = [...this.#closed.findings, ...this.#open.findings, ...this.#wholeFindings];
    return [...found, ...this.#lengthFindings(bytes)];
  }

  #lengthFindings(bytes: number): readonly Finding[] {
    const tooMany = this.#hasTooManyBytes ? { bytes, limit: this.#settings.maxRequestBytes } : undefined;
    return lengthFindings(this.#messages.length, tooMany);
  }

  #checkAll(): void {
    this.#fullPasses++;
    const draft = this.#form.draftWhole(this.#items);
    const ids = toolIdsIn(draft.messages);
    applyRules(draft, this.#settings);
    // Ids that were made up on the way are taken as well.
    for (const id of toolIdsIn(draft.messages)) ids.push(id);
    const { findings } = draft;
    this.#frame = { ...draft.request, messages: [] };
    this.#messages = draft.messages.map(finishMessage);
    this.#closed = new ClosedPart(this.#frame, this.#settings, findings);
    this.#closed.size.weigh(this.#messages, 0);
    this.#hasTooManyBytes = findings.some(
      ({ rule, path }) => rule === "request-bytes" && path === "messages",
    );
    const isOfWhole = (finding: Finding): boolean => itemIndexOf(finding) === undefined;
    this.#wholeFindings = findings.filter((finding) => isOfWhole(finding) && !isAboutTheLength(finding));
    this.#close(draft, ids, 0);
    this.#closed.size.rememberLimit(this.#messages, findings);
  }

  /** Where a new response begins after all that was said is complete: a check of the new items alone. */
  #checkNew(start: number): readonly Finding[] | undefined {
    const open = this.#open;
    if (!open.isComplete) return undefined;
    const draft = this.#form.draftTail(this.#items, start);
    const ids = toolIdsIn(draft.messages);
    const joinIds = this.#joinIds(start, this.#items.length);
    const isTurnThought = turnThoughtAfter(this.#closed.isLastTurnThought, open.messages);
    if (open.isConcernedBy(draft.messages, ids, joinIds)) return undefined;
    if (!this.#isSound(draft, ids, joinIds, { start, isTurnThought })) return undefined;
    this.#closed.take(open, start);
    return this.#accept(draft, ids);
  }

  /** A check of all after the closed part. Undefined where everything has to be checked. */
  #checkTail(): readonly Finding[] | undefined {
    const { items: start, isLastTurnThought: isTurnThought } = this.#closed;
    if (start === 0 || this.#open.findings.some(looksAtTheWhole)) return undefined;
    const draft = this.#form.draftTail(this.#items, start);
    const ids = toolIdsIn(draft.messages);
    const joinIds = this.#joinIds(start, this.#items.length);
    return this.#isSound(draft, ids, joinIds, { start, isTurnThought })
      ? this.#accept(draft, ids)
      : undefined;
  }

  /** Applies the rules. False where the items from `start` on cannot be judged without those before. */
  #isSound(
    draft: Draft,
    ids: readonly IdAt[],
    joinIds: readonly string[],
    { start, isTurnThought }: TailStart,
  ): boolean {
    const isOwnStart = (message: DraftMessage | undefined): boolean =>
      message?.role === "assistant" && message.origin.message === start;
    if (!isOwnStart(draft.messages[0]) || this.#isTurnInDoubt(isTurnThought)) return false;
    if (this.#closed.isConcernedBy(draft.messages, ids, joinIds)) return false;
    const origin = { message: start };
    const stub = addedMessage("user", [textPart(STUB_TEXT, origin)], origin);
    draft.messages = [stub, ...draft.messages];
    draft.followsThinking = isTurnThought === true;
    applyRules(draft, this.#tailOptions());
    const [opening, first] = draft.messages;
    if (opening !== stub || stub.parts.length !== 1 || !isOwnStart(first)) return false;
    return !draft.findings.some(looksAtTheWhole);
  }

  /** The turn that goes on began before the tail, without the thinking that its results need. */
  #isTurnInDoubt(isTurnThought: boolean | undefined): boolean {
    return this.#frame.thinking?.type === "enabled" && isTurnThought === false;
  }

  #tailOptions(): CheckOptions {
    const { requireTools } = this.#settings;
    const saysItself = (this.#frame.tools?.length ?? 0) === 0 && !this.#closed.saysToolsAreMissing;
    return {
      ...this.#settings,
      maxMedia: Number.POSITIVE_INFINITY,
      maxRequestBytes: Number.POSITIVE_INFINITY,
      requireTools: requireTools && saysItself,
    };
  }

  /** Takes over what was checked after the closed part. Undefined where older messages must give way to a limit. */
  #accept(draft: Draft, ids: readonly IdAt[]): readonly Finding[] | undefined {
    const { messages: count, size } = this.#closed;
    const finished = this.#finish(draft.messages);
    this.#messages.length = count;
    for (const message of finished) this.#messages.push(message);
    size.weigh(this.#messages, count);
    const judgement = size.judge(this.#messages);
    if (judgement === "media-must-go") return undefined;
    const isOver = judgement === "over-without-media";
    if (isOver && !this.#hasTooManyBytes) return undefined;
    this.#hasTooManyBytes = isOver;
    this.#close(draft, ids, 1);
    return draft.findings;
  }

  /** All but the stub. A message that says what it said before is the same object. */
  #finish([, ...drafts]: readonly DraftMessage[]): readonly ApiMessage[] {
    const finished = drafts.map(finishMessage);
    if (!this.#form.makesMessages) return finished;
    return finished.map((message, index) => {
      const known = this.#messages[this.#closed.messages + index];
      return known !== undefined && saysTheSame(known, message) ? known : message;
    });
  }

  /** Moves the end of the closed part on as far as it goes, after a check of the messages from `first` on. */
  #close(draft: Draft, ids: readonly IdAt[], first: number): void {
    const closed = this.#closed;
    const from = closed.items;
    const cut = lastCut(draft, first);
    const end = draft.messages[cut ?? first]?.origin.message ?? from;
    const now = new OpenPart({
      messages: draft.messages.slice(first, cut ?? first),
      ids,
      joinIds: this.#joinIds(from, cut === undefined ? from : end),
      findings: draft.findings,
    });
    if (cut !== undefined) closed.take(now, end);
    this.#open = new OpenPart({
      messages: draft.messages.slice(cut ?? first),
      ids: ids.filter(({ itemIndex }) => itemIndex >= closed.items),
      joinIds: this.#joinIds(closed.items, this.#items.length),
      findings: draft.findings.filter((finding) => (itemIndexOf(finding) ?? -1) >= closed.items),
    });
  }

  #joinIds(from: number, to: number): readonly string[] {
    const { joinId } = this.#form;
    const ids: string[] = [];
    if (joinId === undefined) return ids;
    for (let index = from; index < to; index++) {
      const id = joinId(this.#items[index] as Item);
      if (id !== undefined) ids.push(id);
    }
    return ids;
  }
}

const isRepair = ({ action }: Finding): boolean => action !== "reported";

function saysTheSame(known: ApiMessage, message: ApiMessage): boolean {
  const { role, content } = message;
  if (known.role !== role) return false;
  if (known.content === content || typeof content === "string") return known.content === content;
  return (
    known.content.length === content.length && content.every((block, index) => block === known.content[index])
  );
}
