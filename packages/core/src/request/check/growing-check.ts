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

/** Converts items (messages or entries) to the draft that the rules work on. */
export interface ItemForm<Item> {
  /** Creates a draft from the items at `from` and later, with system, tools and the other request fields. */
  readonly draft: (items: readonly Item[], from: number) => Draft;
  /**
   * True if every reading creates new message objects from the items. False if the items are the messages.
   */
  readonly makesMessages: boolean;
  /** The id that joins later items with this one, if the form has such ids. */
  readonly joinId?: (item: Item) => string | undefined;
}

/** An id in an item. Later items may refer to the item by this id. */
interface Tie {
  readonly id: string;
  readonly itemIndex: number;
}

interface CheckedPart extends Checked {
  /** Ids in the items of this part, before the rules changed them. */
  readonly ties: readonly Tie[];
}

const STUB_TEXT = "[replaces everything that is already checked]";

/**
 * Rules that need the whole request. A check of the newest messages alone would not repeat the findings of
 * these rules.
 */
const REQUEST_FINDINGS: ReadonlySet<RuleName> = new Set(
  RULES.flatMap(({ looksAt, reports }) => (looksAt === "request" ? reports : [])),
);

/**
 * Checks a conversation that grows at its end. It uses the rules of {@link checkRequest} and always returns
 * the same result as one check of all items. The start of the conversation is closed: it is checked and will
 * not change. The end is open. If the open part is complete, new items are checked alone. Otherwise they are
 * checked together with the open part. If a rule needs closed messages (a reused id, a late result, a limit),
 * everything is checked again.
 */
export class GrowingCheck<Item> {
  readonly #form: ItemForm<Item>;
  readonly #settings: CheckSettings;
  #items: Item[] = [];
  #messages: ApiMessage[] = [];
  #frame: ApiRequest = { messages: [] };
  #closed: ClosedPart = new ClosedPart([]);
  #open: CheckedPart = { messages: [], ties: [], findings: [] };
  /** Findings that concern no single item, except findings about the length. */
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
   * The messages to send. The next `append` or `replace` may change this array. Use {@link outbox} for a
   * stable copy.
   */
  get messages(): readonly ApiMessage[] {
    return this.#messages;
  }

  /**
   * Returns a function that always returns the messages in their present state, even after later changes.
   * Copies only the open part now. The closed part of the array never changes, because a full check creates a
   * new array.
   */
  outbox(): () => readonly ApiMessage[] {
    const messages = this.#messages;
    const closed = this.#closed.messages;
    const open = messages.slice(closed);
    return () => messages.slice(0, closed).concat(open);
  }

  /** The repaired request fields besides the messages. Its `messages` are empty. */
  get frame(): ApiRequest {
    return this.#frame;
  }

  /** All findings that a full check would report now. */
  get findings(): readonly Finding[] {
    const found = [...this.#closed.findings, ...this.#open.findings, ...this.#wholeFindings];
    return [...found, ...this.#closed.lengthFindings(this.#messages)];
  }

  /** True if nothing was repaired and the messages are exactly the given ones. */
  get isUntouched(): boolean {
    const { isRepaired } = this.#closed;
    return !isRepaired && !this.#open.findings.some(isRepair) && !this.#wholeFindings.some(isRepair);
  }

  /** Number of checks of the whole conversation. */
  get fullPasses(): number {
    return this.#fullPasses;
  }

  /** Replaces all items. Returns all findings. */
  replace(items: readonly Item[]): readonly Finding[] {
    this.#items = [...items];
    this.#checkAll();
    return this.findings;
  }

  /** Adds items. Returns only new findings. */
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
    // Ids that the rules generated are also in use.
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

  /** Checks only the new items if they start a new response and everything before them is complete. */
  #checkNew(start: number): readonly Finding[] | undefined {
    const open = this.#open;
    if (!isComplete(open)) return undefined;
    const draft = this.#form.draft(this.#items, start);
    const ties = this.#tiesFrom(start, draft);
    if (ties.some(({ id }) => open.ties.some((known) => known.id === id))) return undefined;
    if (!this.#applyToTail(draft, ties, start, open.messages)) return undefined;
    this.#closed.absorb(open, start);
    return this.#accept(draft, ties);
  }

  /** Checks everything after the closed part. Returns undefined if a full check is necessary. */
  #checkOpen(): readonly Finding[] | undefined {
    const { items: start } = this.#closed;
    if (start === 0 || this.#open.findings.some(({ rule }) => REQUEST_FINDINGS.has(rule))) return undefined;
    const draft = this.#form.draft(this.#items, start);
    const ties = this.#tiesFrom(start, draft);
    return this.#applyToTail(draft, ties, start, []) ? this.#accept(draft, ties) : undefined;
  }

  /** Returns false if the items from `start` on cannot be checked without earlier items. */
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

  /**
   * Accepts the checked messages after the closed part. Returns undefined if a limit affects older messages.
   */
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

  /** Converts a draft to a message. Reuses the known object if the message did not change. */
  #finish(draft: DraftMessage, known: ApiMessage | undefined): ApiMessage {
    const message = finishMessage(draft);
    const isKnown = this.#form.makesMessages && known !== undefined && hasSameContent(known, message);
    return isKnown ? known : message;
  }

  /** Extends the closed part as far as possible. The draft has all messages after the closed part. */
  #close(draft: Draft, ties: readonly Tie[]): void {
    const { messages, findings } = draft;
    const cut = lastCut(draft);
    const end = cut === undefined ? undefined : messages[cut]?.origin.message;
    if (end !== undefined) this.#closed.absorb({ messages: messages.slice(0, cut), ties, findings }, end);
    const { items } = this.#closed;
    this.#open = {
      messages: messages.slice(cut ?? 0),
      ties: ties.filter(({ itemIndex }) => itemIndex >= items),
      findings: findings.filter((finding) => (itemIndexOf(finding) ?? -1) >= items),
    };
  }

  /** Returns the ids in the items from `start` on and in their draft. */
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

