import { createHash } from "node:crypto";
import {
  asList,
  contentText,
  entryBlocks,
  field,
  isCompactBoundary,
  isFromQueue,
  isQueueOperation,
  isSlashCommand,
  isTypedMessage,
  rawContent,
  responseIdOf,
  stringField,
} from "@longhaul/core/internal/messages";
import type { Entry, UserEntry } from "@longhaul/core/messages";

/**
 * Reason that means that the agent received a text. Newer versions of Claude Code record why a text left the
 * queue. The agent received the text only if the record has this reason or no reason.
 */
const RECEIVED = "absorbed_mid_turn";

interface Queued<Place> {
  /** Text of the message. Undefined if the `enqueue` line has no text, as for some messages with images. */
  readonly text: string | undefined;
  readonly enqueued: Entry;
  readonly place: Place;
  /** True if a user line or an attachment already contains the text. */
  isShown: boolean;
}

/** Message that the agent received, but that no line of the conversation contains. */
export interface QueuedMessage<Place> {
  readonly text: string;
  readonly uuid: string;
  readonly timestamp: string | undefined;
  /** Place of the line that contains the text. */
  readonly textPlace: Place;
  /** Place of the line at which the agent received the message. */
  readonly place: Place;
}

/**
 * Queue of the texts that were typed while the agent worked. The lines of the file are added one by one. A
 * text that leaves the queue by `remove` has reached the agent. Newer versions of Claude Code also write the
 * text as an attachment, before or after the `remove` line. Other versions do not. Texts are matched by
 * content. Of several equal texts, the newest one matches. So reading only the end of a file has the same
 * result as reading the whole file.
 */
export class MessageQueue<Place> {
  readonly #isWholeFile: boolean;
  #open: Queued<Place>[] = [];
  /** Received messages whose text may still appear in a line. Only lines before the next response count. */
  #received: QueuedMessage<Place>[] = [];
  /**
   * Number of dequeued texts whose user lines have not appeared yet. A `dequeue` line does not identify its
   * text.
   */
  #dequeued = 0;
  /** Texts without an `enqueue` line that appeared in lines since the last response. */
  readonly #shown = new Set<string>();
  #responseId: string | undefined;
  #isUncertain = false;
  #messages: QueuedMessage<Place>[] = [];
  #hasMessages = false;

  /** @param isWholeFile false if the lines above the first added line are unknown */
  constructor(isWholeFile: boolean) {
    this.#isWholeFile = isWholeFile;
  }

  /** True if unknown lines above the first added line could change the result. */
  get isUncertain(): boolean {
    return !this.#isWholeFile && (this.#isUncertain || this.#hasMessages);
  }

  /** True if a later line may still contain the message that was received last. */
  get isOpen(): boolean {
    return this.#received.length > 0;
  }

  /** Returns messages that no later line can change, and that were not returned before. */
  settled(): readonly QueuedMessage<Place>[] {
    const messages = this.#messages;
    if (messages.length > 0) this.#messages = [];
    return messages;
  }

  /** Returns the remaining messages. Call it after the last line. */
  end(): readonly QueuedMessage<Place>[] {
    this.#settle();
    return this.settled();
  }

  add(entry: Entry, place: Place): void {
    if (isQueueOperation(entry)) this.#operation(entry, place);
    else if (entry.isSidechain === true || stringField(entry, "writtenWith") !== undefined) return;
    else if (entry.type === "assistant") this.#response(responseIdOf(entry));
    else if (isCompactBoundary(entry)) this.#settle();
    else this.#show(entry);
  }

  #operation(entry: Entry, place: Place): void {
    const text = stringField(entry, "content")?.trim() || undefined;
    switch (stringField(entry, "operation")) {
      case "enqueue":
        this.#enqueue({ text, enqueued: entry, place, isShown: false });
        return;
      case "dequeue":
        if (text !== undefined) this.#take(text);
        else if (this.#dequeued < this.#open.length) this.#dequeued++;
        return;
      case "remove":
        this.#remove(entry, text, place);
        return;
      case "popAll":
        this.#dropDequeued();
        if (text === undefined) this.#open = [];
        else this.#take(text);
    }
  }

