import { isRecord } from "../messages/untrusted.ts";
import { coreCountOf, digestOf } from "./compare-messages.ts";
import {
  coreDigestOf,
  HostList,
  hasSameContent,
  LoggedMessage,
  type MessageCopy,
  sharedLength,
} from "./host-list.ts";
import { matchKnownMessages, splitAfter } from "./match-messages.ts";
import type { Message } from "./options.ts";

/** Maximum number of lists to remember besides the first one. */
const MAX_LISTS = 32;
/** A list that lacks more messages than this is no longer recognized. */
const MAX_MISSED_MESSAGES = 20_000;

export type ListReading =
  /** The list starts with the known conversation. Only the messages in `added` are new. */
  | {
      readonly kind: "continued";
      readonly added: readonly Message[];
      readonly copies: readonly MessageCopy[];
    }
  /** The conversation up to the last rewrite is the same. `since` has the messages after that rewrite. */
  | { readonly kind: "changed"; readonly since: readonly Message[]; readonly copies: readonly MessageCopy[] }
  | { readonly kind: "other" };

interface Placed {
  readonly logged: LoggedMessage;
  /** Previous index of the message in the log. Undefined for a new message. */
  readonly from: number | undefined;
}

/** Result of comparing a host's list with the known list `list` and the log messages after it. */
interface Alignment {
  readonly list: HostList;
  /** Number of messages that belong to `list`. */
  readonly start: number;
  /** The next messages are those of the log from `list.nextLogIndex` up to this index. */
  readonly to: number;
  readonly beyond: readonly { readonly message: Message; readonly at: number | undefined }[];
  /** Indexes of log messages that this list contained before and no longer contains. */
  readonly missing: readonly number[];
  readonly isContinued: boolean;
  readonly added: number;
  /** Index from which the log no longer applies, because the host requests the newest reply again. */
  readonly cutAt: number | undefined;
}

/** The relation of a host's list to one of the known lists. */
interface Fit {
  /** Number of messages at the start of the host's list that the known list has in the same position. */
  readonly known: number;
  /** Undefined if the host's list does not continue the known list. */
  readonly alignment: Alignment | undefined;
}

/** One way to split the host's list into messages, and the relation of the list to each known list. */
interface Fitted {
  readonly messages: readonly Message[];
  readonly fits: readonly Fit[];
}

interface Recognized extends Fitted {
  readonly alignment: Alignment;
}

/**
 * The conversation in the host's own list and in returned lists. A list may lack a message that only other
 * lists contained. If a list lacks a message that it contained before, the host removed the message.
 */
export class HostView {
  /** Messages added since the start, from index `#logStart` on. All lists contain the older messages. */
  #log: LoggedMessage[] = [];
  #logStart = 0;
  /** The last rewrite kept or replaced all log messages before this index. */
  #rewrittenAt = 0;
  #conversation: Message[] = [];
  #lists: HostList[] = [];
  /** The messages up to the last rewrite. */
  #current: HostList = new HostList([], 0, true);
  /** The list that the host passed last. */
  #lastRead: HostList | undefined;
  /** True if the host's own array equals the conversation. */
  #isHostCurrent = false;
  #turns = 0;
  /** Digests of the replies in lists whose messages are no longer in memory. */
  readonly #releasedReplies = new Set<number>();
  readonly #knownMessages = new WeakMap<object, Message>();