/** The closed start of a conversation, as far as the rules need to remember it. */
class ClosedPart {
  readonly #memories: readonly RuleMemory[];
  readonly findings: Finding[] = [];
  readonly #ids = new Set<string>();
  /** Number of closed items and messages. 0 if everything is still open. */
  items = 0;
  messages = 0;
  isRepaired = false;

  constructor(memories: readonly RuleMemory[]) {
    this.#memories = memories;
  }

  /** Adds the next part, as far as it came from items before `end`. */
  absorb({ messages, ties, findings }: CheckedPart, end: number): void {
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

const LINK_ID_FUNCTIONS: readonly NonNullable<Rule["linkIdOf"]>[] = RULES.flatMap(
  ({ linkIdOf }) => linkIdOf ?? [],
);
const CUT_CONDITIONS: readonly NonNullable<Rule["allowsCut"]>[] = RULES.flatMap(
  ({ allowsCut }) => allowsCut ?? [],
);

function tiesIn({ messages }: Draft): Tie[] {
  const ties: Tie[] = [];
  const add = (block: ContentBlock, itemIndex: number): void => {
    for (const linkIdOf of LINK_ID_FUNCTIONS) {
      const id = linkIdOf(block);
      if (id !== undefined) ties.push({ id, itemIndex });
    }
  };
  for (const { parts } of messages) for (const { block, origin } of parts) add(block, origin.message);
  return ties;
}

/**
 * Returns true if a new response cannot change this part. The last message of the part must be from the user.
 * The part must have no findings, and no rule may wait for more messages.
 */
function isComplete(open: CheckedPart): boolean {
  const { messages, findings } = open;
  if (findings.length > 0 || messages.at(-1)?.role !== "user") return false;
  return CUT_CONDITIONS.every((allowsCut) => allowsCut(open)(messages.length));
}

/**
 * Returns the index of the last assistant message before which the checked conversation can be split. The
 * messages before it must come from earlier items than all messages from it on. Every rule must allow the
 * cut. Returns undefined if there is no such message.
 */
function lastCut(draft: Draft): number | undefined {
  const { messages } = draft;
  const before = newestOrigins(messages);
  const conditions = CUT_CONDITIONS.map((allowsCut) => allowsCut(draft));
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

/** Returns one number for each message. It is the newest origin among all earlier messages. */
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

/** Returns the findings in `now` that are not in `before`. */
function newFindings(now: readonly Finding[], before: readonly Finding[]): readonly Finding[] {
  if (now.length === 0 || before.length === 0) return now;
  const keyOf = ({ rule, path, action }: Finding): string => `${rule} ${path} ${action}`;
  const known = new Set(before.map(keyOf));
  return now.filter((finding) => !known.has(keyOf(finding)));
}

function hasSameContent(known: ApiMessage, message: ApiMessage): boolean {
  const { role, content } = message;
  if (known.role !== role) return false;
  if (known.content === content || typeof content === "string") return known.content === content;
  return (
    known.content.length === content.length && content.every((block, index) => block === known.content[index])
  );
}

/**
 * Checks messages that grow at their end. The result always equals {@link checkRequest} on all messages, but
 * each step costs only as much as the new messages.
 */
export class CheckedMessages extends GrowingCheck<ApiMessage> {
  /** @param frame The request fields besides the messages: model, system, tools, thinking. */
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
    // The list of items only grows, because `replace` creates a new list.
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