  /** Adds a text to the queue. A line that was written again is the same message. */
  #enqueue(queued: Queued<Place>): void {
    const id = messageId(queued.enqueued);
    this.#open = this.#open.filter(({ enqueued }) => messageId(enqueued) !== id);
    this.#open.push(queued);
  }

  #remove(entry: Entry, content: string | undefined, place: Place): void {
    this.#dropDequeued();
    const queued = content === undefined ? this.#takeOldest() : this.#take(content);
    this.#isUncertain ||= content === undefined || queued === undefined;
    if (queued === undefined && this.#shown.delete(content ?? "")) return;
    const reason = stringField(entry, "reason");
    const text = content ?? queued?.text;
    if (text === undefined || queued?.isShown || (reason !== undefined && reason !== RECEIVED)) return;
    if (!isTypedMessage(text)) return;
    this.#hasMessages = true;
    const source = queued?.text === undefined ? entry : queued.enqueued;
    this.#received.push({
      text,
      uuid: messageId(source),
      timestamp: stringField(entry, "timestamp") ?? stringField(source, "timestamp"),
      textPlace: queued?.text === undefined ? place : queued.place,
      place,
    });
  }

  /** Handles a response. A line after a response cannot be the message that the response answers. */
  #response(id: string | undefined): void {
    if (id === undefined || id !== this.#responseId) this.#settle();
    this.#responseId = id;
  }

  #settle(): void {
    this.#dropDequeued();
    this.#shown.clear();
    this.#messages.push(...this.#received);
    this.#received = [];
  }

  /** Handles a user line or an attachment that contains one of the texts. */
  #show(entry: Entry): void {
    const texts = shownTexts(entry);
    if (texts.length === 0) return;
    const received = this.#received.findLastIndex(({ text }) => texts.includes(text));
    if (received !== -1) {
      this.#received.splice(received, 1);
      return;
    }
    const isPrompt = entry.type === "user";
    const isMeant = ({ text, isShown }: Queued<Place>): boolean =>
      !isShown && text !== undefined && texts.includes(text);
    const isUnknown = ({ text, isShown }: Queued<Place>): boolean =>
      !isShown && (text === undefined || (isPrompt && !isTypedMessage(text)));
    // A user line comes from `dequeue`, which takes the oldest text.
    const said = isPrompt ? this.#open.find(isMeant) : this.#open.findLast(isMeant);
    const meant = said ?? this.#open.find(isUnknown);
    if (meant === undefined || (isPrompt && this.#dequeued === 0 && said === undefined)) {
      for (const text of texts) this.#shown.add(text);
      return;
    }
    meant.isShown = true;
    if (!isPrompt || this.#dequeued === 0) return;
    this.#dequeued--;
    this.#open = this.#open.filter((queued) => queued !== meant);
  }

  /**
   * Removes and returns the newest waiting text with this content. If there is none, removes and returns a
   * message whose text is unknown.
   */
  #take(text: string): Queued<Place> | undefined {
    const trimmed = text.trim();
    const said = this.#open.findLast((queued) => queued.text === trimmed);
    const taken = said ?? this.#open.find((queued) => queued.text === undefined);
    this.#open = this.#open.filter((queued) => queued !== taken);
    return taken;
  }

  /**
   * Removes the oldest text and returns it. Texts leave the queue in order, but a slash command waits until
   * the agent has finished.
   */
  #takeOldest(): Queued<Place> | undefined {
    const isMessage = ({ text }: Queued<Place>): boolean => text === undefined || !isSlashCommand(text);
    const taken = this.#open.find(({ isShown }) => isShown) ?? this.#open.find(isMessage) ?? this.#open[0];
    this.#open = this.#open.filter((queued) => queued !== taken);
    return taken;
  }

  #dropDequeued(): void {
    for (; this.#dequeued > 0; this.#dequeued--) {
      const gone = this.#open.find(({ isShown }) => isShown) ?? this.#open[0];
      this.#open = this.#open.filter((queued) => queued !== gone);
    }
  }
}

