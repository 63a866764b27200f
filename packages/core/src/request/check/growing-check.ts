import type { ApiMessage, ApiRequest, ContentBlock } from "../../messages/message.ts";
import { applyRules, RULES } from "./check.ts";
import {
  addedMessage,
  type Checked,
  type CheckOptions,
  type CheckSettings,
  checkSettings,
  Draft,
  type DraftMessage,
  type Finding,
  finishMessage,
  itemIndexOf,
  type Rule,
  type RuleMemory,
  type RuleName,
  readMessages,
  textPart,
} from "./rule.ts";
import { schemasByName } from "./tool-call-rules.ts";

/** How items of one form, messages or entries, become the draft that the rules work on. */
export interface ItemForm<Item> {
  /** Of the items from `from` on, with system, tools and all else that goes along. */
  readonly draft: (items: readonly Item[], from: number) => Draft;
  /** Messages are made from the items at every reading; otherwise they are the items. */
  readonly makesMessages: boolean;
  /** The id by which later items join this one, where they can at all. */
  readonly joinId?: (item: Item) => string | undefined;
}

/** An id by which later items may refer to this one. */
interface Tie {
  readonly id: string;
  readonly itemIndex: number;
}

interface CheckedPart extends Checked {
  /** Of its items, as they were read. */
  readonly ties: readonly Tie[];
}

const STUB_TEXT = "[stands for all that is checked already]";

/** Findings in the newest messages that a check of these messages alone would not repeat. */
const REQUEST_FINDINGS: ReadonlySet<RuleName> = new Set(
  RULES.flatMap(({ looksAt, reports }) => (looksAt === "request" ? reports : [])),
);

/**
 * The checker for a conversation that grows at its end. The table of rules is that of {@link checkRequest}, and the
 * outcome is always that of one check of all items. The beginning of the conversation is closed: checked, and sure to
 * stay as it is. The end is open. New items are checked alone where the open part is complete, or with the open part.
 * Where a rule has to look at closed messages (an id used again, a late result, a limit), everything is checked.
 */
export class GrowingCheck<Item> {
  readonly #form: ItemForm<Item>;
  readonly #settings: CheckSettings;
  #items: Item[] = [];
  #messages: ApiMessage[] = [];
  #frame: ApiRequest = { messages: [] };
  #closed: ClosedPart = new ClosedPart([]);
  #open: CheckedPart = { messages: [], ties: [], findings: [] };
  /** About no single item, but for those about the length. */
  #wholeFindings: readonly Finding[] = [];
  #fullPasses = 0;

  constructor(form: ItemForm<Item>, options: CheckOptions) {
    this.#form = form;
    this.#settings = checkSettings(options);
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
    const closed = this.#closed.messages;
    const open = messages.slice(closed);
    return () => messages.slice(0, closed).concat(open);
  }

  /** What goes along with the messages, as it was repaired; `messages` in it is empty. */
  get frame(): ApiRequest {
    return this.#frame;
  }