  get #logEnd(): number {
    return this.#logStart + this.#log.length;
  }

  /** Recognizes and records a list of the host. Does not record a list of another conversation. */
  read(given: readonly Message[]): ListReading {
    const recognized = this.#recognize(given);
    if (recognized === undefined) return { kind: "other" };
    const { messages, alignment } = recognized;
    const { list } = alignment;
    list.lastUsedTurn = ++this.#turns;
    this.#lastRead = list;
    const copies = [
      ...list.adoptObjects(messages, alignment.start),
      ...this.#renewLogged(messages, alignment),
    ];
    for (const other of this.#lists) if (other !== list && other !== this.#current) this.#release(other);
    if (alignment.isContinued && alignment.cutAt === undefined) {
      const added = alignment.beyond.flatMap(({ message, at }) => (at === undefined ? [message] : []));
      this.#append(alignment, messages, added);
      return { kind: "continued", added, copies };
    }
    return { kind: "changed", since: this.#change(alignment, messages), copies };
  }

  /** Returns the known equal object at each position. If under half are equal, only for the shared start. */
  findKnownObjects(messages: readonly Message[]): readonly (Message | undefined)[] {
    let best: readonly (Message | undefined)[] = [];
    let most = 0;
    for (const list of this.#lists) {
      if (list.messages === undefined) continue;
      const known = [...list.messages, ...this.#shownIn(list).flatMap((logged) => logged.messages)];
      const inPlace = messages.slice(0, known.length).map((message, at) => {
        const there = known[at];
        return there !== undefined && hasSameContent(message, there) ? there : undefined;
      });
      const count = inPlace.filter((there) => there !== undefined).length;
      const isEdited = count * 2 >= known.length;
      const length = isEdited ? count : sharedLength(messages, known);
      if (length <= most) continue;
      most = length;
      best = isEdited
        ? inPlace.slice(0, inPlace.findLastIndex((there) => there !== undefined) + 1)
        : known.slice(0, length);
    }
    return best;
  }

  /** Returns true if the conversation had an equal reply. */
  hasReply(message: Message): boolean {
    const lists = [this.#conversation, ...this.#lists.map((list) => list.messages ?? [])];
    const isInMemory = lists.some((list) => list.some((known) => hasSameContent(message, known)));
    return isInMemory || this.#releasedReplies.has(coreDigestOf(message));
  }

  start(messages: readonly Message[]): void {
    this.#log = [];
    this.#logStart = 0;
    this.#rewrittenAt = 0;
    this.#current = new HostList(messages, 0, true);
    this.#lists = [this.#current];
    this.#lastRead = this.#current;
    this.#conversation = [...messages];
    this.#releasedReplies.clear();
    this.#isHostCurrent = true;
  }

  /** Records a rewrite. From now on, all known lists continue with these messages. */
  replace(messages: readonly Message[]): void {
    this.#lists = [...this.#lists, ...this.#returnedLists()];
    for (const list of this.#lists) this.#absorbShown(list);
    this.#rewrittenAt = this.#logEnd;
    this.#current = new HostList(messages, this.#rewrittenAt, false);
    this.#current.lastUsedTurn = ++this.#turns;
    this.#lists = [this.#current, ...this.#lists];
    this.#forgetUnused();
    this.#conversation = [...messages];
    this.#isHostCurrent = false;
  }

  /** Records a rewrite if the messages differ from the conversation. Returns true if they differ. */
  replaceIfChanged(messages: readonly Message[], held: readonly Message[]): boolean {
    const isNew = !this.#isConversation(messages);
    if (isNew) this.replace(messages);
    this.#isHostCurrent = messages.length === held.length && sharedLength(messages, held) === held.length;
    return isNew;
  }

  /** Returns the conversation in the host's form. Returns the host's own array if it is equal. */
  toHostForm(messages: readonly Message[]): readonly Message[] {
    return this.#isHostCurrent ? messages : [...this.#conversation];
  }

  #release(list: HostList): void {
    for (const message of list.messages ?? []) {
      if (roleOf(message) === "assistant") this.#releasedReplies.add(coreDigestOf(message));
    }
    list.release();
  }

  /** Returns the list that was returned to the host last, if no turn has recorded that list yet. */
  #returnedLists(): readonly HostList[] {
    if (this.#current.shownTo === this.#logEnd) return [];
    const list = new HostList(this.#conversation, this.#logEnd, false);
    list.lastUsedTurn = this.#turns;
    return [list];
  }

  #isConversation(messages: readonly Message[]): boolean {
    const known = this.#conversation;
    return messages.length === known.length && messages.every((message, at) => message === known[at]);
  }

  /** Returns the known message that is equal to this message, or from which this message was split. */
  knownMessageFor(message: Message): Message {
    return (typeof message === "object" ? this.#knownMessages.get(message) : undefined) ?? message;
  }

  /** Finds the best known list. Uses known messages in place of those that the host split differently. */
  #recognize(given: readonly Message[]): Recognized | undefined {
    const direct = { messages: given, fits: this.#fits(given) };
    let best = recognizedBy(direct);
    const isSure = best?.alignment.isContinued && this.#isNewestFound(best.alignment);
    for (const list of isSure ? [] : this.#lists) {
      const { blocks } = list;
      const recut =
        blocks === undefined ? matchKnownMessages(given, this.#knownAfter(list)) : splitAfter(given, blocks);
      if (recut === undefined) continue;
      const { messages, replaced } = recut;
      const next = recognizedBy({ messages, fits: this.#fits(messages) });
      if (next === undefined || (best && !isCloser(next.alignment, best.alignment))) continue;
      best = next;
      for (const { message, original } of replaced) this.#knownMessages.set(message as object, original);
    }
    return best === undefined || this.#belongsToChangedList(direct, best) ? undefined : best;
  }

  /** Returns true if the host's list is more likely a changed version of another known list. */
  #belongsToChangedList(direct: Fitted, best: Recognized): boolean {
    const { list, beyond } = best.alignment;
    const changed = this.#lists.flatMap((other, at) => {
      if (best.fits[at]?.alignment !== undefined) return [];
      const shared = Math.max(knownBlocks(direct, at), knownBlocks(best, at));
      return shared === 0 ? [] : [{ other, shared }];
    });
    if (changed.length === 0) return false;
    const isCut = this.#lastRead === this.#current && beyond.every(({ at }) => at === undefined);
    const known = knownBlocks(best, this.#lists.indexOf(list));
    return changed.some(
      ({ other, shared }) => shared > known || (isCut && other === this.#current && shared === known),
    );
  }

  /** Returns the messages of a list and of the log after it. Empty if some are not in memory. */
  #knownAfter({ messages, nextLogIndex: at }: HostList): readonly Message[] {
    const later = this.#log.slice(at - this.#logStart).map((logged) => logged.messages);
    return messages === undefined || later.some(({ length }) => length === 0)
      ? []
      : [...messages, ...later.flat()];
  }

  /** Returns true if no new message of the host can be a known message that the host split differently. */
  #isNewestFound({ to, beyond, added }: Alignment): boolean {
    return added === 0 || to === this.#logEnd || beyond.some(({ at }) => at === this.#logEnd - 1);
  }

  #fits(messages: readonly Message[]): readonly Fit[] {
    return this.#lists.map((list) => {
      const start = list.matchStart(messages, list !== this.#current);
      if (start === undefined)
        return { known: sharedLength(messages, list.messages ?? []), alignment: undefined };
      const alignment = this.#alignWith(list, start, messages);
      // The host removed a message that a rewrite covers, so the rewrite no longer applies.
      const isCovered = [alignment.missing[0], alignment.cutAt].some(
        (at) => at !== undefined && at < this.#rewrittenAt,
      );
      return {
        known: start + alignment.to - list.nextLogIndex,
        alignment: isCovered ? undefined : alignment,
      };
    });
  }

  #alignWith(list: HostList, start: number, messages: readonly Message[]): Alignment {
    let to = list.nextLogIndex;
    let next = start;
    while (
      next < messages.length &&
      to < this.#logEnd &&
      this.#logged(to).equals(messages[next] as Message)
    ) {
      to += 1;
      next += 1;
    }
    const beyond = this.#find(messages.slice(next), to);
    const newest = beyond.findLastIndex(({ at }) => at !== undefined);
    const isInOrder = beyond.findIndex(({ at }) => at === undefined) >= newest || newest < 0;
    const missing = missingFrom(list, { to, beyond });
    const added = beyond.filter(({ at }) => at === undefined).length;
    const isContinued = missing.length === 0 && (isInOrder || added === 0);
    const cutAt = this.#cutAt(messages, { to, beyond, missing });
    return { list, start, to, beyond, missing, isContinued, added, cutAt };
  }

  /** If the log already has a reply to the list's last question, returns the index of the first outdated entry. */
  #cutAt(
    messages: readonly Message[],
    { to, beyond, missing }: Pick<Alignment, "to" | "beyond" | "missing">,
  ): number | undefined {
    const end = beyond.length === 0 ? to - 1 : beyond.at(-1)?.at;
    if (end === undefined || endsWithReply(messages)) return undefined;
    const isNewest = end + 1 === this.#logEnd && end >= this.#rewrittenAt;
    if (isNewest) return undefined;
    const before = this.#upToRewrite;
    const since = this.#conversation.slice(before.length);
    const removed = new Set(missing);
    const left = since.filter((_, index) => !removed.has(this.#rewrittenAt + index));
    if (!endsWithReply([...before, ...left])) return undefined;
    const isKept = end < this.#rewrittenAt && endsWithReply(before);
    return isKept ? end : Math.max(end + 1, this.#rewrittenAt);
  }

  get #upToRewrite(): readonly Message[] {
    return this.#conversation.slice(0, this.#conversation.length - (this.#logEnd - this.#rewrittenAt));
  }

  /** Finds these messages in the log from index `from` on, in the same order. */
  #find(messages: readonly Message[], from: number): Alignment["beyond"] {
    if (messages.length === 0 || from === this.#logEnd) {
      return messages.map((message) => ({ message, at: undefined }));
    }
    const places = new Map<number, number[]>();
    for (let at = this.#logEnd - 1; at >= from; at--) {
      const { digest } = this.#logged(at);
      const same = places.get(digest);
      if (same === undefined) places.set(digest, [at]);
      else same.push(at);
    }
    let next = from;
    return messages.map((message) => {
      const same = places.get(digestOf(message)) ?? places.get(coreDigestOf(message));
      const found = same?.findLast((at) => at >= next);
      if (found !== undefined) next = found + 1;
      return { message, at: found };
    });
  }

  #logged(at: number): LoggedMessage {
    return this.#log[at - this.#logStart] as LoggedMessage;
  }

  #renewLogged(messages: readonly Message[], { list, start, to, beyond }: Alignment): readonly MessageCopy[] {
    const first = messages.slice(start, start + to - list.nextLogIndex);
    return [
      ...first.flatMap((message, index) => this.#logged(list.nextLogIndex + index).adoptObject(message)),
      ...beyond.flatMap(({ message, at }) => (at === undefined ? [] : this.#logged(at).adoptObject(message))),
    ];
  }

  #append({ list, to, beyond }: Alignment, messages: readonly Message[], added: readonly Message[]): void {
    const firstNew = this.#logEnd;
    for (const message of added) {
      this.#log.push(new LoggedMessage(message));
      this.#conversation.push(message);
    }
    let next = firstNew;
    this.#show(
      list,
      to,
      beyond.map(({ at }) => at ?? next++),
    );
    this.#isHostCurrent = list === this.#current && this.#isShownWhole(list, messages);
  }

  #show(list: HostList, to: number, beyond: readonly number[]): void {
    let end = to;
    let gap = 0;
    while (beyond[gap] === end) {
      end += 1;
      gap += 1;
    }
    list.shownTo = end;
    list.shownBeyond = beyond.slice(gap);
  }

  #isShownWhole(list: HostList, messages: readonly Message[]): boolean {
    return list.shownTo === this.#logEnd && messages.length === this.#conversation.length;
  }

  #shownIn(list: HostList): readonly LoggedMessage[] {
    const contiguous = this.#log.slice(list.nextLogIndex - this.#logStart, list.shownTo - this.#logStart);
    return [...contiguous, ...list.shownBeyond.map((at) => this.#logged(at))];
  }

  /** Applies removed and inserted messages of the host. Returns all messages since the last rewrite. */
  #change(alignment: Alignment, messages: readonly Message[]): readonly Message[] {
    const { list, start } = alignment;
    this.#rebuildLog(this.#newOrder(alignment));
    const { to, beyond } = this.#alignWith(list, start, messages);
    const found = beyond.flatMap(({ at }) => at ?? []);
    this.#show(list, to, found);
    this.#isHostCurrent = list === this.#current && this.#isShownWhole(list, messages);
    return this.#log.slice(this.#rewrittenAt - this.#logStart).flatMap((logged) => logged.messages);
  }

  /** Returns the messages of all lists since the last rewrite, without those that the host removed. */
  #newOrder({ list, to, beyond, cutAt }: Alignment): readonly Placed[] {
    const shown = new Set([...indexes(list.nextLogIndex, list.shownTo), ...list.shownBeyond]);
    const order: Placed[] = [];
    let next = this.#rewrittenAt;
    const keepUpTo = (end: number): void => {
      for (; next < end; next++) if (!shown.has(next)) order.push({ logged: this.#logged(next), from: next });
    };
    let fresh: Placed[] = [];
    for (const { message, at } of [
      ...indexes(list.nextLogIndex, to).map((at) => ({ message: undefined, at })),
      ...beyond,
    ]) {
      if (at === undefined) fresh.push({ logged: new LoggedMessage(message as Message), from: undefined });
      else {
        keepUpTo(at);
        order.push(...fresh);
        fresh = [];
        if (at < this.#rewrittenAt) continue;
        order.push({ logged: this.#logged(at), from: at });
        next = at + 1;
      }
    }
    keepUpTo(cutAt ?? this.#logEnd);
    return [...order, ...fresh];
  }

  /** Replaces the log after the last rewrite. Updates the indexes of all lists. */
  #rebuildLog(order: readonly Placed[]): void {
    const start = this.#rewrittenAt;
    const moved = new Map(order.flatMap(({ from }, at) => (from === undefined ? [] : [[from, start + at]])));
    for (const list of this.#lists) {
      const shown = [...indexes(list.nextLogIndex, list.shownTo), ...list.shownBeyond];
      const now = shown.flatMap((at) => (at < start ? at : (moved.get(at) ?? [])));
      this.#show(
        list,
        list.nextLogIndex,
        now.sort((a, b) => a - b),
      );
    }
    const kept = this.#upToRewrite;
    this.#log = [...this.#log.slice(0, start - this.#logStart), ...order.map(({ logged }) => logged)];
    const since = order.flatMap(({ logged }) => logged.messages);
    this.#conversation = [...kept, ...since];
  }

  /** Moves log messages into this list if the host has shown them in this list. */
  #absorbShown(list: HostList): void {
    const shown = this.#shownIn(list);
    for (const logged of shown) list.extend(logged);
    list.nextLogIndex = (list.shownBeyond.at(-1) ?? list.shownTo - 1) + 1;
    list.shownTo = list.nextLogIndex;
    list.shownBeyond = [];
  }

  #forgetUnused(): void {
    const isNear = (list: HostList): boolean => this.#logEnd - list.nextLogIndex <= MAX_MISSED_MESSAGES;
    const [current, ...others] = this.#lists.filter(isNear);
    const used = others.toSorted((one, other) => other.lastUsedTurn - one.lastUsedTurn);
    const kept = used.filter(({ isFirst }, index) => isFirst || index < MAX_LISTS);
    this.#lists = current === undefined ? kept : [current, ...kept];
    const oldest = Math.min(...this.#lists.map(({ nextLogIndex: at }) => at));
    this.#log = this.#log.slice(oldest - this.#logStart);
    this.#logStart = oldest;
    for (const logged of this.#log) logged.seal();
  }
}

/** Roles in a request. Entries of other types, such as marks, are never sent. */
const ROLES: readonly unknown[] = ["user", "assistant", "attachment"];

function roleOf(message: unknown): unknown {
  return isRecord(message) ? (message.role ?? message.type) : undefined;
}

const endsWithReply = (messages: readonly Message[]): boolean =>
  roleOf(messages.findLast((message) => ROLES.includes(roleOf(message)))) === "assistant";

/** Returns the best match: a list that continues unchanged, with the fewest new messages. */
function recognizedBy(fitted: Fitted): Recognized | undefined {
  let best: Alignment | undefined;
  for (const { alignment } of fitted.fits)
    if (alignment !== undefined && (best === undefined || isCloser(alignment, best))) best = alignment;
  return best && { ...fitted, alignment: best };
}

/** Counts blocks instead of messages, because hosts split messages differently. */
const knownBlocks = ({ messages, fits }: Fitted, at: number): number =>
  messages.slice(0, fits[at]?.known ?? 0).reduce((sum, message) => sum + coreCountOf(message), 0);

const indexes = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);

const isCloser = (one: Alignment, other: Alignment): boolean =>
  one.isContinued === other.isContinued ? one.added < other.added : one.isContinued;

/** Returns the indexes of log messages that this list contained before but not now, oldest first. */
function missingFrom(list: HostList, { to, beyond }: Pick<Alignment, "to" | "beyond">): readonly number[] {
  const later = list.shownBeyond.filter((at) => at >= to);
  if (to >= list.shownTo && later.length === 0) return [];
  const found = new Set(beyond.map(({ at }) => at));
  return [...indexes(to, list.shownTo), ...later].filter((at) => !found.has(at));
}