/**
 * Returns an id for a queued message. The id is the same on every read of the file, and in copies of the
 * file.
 */
export function messageId(line: Entry): string {
  const key = [stringField(line, "timestamp") ?? "", stringField(line, "content")?.trim() ?? ""];
  const hash = createHash("sha256").update(JSON.stringify(key)).digest("hex");
  return [8, 12, 16, 20, 32].map((end, nth, ends) => hash.slice(ends[nth - 1] ?? 0, end)).join("-");
}

/** Returns content that a person typed. Text typed while the agent worked may exist only in an attachment. */
export function typedContent(entry: Entry): unknown {
  if (entry.type === "attachment") {
    const isQueued = field(entry.attachment, "type") === "queued_command";
    return isQueued ? field(entry.attachment, "prompt") : undefined;
  }
  if (entry.type !== "user" || entry.isMeta === true || entry.isCompactSummary === true) return undefined;
  const isResult = entryBlocks(entry).some(({ type }) => type === "tool_result");
  return isResult ? undefined : rawContent(entry);
}

/**
 * Returns the texts in an entry that the user typed. Includes the text of each block, because the queue may
 * record only the typed text of a message with images.
 */
function shownTexts(entry: Entry): readonly string[] {
  const content = typedContent(entry);
  const each = asList(content).map((block) => contentText([block]).trim());
  return [contentText(content).trim(), ...each].filter((text) => text !== "");
}

/**
 * Inserts each message that only the queue contains at the line where the agent received it. Leaves entries
 * that already contain these messages unchanged.
 */
export function withQueuedMessages(
  entries: readonly Entry[],
  isWholeFile: boolean,
): { readonly entries: readonly Entry[]; readonly isUncertain: boolean } {
  const isRemoval = (entry: Entry): boolean =>
    isQueueOperation(entry) && stringField(entry, "operation") === "remove";
  if (!entries.some(isRemoval) || entries.some(isFromQueue)) return { entries, isUncertain: false };
  const queue = new MessageQueue<number>(isWholeFile);
  for (const [at, entry] of entries.entries()) queue.add(entry, at);
  const messages = queue.end();
  const { isUncertain } = queue;
  if (messages.length === 0) return { entries, isUncertain };
  const placed = [...entries];
  // A subagent's own file has only sidechain entries.
  const hasMainThread = entries.some((entry) => isSpoken(entry) && entry.isSidechain !== true);
  const isAside = (entry: Entry): boolean => hasMainThread && entry.isSidechain === true;
  for (const message of messages) {
    const above = entries.findLast((entry, at) => at < message.place && isSpoken(entry) && !isAside(entry));
    placed[message.place] = asEntry(message, above, entries[message.place] as Entry);
  }
  return { entries: placed, isUncertain };
}

const isSpoken = (entry: Entry): boolean =>
  (entry.type === "user" || entry.type === "assistant") && entry.uuid !== undefined && !isFromQueue(entry);

function asEntry(message: QueuedMessage<number>, above: Entry | undefined, line: Entry): UserEntry {
  const sessionId = stringField(line, "sessionId");
  const hostFields = HOST_FIELDS.map((name) => [name, field(above, name)] as const);
  return {
    ...Object.fromEntries(hostFields.filter(([, value]) => value !== undefined)),
    ...(sessionId === undefined ? {} : { sessionId }),
    uuid: message.uuid,
    parentUuid: above?.uuid ?? null,
    timestamp: message.timestamp ?? above?.timestamp ?? "",
    type: "user",
    message: { role: "user", content: message.text },
    fromQueue: true,
  };
}

const HOST_FIELDS = [
  "isSidechain",
  "userType",
  "entrypoint",
  "cwd",
  "version",
  "gitBranch",
  "slug",
  "agentId",
];
