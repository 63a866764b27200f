import type { ContentBlock, Entry, ModelReply, TranscriptPort } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import type { CompactionPorts } from "@longhaul/core/compaction";
import type { Attachment, EntryLink } from "@longhaul/core/messages";
import type { TranscriptWriter } from "@longhaul/sessions";
import type { AgentEvent } from "../agent-events.ts";
import { Queue } from "../closable-queue.ts";

export interface JournalOptions {
  readonly writer: TranscriptWriter;
  /** Fields of every line of the session. */
  readonly fields: Pick<EntryLink, "sessionId" | "cwd" | "isSidechain"> & { readonly agentId?: string };
  /** Conversation of a resumed session. */
  readonly entries: readonly Entry[];
  readonly ports: CompactionPorts;
  readonly emit: (event: AgentEvent) => void;
}

/**
 * Conversation and its transcript. An entry is on disk before it is used, so a killed process loses nothing
 * that was shown. Failed writes are retried before the next write, because readers treat the last line as the
 * newest.
 */
export class Journal {
  readonly transcript: TranscriptPort;
  readonly #options: JournalOptions;
  readonly #written: Set<string>;
  /** Entries of the conversation that may be missing in the transcript. */
  #waiting: Entry[] = [];
  /** Reason of the last failed write. Each reason is reported once. */
  #failure: string | undefined;
  /**
   * Queue of writes. The engine and the journal write to one file, so the queue orders their writes and
   * prevents duplicates.
   */
  readonly #writing = new Queue();
  /**
   * Entries of the conversation. Until the engine returns another list, entries are only added at the end,
   * because the engine looks for new entries there.
   */
  #entries: Entry[];
  #conversationId: string;
  /** Ids of entries that were already reported. Entries after the last reported entry are new. */
  readonly #reported: Set<string>;

  constructor(options: JournalOptions) {
    const { writer, entries, ports } = options;
    this.#options = options;
    this.#entries = [...entries];
    this.#conversationId = ports.newUuid();
    this.#written = new Set(uuidsOf(entries));
    this.#reported = new Set(uuidsOf(entries));
    this.transcript = {
      path: writer.path,
      append: (added) => this.#writing.run(() => this.#write(added)),
      has: (uuid) => this.#written.has(uuid),
      read: (uuids) => writer.read(uuids),
      stepBack: (choice) => writer.stepBack(choice),
    };
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get conversationId(): string {
    return this.#conversationId;
  }

  /** Adds a message for the model. `fields` are for later readers of the session. */
  async say(
    content: string | readonly ContentBlock[],
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    await this.#add({
      ...this.#link(),
      ...fields,
      type: "user",
      message: { role: "user", content },
    } as Entry);
  }

  async attach(attachment: Attachment): Promise<void> {
    await this.#add({ ...this.#link(), type: "attachment", attachment });
  }

  async reply({ id, model, content, stopReason, usage }: ModelReply): Promise<void> {
    // The API rejects an empty answer in the next request.
    if (content.length === 0) return;
    await this.#add({
      ...this.#link(),
      type: "assistant",
      message: { id, model, role: "assistant", content, stop_reason: stopReason, usage },
    });
  }

  /** Adds the received part of an interrupted answer. */
  async partial(text: string, model: string): Promise<void> {
    await this.#add({
      ...this.#link(),
      type: "assistant",
      message: { model, role: "assistant", content: [{ type: "text", text }], stop_reason: null },
    });
  }

  /** Reports a message that the engine creates during a compaction. */
  report(entry: Entry): void {
    if (entry.type === "system" && entry.subtype === "compact_boundary") {
      this.#conversationId = this.#options.ports.newUuid();
    }
    this.#emit(entry);
  }

  /** Continues with the conversation that the engine returned. */
  resumeFrom(entries: readonly Entry[]): void {
    if (entries !== this.#entries) this.#entries = [...entries];
    const isNew = ({ uuid }: Entry): boolean => uuid !== undefined && !this.#reported.has(uuid);
    const known = entries.findLastIndex((entry) => !isNew(entry));
    const added = entries.slice(known + 1);
    // The engine writes these entries. If it fails, the journal writes them before the next message.
    this.#waiting.push(...added);
    for (const entry of added) this.#emit(entry);
  }

  /** Resolves when all entries are on disk. */
  async flush(): Promise<void> {
    await this.#writing.run(() => this.#write(this.#waiting));
  }

  /** Switches to an earlier conversation of the same session, whose entries are all on disk. */
  async goBackTo(entries: readonly Entry[], mark: Entry): Promise<void> {
    await this.#options.writer.append([mark]);
    for (const uuid of uuidsOf([...entries, mark])) {
      this.#written.add(uuid);
      this.#reported.add(uuid);
    }
    this.#entries = [...entries, mark];
    this.#conversationId = this.#options.ports.newUuid();
  }

  async #add(entry: Entry): Promise<void> {
    this.#entries.push(entry);
    this.#waiting.push(entry);
    try {
      await this.flush();
      this.#failure = undefined;
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      if (error.message !== this.#failure) this.#options.emit({ type: "problem", error });
      this.#failure = error.message;
    }
    this.#emit(entry);
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    const missing = entries.filter(({ uuid }) => uuid === undefined || !this.#written.has(uuid));
    if (missing.length > 0) await this.#options.writer.append(missing);
    for (const uuid of uuidsOf(missing)) this.#written.add(uuid);
    this.#waiting = this.#waiting.filter(({ uuid }) => uuid !== undefined && !this.#written.has(uuid));
  }

  #emit(entry: Entry): void {
    if (entry.uuid !== undefined) this.#reported.add(entry.uuid);
    this.#options.emit({ type: "entry", entry, conversationId: this.#conversationId });
  }

  #link(): EntryLink {
    const { fields, ports } = this.#options;
    // A queued message of a resumed session has no separate line, so no other line can name it as its parent.
    const hasLine = (entry: Entry): boolean =>
      entry.uuid !== undefined && !(entry.type === "user" && entry.fromQueue === true);
    const parentUuid = this.#entries.findLast(hasLine)?.uuid ?? null;
    return { parentUuid, ...fields, uuid: ports.newUuid(), timestamp: ports.now().toISOString() };
  }
}

const uuidsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid]));
