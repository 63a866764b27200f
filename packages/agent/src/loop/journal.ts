import type { ContentBlock, Entry, ModelReply, TranscriptPort } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import type { CompactionPorts } from "@longhaul/core/compaction";
import type { Attachment, EntryLink } from "@longhaul/core/messages";
import type { TranscriptWriter } from "@longhaul/sessions";
import type { AgentEvent } from "../agent-events.ts";
import { Queue } from "../turnstile.ts";

export interface JournalOptions {
  readonly writer: TranscriptWriter;
  /** What stands on every line of the session. */
  readonly fields: Pick<EntryLink, "sessionId" | "cwd" | "isSidechain"> & { readonly agentId?: string };
  /** What a session that is resumed had come to. */
  readonly entries: readonly Entry[];
  readonly ports: CompactionPorts;
  readonly emit: (event: AgentEvent) => void;
}

/**
 * The conversation, and its transcript. What is added is on the disk before anything is made of it, so that a process
 * that is killed loses nothing that was shown. What the disk refuses is tried again before whatever comes next: whoever
 * reads the session takes its last line for the newest.
 */
export class Journal {
  readonly transcript: TranscriptPort;
  readonly #options: JournalOptions;
  readonly #written: Set<string>;
  /** Part of the conversation, and perhaps not of the transcript. */
  #waiting: Entry[] = [];
  /** The reason of the last failed write. Each reason is reported once. */
  #failure: string | undefined;
  /** The engine and the journal write to one file: one after the other, and nothing twice. */
  readonly #writing = new Queue();
  /** Only ever added to until the engine hands back another: it sees what is new at the end. */
  #entries: Entry[];
  #conversationId: string;
  /** Those that were told of already, by the newest: what the engine adds comes at the end. */
  readonly #told: Set<string>;

  constructor(options: JournalOptions) {
    const { writer, entries, ports } = options;
    this.#options = options;
    this.#entries = [...entries];
    this.#conversationId = ports.newUuid();
    this.#written = new Set(uuidsOf(entries));
    this.#told = new Set(uuidsOf(entries));
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

  /** Words to the model; `fields` are for whoever reads the session later. */
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
    // An answer without any content is nothing that could be sent back.
    if (content.length === 0) return;
    await this.#add({
      ...this.#link(),
      type: "assistant",
      message: { id, model, role: "assistant", content, stop_reason: stopReason, usage },
    });
  }

  /** What was heard of an answer that broke off. */
  async partial(text: string, model: string): Promise<void> {
    await this.#add({
      ...this.#link(),
      type: "assistant",
      message: { model, role: "assistant", content: [{ type: "text", text }], stop_reason: null },
    });
  }

  /** One of a compaction's own messages, as the engine makes it. */
  tell(entry: Entry): void {
    if (entry.type === "system" && entry.subtype === "compact_boundary") {
      this.#conversationId = this.#options.ports.newUuid();
    }
    this.#emit(entry);
  }

  /** What the engine handed back. */
  goOnWith(entries: readonly Entry[]): void {
    if (entries !== this.#entries) this.#entries = [...entries];
    const isNew = ({ uuid }: Entry): boolean => uuid !== undefined && !this.#told.has(uuid);
    const known = entries.findLastIndex((entry) => !isNew(entry));
    const added = entries.slice(known + 1);
    // The engine writes them; where it cannot, they still come before what is said next.
    this.#waiting.push(...added);
    for (const entry of added) this.#emit(entry);
  }

  /** Resolves when everything is written for good. */
  async flush(): Promise<void> {
    await this.#writing.run(() => this.#write(this.#waiting));
  }

  /** Another conversation of the same session, all of which is written already. */
  async goBackTo(entries: readonly Entry[], mark: Entry): Promise<void> {
    await this.#options.writer.append([mark]);
    for (const uuid of uuidsOf([...entries, mark])) {
      this.#written.add(uuid);
      this.#told.add(uuid);
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
    if (entry.uuid !== undefined) this.#told.add(entry.uuid);
    this.#options.emit({ type: "entry", entry, conversationId: this.#conversationId });
  }

  #link(): EntryLink {
    const { fields, ports } = this.#options;
    // A message that only the queue of a resumed session holds has no line to hang on.
    const hasLine = (entry: Entry): boolean =>
      entry.uuid !== undefined && !(entry.type === "user" && entry.fromQueue === true);
    const parentUuid = this.#entries.findLast(hasLine)?.uuid ?? null;
    return { parentUuid, ...fields, uuid: ports.newUuid(), timestamp: ports.now().toISOString() };
  }
}

const uuidsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid]));