  /** All that one check of everything would find now. */
  get findings(): readonly Finding[] {
    const found = [...this.#closed.findings, ...this.#open.findings, ...this.#wholeFindings];
    return [...found, ...this.#closed.lengthFindings(this.#messages)];
  }

  /** Nothing had to be repaired: the messages are those that were given, one for one. */
  get isUntouched(): boolean {
    const { isRepaired } = this.#closed;
    return !isRepaired && !this.#open.findings.some(isRepair) && !this.#wholeFindings.some(isRepair);
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
    const before = [...this.#open.findings, ...this.#closed.lengthFindings(this.#messages)];
    const found = this.#checkNew(start) ?? this.#checkOpen();
    if (found !== undefined)
      return newFindings([...found, ...this.#closed.lengthFindings(this.#messages)], before);
    const known = [...this.#closed.findings, ...this.#wholeFindings, ...before];
    this.#checkAll();
    return newFindings(this.findings, known);
  }

  #checkAll(): void {
    this.#fullPasses++;
    const draft = this.#form.draft(this.#items, 0);
    const ties = this.#tiesFrom(0, draft);
    applyRules(draft, this.#settings);
    // Ids that were made up on the way are taken as well.
    for (const tie of tiesIn(draft)) ties.push(tie);
    this.#frame = { ...draft.request, messages: [] };
    this.#messages = draft.messages.map(finishMessage);
    this.#closed = new ClosedPart(RULES.flatMap((rule) => rule.remember?.(draft, this.#settings) ?? []));
    this.#closed.settle(this.#messages);
    this.#close(draft, ties);
    const ofLength = new Set(this.#closed.lengthFindings(this.#messages).map(({ rule }) => rule));
    const isOfWhole = (finding: Finding): boolean => itemIndexOf(finding) === undefined;
    this.#wholeFindings = draft.findings.filter(
      (finding) => isOfWhole(finding) && !ofLength.has(finding.rule),
    );
  }

  /** Checks items alone that begin a new response, after all that was said is complete. */
  #checkNew(start: number): readonly Finding[] | undefined {
    const open = this.#open;
    if (!isComplete(open)) return undefined;
    const draft = this.#form.draft(this.#items, start);
    const ties = this.#tiesFrom(start, draft);
    if (ties.some(({ id }) => open.ties.some((known) => known.id === id))) return undefined;
    if (!this.#applyToTail(draft, ties, start, open.messages)) return undefined;
    this.#closed.take(open, start);
    return this.#accept(draft, ties);
  }

  /** Checks all after the closed part. Undefined where everything has to be checked. */
  #checkOpen(): readonly Finding[] | undefined {
    const { items: start } = this.#closed;
    if (start === 0 || this.#open.findings.some(({ rule }) => REQUEST_FINDINGS.has(rule))) return undefined;
    const draft = this.#form.draft(this.#items, start);
    const ties = this.#tiesFrom(start, draft);
    return this.#applyToTail(draft, ties, start, []) ? this.#accept(draft, ties) : undefined;
  }

  /** False where the items from `start` on cannot be judged without those before. */
  #applyToTail(draft: Draft, ties: readonly Tie[], start: number, between: readonly DraftMessage[]): boolean {
    const isOwnStart = (message: DraftMessage | undefined): boolean =>
      message?.role === "assistant" && message.origin.message === start;
    if (!isOwnStart(draft.messages[0]) || !this.#closed.allowsTail(draft, ties, between)) return false;
    const origin = { message: start };
    const stub = addedMessage("user", [textPart(STUB_TEXT, origin)], origin);
    draft.isTail = true;
    draft.messages = [stub, ...draft.messages];
    applyRules(draft, this.#settings);
    const [opening, first] = draft.messages;
    return opening === stub && stub.parts.length === 1 && isOwnStart(first);
  }

  /** Takes over what was checked after the closed part. Undefined where older messages must give way to a limit. */
  #accept(draft: Draft, ties: readonly Tie[]): readonly Finding[] | undefined {
    const [, ...checked] = draft.messages;
    draft.messages = checked;
    const { messages: closed } = this.#closed;
    const finished = checked.map((message, index) => this.#finish(message, this.#messages[closed + index]));
    this.#messages.length = closed;
    for (const message of finished) this.#messages.push(message);
    if (!this.#closed.settle(this.#messages)) return undefined;
    this.#close(draft, ties);
    return draft.findings;
  }

  /** A message that says what it said before is the same object. */
  #finish(draft: DraftMessage, known: ApiMessage | undefined): ApiMessage {
    const message = finishMessage(draft);
    const isKnown = this.#form.makesMessages && known !== undefined && saysTheSame(known, message);
    return isKnown ? known : message;
  }

  /** Moves the end of the closed part on as far as it goes. The draft has all messages after it. */
  #close(draft: Draft, ties: readonly Tie[]): void {
    const { messages, findings } = draft;
    const cut = lastCut(draft);
    const end = cut === undefined ? undefined : messages[cut]?.origin.message;
    if (end !== undefined) this.#closed.take({ messages: messages.slice(0, cut), ties, findings }, end);
    const { items } = this.#closed;
    this.#open = {
      messages: messages.slice(cut ?? 0),
      ties: ties.filter(({ itemIndex }) => itemIndex >= items),
      findings: findings.filter((finding) => (itemIndexOf(finding) ?? -1) >= items),
    };
  }

  /** Of the items from `start` on, which the draft was read from. */
  #tiesFrom(start: number, draft: Draft): Tie[] {
    const ties = tiesIn(draft);
    const { joinId } = this.#form;
    if (joinId === undefined) return ties;
    for (let itemIndex = start; itemIndex < this.#items.length; itemIndex++) {
      const id = joinId(this.#items[itemIndex] as Item);
      if (id !== undefined) ties.push({ id, itemIndex });
    }
    return ties;
  }
}

/** The beginning of a conversation, which is checked and stays as it is, as the rules remember it. */
class ClosedPart {
  readonly #memories: readonly RuleMemory[];
  readonly findings: Finding[] = [];
  readonly #ids = new Set<string>();
  /** Items and checked messages that belong to it; 0 where all is still open. */
  items = 0;
  messages = 0;
  isRepaired = false;

  constructor(memories: readonly RuleMemory[]) {
    this.#memories = memories;
  }

  /** The part that follows belongs to it from now on, as far as it came from items before `end`. */
  take({ messages, ties, findings }: CheckedPart, end: number): void {
    this.items = end;
    this.messages += messages.length;
    for (const memory of this.#memories) memory.close?.(messages);
    for (const { id, itemIndex } of ties) if (itemIndex < end) this.#ids.add(id);
    for (const finding of findings) {
      if ((itemIndexOf(finding) ?? end) >= end) continue;
      this.findings.push(finding);
      this.isRepaired ||= isRepair(finding);
    }
  }

  allowsTail(tail: Draft, ties: readonly Tie[], between: readonly DraftMessage[]): boolean {
    if (ties.some(({ id }) => this.#ids.has(id))) return false;
    return this.#memories.every((memory) => memory.allowsTail?.(tail, between) ?? true);
  }

  lengthFindings(messages: readonly ApiMessage[]): readonly Finding[] {
    const found: Finding[] = [];
    for (const memory of this.#memories) {
      for (const finding of memory.lengthFindings?.(messages) ?? []) found.push(finding);
    }
    return found;
  }

  settle(messages: readonly ApiMessage[]): boolean {
    return this.#memories.every((memory) => memory.settle?.(messages) ?? true);
  }
}

const TYING: readonly NonNullable<Rule["tieOf"]>[] = RULES.flatMap(({ tieOf }) => tieOf ?? []);
const CUTTING: readonly NonNullable<Rule["allowsCut"]>[] = RULES.flatMap(({ allowsCut }) => allowsCut ?? []);

function tiesIn({ messages }: Draft): Tie[] {
  const ties: Tie[] = [];
  const add = (block: ContentBlock, itemIndex: number): void => {
    for (const tieOf of TYING) {
      const id = tieOf(block);
      if (id !== undefined) ties.push({ id, itemIndex });
    }
  };
  for (const { parts } of messages) for (const { block, origin } of parts) add(block, origin.message);
  return ties;
}

/** A response after it would leave it as it is: the user has spoken, nothing was found, and no rule waits for more. */
function isComplete(open: CheckedPart): boolean {
  const { messages, findings } = open;
  if (findings.length > 0 || messages.at(-1)?.role !== "user") return false;
  return CUTTING.every((allowsCut) => allowsCut(open)(messages.length));
}

/**
 * The last assistant message that the checked conversation can be parted before: all that stands before it
 * came from before it, all after it from after it, and every rule allows it. Undefined where there is none.
 */
function lastCut(draft: Draft): number | undefined {
  const { messages } = draft;
  const before = newestOrigins(messages);
  const conditions = CUTTING.map((allowsCut) => allowsCut(draft));
  let oldest = Number.POSITIVE_INFINITY;
  for (let index = messages.length - 1; index > 0; index--) {
    const message = messages[index];
    if (message === undefined) continue;
    oldest = Math.min(oldest, message.origin.message);
    for (const { origin } of message.parts) oldest = Math.min(oldest, origin.message);
    const isStart = message.role === "assistant" && message.origin.message === oldest;
    if (!isStart || (before[index] ?? oldest) >= oldest) continue;
    if (conditions.every((allows) => allows(index))) return index;
  }
  return undefined;
}

/** For each message the newest origin of all before it. */
function newestOrigins(messages: readonly DraftMessage[]): readonly number[] {
  const origins: number[] = [];
  let newest = -1;
  for (const message of messages) {
    origins.push(newest);
    newest = Math.max(newest, message.origin.message);
    for (const { origin } of message.parts) newest = Math.max(newest, origin.message);
  }
  return origins;
}

const isRepair = ({ action }: Finding): boolean => action !== "reported";

/** Those of `now` that were not among `before`. */
function newFindings(now: readonly Finding[], before: readonly Finding[]): readonly Finding[] {
  if (now.length === 0 || before.length === 0) return now;
  const keyOf = ({ rule, path, action }: Finding): string => `${rule} ${path} ${action}`;
  const known = new Set(before.map(keyOf));
  return now.filter((finding) => !known.has(keyOf(finding)));
}

function saysTheSame(known: ApiMessage, message: ApiMessage): boolean {
  const { role, content } = message;
  if (known.role !== role) return false;
  if (known.content === content || typeof content === "string") return known.content === content;
  return (
    known.content.length === content.length && content.every((block, index) => block === known.content[index])
  );
}

/**
 * The one exit, for messages that grow at their end: always what {@link checkRequest} makes of all that was
 * given, at the cost of what is new.
 */
export class CheckedMessages extends GrowingCheck<ApiMessage> {
  /** @param frame all that goes along with the messages: model, system, tools, thinking. */
  constructor(options: CheckOptions = {}, frame: Omit<ApiRequest, "messages"> = {}) {
    super(messageForm({ ...frame, messages: [] }), options);
  }

  override replace(messages: readonly ApiMessage[]): readonly Finding[] {
    return super.replace(Array.isArray(messages) ? messages : []);
  }

  override get messages(): readonly ApiMessage[] {
    return this.isUntouched ? this.items : super.messages;
  }

  override outbox(): () => readonly ApiMessage[] {
    if (!this.isUntouched) return super.outbox();
    // Such an array only grows, and a replacement makes another.
    const { items } = this;
    const { length } = items;
    return () => items.slice(0, length);
  }
}

function messageForm(frame: ApiRequest): ItemForm<ApiMessage> {
  const schemas = schemasByName(frame.tools);
  return {
    draft: (messages, from) => {
      const draft = new Draft(frame);
      draft.schemas = schemas;
      draft.messages = readMessages(draft, messages, from);
      return draft;
    },
    makesMessages: false,
  };
}
