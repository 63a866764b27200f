import { applyRules, checkSettings } from "../check/check.ts";
import { addedMessage, type Draft, type DraftMessage, finishMessage, textPart } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import type { CheckOptions, CheckSettings } from "../check/rule.ts";
import { requestBytesFault } from "../check/rules/media-limits.ts";
import { messageCountFault } from "../check/rules/message-count.ts";
import type { ApiMessage, ApiRequest } from "../message.ts";
import { ClosedPart } from "./closed-part.ts";
import { lastCut } from "./cut-point.ts";
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

const STUB_TEXT = "[stands for all that is checked already]";

/**
 * The checker for a conversation that grows at its end. What is checked stays checked: only what came after
 * the start of the last response is looked at again, together with what is new. Where that concerns the rest
 * (an id used again, a late result, a limit), everything is checked. The outcome is always that of one check
 * of all items.
 */
export class GrowingCheck<Item> {
  readonly #form: ItemForm<Item>;
  readonly #settings: CheckSettings;
  #items: Item[] = [];
  #messages: ApiMessage[] = [];
  #frame: ApiRequest = { messages: [] };
  #closed: ClosedPart;
  /** About items after the closed part. */
  #openFindings: readonly Finding[] = [];
  /** About no single item. */
  #wholeFindings: readonly Finding[] = [];
  #fullPasses = 0;

  constructor(form: ItemForm<Item>, options: CheckOptions) {
    this.#form = form;
    this.#settings = checkSettings(options);
    this.#closed = new ClosedPart(this.#frame, this.#settings, []);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  get messages(): readonly ApiMessage[] {
    return this.#messages;
  }

  /** What goes along with the messages, as it was repaired. */
  get frame(): ApiRequest {
    return this.#frame;
  }

  /** All that one check of everything would find now. */
  get findings(): readonly Finding[] {
    return [...this.#closed.findings, ...this.#openFindings, ...this.#wholeFindings];
  }

  get isUntouched(): boolean {
    return !this.#closed.isRepaired && ![...this.#openFindings, ...this.#wholeFindings].some(isRepair);
  }

  /** How often everything was looked at. */
  get fullPasses(): number {
    return this.#fullPasses;
  }

  replace(items: readonly Item[]): readonly Finding[] {
    this.#items = [...items];
    this.#checkAll();
    return this.findings;
  }

  /** Returns what was not found before. */
  append(added: readonly Item[]): readonly Finding[] {
    for (const item of added) this.#items.push(item);
    const { findings: closedBefore } = this.#closed;
    const before = [...this.#openFindings, ...this.#wholeFindings];
    const found = this.#checkTail();
    if (found !== undefined) return newFindings(found, before);
    this.#checkAll();
    return newFindings(this.findings, [...closedBefore, ...before]);
  }

  #checkAll(): void {
    this.#fullPasses++;
    const draft = this.#form.draftWhole(this.#items);
    const ids = toolIdsIn(draft.messages);
    applyRules(draft, this.#settings);
    // Ids that were made up on the way are taken as well.
    for (const id of toolIdsIn(draft.messages)) ids.push(id);
    this.#frame = { ...draft.request, messages: [] };
    this.#messages = draft.messages.map(finishMessage);
    this.#closed = new ClosedPart(this.#frame, this.#settings, draft.findings);
    this.#close(draft, ids, 0);
    const { messages: count, size } = this.#closed;
    size.markLimit(this.#messages.slice(count), draft.findings, this.#messages.slice(0, count));
  }

  /** What was found from the closed part on; undefined where everything has to be checked. */
  #checkTail(): readonly Finding[] | undefined {
    const closed = this.#closed;
    if (closed.items === 0 || this.#openFindings.some(looksAtTheWhole)) return undefined;
    const draft = this.#form.draftTail(this.#items, closed.items);
    const ids = toolIdsIn(draft.messages);
    const joinIds = this.#joinIds(closed.items, this.#items.length);
    if (closed.isConcernedBy(draft.messages, ids, joinIds)) return undefined;
    const stub = addedMessage("user", [textPart(STUB_TEXT, { message: closed.items })], {
      message: closed.items,
    });
    draft.messages = [stub, ...draft.messages];
    applyRules(draft, this.#tailOptions());
    if (!isPartOfItsOwn(draft, stub, closed.items)) return undefined;
    const finished = this.#finish(draft.messages);
    if (!this.#isWithinLimits(draft, finished)) return undefined;
    this.#messages.length = closed.messages;
    for (const message of finished) this.#messages.push(message);
    this.#close(draft, ids, 1);
    return draft.findings;
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

  /** All but the stub. A message that says what it said before is the same object. */
  #finish([, ...drafts]: readonly DraftMessage[]): readonly ApiMessage[] {
    const finished = drafts.map(finishMessage);
    if (!this.#form.makesMessages) return finished;
    return finished.map((message, index) => {
      const known = this.#messages[this.#closed.messages + index];
      return known !== undefined && saysTheSame(known, message) ? known : message;
    });
  }

  /** Reports what is said of every conversation that is too long. False where older messages must give way. */
  #isWithinLimits(draft: Draft, finished: readonly ApiMessage[]): boolean {
    const { messages: count, size } = this.#closed;
    const outcome = size.judge(finished, () => this.#messages.slice(0, count));
    if (outcome === "media-must-go") return false;
    const faults = [messageCountFault(count + finished.length)];
    if (outcome !== "fits") {
      const isKnown = this.#wholeFindings.some(({ rule }) => rule === "request-bytes");
      if (!isKnown || !this.#closed.mayTakeMarks) return false;
      faults.push(requestBytesFault(outcome.bytes, this.#settings.maxRequestBytes));
    }
    for (const fault of faults) if (fault !== undefined) draft.report(fault);
    return true;
  }

  /** Moves the end of the closed part on as far as it goes, after a check from `first` on. */
  #close(draft: Draft, ids: readonly IdAt[], first: number): void {
    const closed = this.#closed;
    const cut = lastCut(draft, first);
    if (cut !== undefined) {
      const from = closed.items;
      closed.items = draft.messages[cut]?.origin.message ?? from;
      closed.addIds(ids, this.#joinIds(from, closed.items));
      const finished = this.#messages.slice(closed.messages, closed.messages + cut - first);
      closed.addMessages(draft.messages.slice(first, cut), finished);
    }
    const lasting = first === 0 ? [] : this.#wholeFindings.filter((finding) => !isAboutTheLength(finding));
    const open = closed.takeFindings(draft.findings);
    this.#openFindings = open.filter((finding) => itemIndexOf(finding) !== undefined);
    this.#wholeFindings = [...lasting, ...open.filter((finding) => itemIndexOf(finding) === undefined)];
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

/** The part begins with the assistant message it was cut before, and no rule looked beyond it. */
function isPartOfItsOwn(draft: Draft, stub: DraftMessage, firstItem: number): boolean {
  const [opening, first] = draft.messages;
  if (opening !== stub || stub.parts.length !== 1) return false;
  if (first?.role !== "assistant" || first.origin.message !== firstItem) return false;
  return !draft.findings.some(looksAtTheWhole);
}

function saysTheSame(known: ApiMessage, message: ApiMessage): boolean {
  const { role, content } = message;
  if (known.role !== role) return false;
  if (known.content === content || typeof content === "string") return known.content === content;
  return (
    known.content.length === content.length && content.every((block, index) => block === known.content[index])
  );
}
