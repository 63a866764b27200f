import { isCollapsedSpan } from "../../conversation/collapsed.ts";
import type { AssistantEntry, AttachmentEntry, Entry, UserEntry } from "../../conversation/entry.ts";
import { entryBlocks, isSynthetic, rawContent } from "../../conversation/entry.ts";
import type { ToolPair } from "../../conversation/pairs.ts";
import { contentText, field, stringField } from "../../conversation/untrusted.ts";
import type { OpenBefore, SessionDigest } from "./digest.ts";
import { type Exchange, ExchangeBuilder, isEmpty } from "./exchange.ts";
import { ConceptCounter } from "./read/concepts.ts";
import { type EarlierSummary, joinEarlier, parseEarlierSummary } from "./read/earlier.ts";
import { readNotification } from "./read/findings.ts";
import { classifyUserText, type HumanMessage, type HumanMessageKind } from "./read/human.ts";
import { type Remark, remarksIn } from "./read/remarks.ts";
import { ToolReader } from "./tool-reader.ts";

const MAX_PACKAGES = 14;
const MAX_PROGRAMS = 8;
const MAX_NAMES = 24;

/** Walks the conversation in order and hands each part to the ledger that keeps it. */
export class Reader {
  readonly #pairs: ReadonlyMap<string, ToolPair>;
  readonly #exchanges: ExchangeBuilder[] = [new ExchangeBuilder(undefined)];
  readonly #concepts = new ConceptCounter();
  readonly #tools = new ToolReader(this.#concepts);
  #cwd: string | undefined;
  #branch: string | undefined;
  #earlier: EarlierSummary | undefined;
  /** True when the messages before the latest boundary were read one by one. */
  #isPastRead = false;
  #interrupted = false;
  #lastActor: SessionDigest["lastActor"] = "nobody";

  constructor(pairs: ReadonlyMap<string, ToolPair>, before: OpenBefore | undefined) {
    this.#pairs = pairs;
    if (before !== undefined) this.#tools.goOnFrom(before);
  }

  /** `aside`: a subagent's entry in the main file. Its changes to files count, its words do not. */
  assistant(at: number, entry: AssistantEntry, aside: boolean): void {
    if (field(entry, "message") === undefined || isSyntheticSafe(entry)) return;
    this.#noteWhere(entry);
    for (const block of entryBlocks(entry)) {
      if (block.type === "text" && typeof block.text === "string" && !aside) this.#agentText(at, block.text);
      else if (block.type === "tool_use" && typeof block.id === "string") this.#toolUse(at, block.id, aside);
    }
  }

  user(at: number, entry: UserEntry): void {
    this.#noteWhere(entry);
    if (entry.isCompactSummary === true) {
      this.#earlierSummary(contentText(rawContent(entry)));
      return;
    }
    // Wherever it stands: what it stands for is told nowhere else.
    if (isCollapsedSpan(entry)) {
      this.#earlier = joinEarlier(this.#earlier, parseEarlierSummary(contentText(rawContent(entry))));
      return;
    }
    this.#tools.todos.prompt(field(entry, "todos"));
    if (entry.isMeta === true || entry.isVisibleInTranscriptOnly === true) return;
    this.#writtenText(at, contentText(rawContent(entry)), entry);
  }

  attachment(at: number, entry: AttachmentEntry): void {
    const type = stringField(entry.attachment, "type");
    if (type === "queued_command")
      this.#writtenText(at, contentText(field(entry.attachment, "prompt")), entry.attachment);
    else if (type === "edited_text_file")
      this.#tools.changedOutside(stringField(entry.attachment, "filename"));
    else this.#tools.todos.attachment(entry.attachment);
  }

  /** A compaction: what was read before it is what its summary covers. */
  boundary(): void {
    this.#isPastRead = !this.#exchanges.every(isEmpty);
  }

  digest(): SessionDigest {
    const exchanges = this.#exchanges.filter((exchange) => !isEmpty(exchange));
    return {
      cwd: this.#cwd,
      branch: this.#branch,
      exchanges,
      ...this.#tools.findings(),
      remarks: exchanges.flatMap(remarksOf),
      packages: this.#concepts.packages(MAX_PACKAGES),
      programs: this.#concepts.programs(MAX_PROGRAMS),
      names: this.#concepts.names(MAX_NAMES),
      earlier: this.#earlier,
      lastActor: this.#lastActor,
    };
  }

  get #current(): ExchangeBuilder {
    const last = this.#exchanges.at(-1);
    if (last) return last;
    const first = new ExchangeBuilder(undefined);
    this.#exchanges.push(first);
    return first;
  }

  /**
   * A summary covers what stands before its boundary. When that was read entry by entry, the summary says nothing new.
   * Below the boundary it may follow messages that were kept, and other summaries that were kept with them.
   */
  #earlierSummary(text: string): void {
    if (!this.#isPastRead) this.#earlier = joinEarlier(this.#earlier, parseEarlierSummary(text));
  }

  #agentText(at: number, text: string): void {
    if (text.trim() === "") return;
    this.#current.texts.push({ at, text });
    this.#concepts.prose(this.#exchanges.length, text);
    this.#lastActor = "agent";
  }

  #toolUse(at: number, id: string, aside: boolean): void {
    const pair = this.#pairs.get(id);
    if (pair === undefined || pair.use.entryIndex !== at) return;
    const exchange = this.#current;
    const said = exchange.texts.at(-1)?.text;
    const words = this.#tools.call(at, pair, exchange, { aside, said, round: this.#exchanges.length });
    if (aside) return;
    this.#lastActor = "tool";
    // They stand in the result, which is where they can be read again.
    if (words !== undefined) this.#message(pair.results[0]?.entryIndex ?? at, "remark", words);
  }

  /** `source` may say that no person wrote it. */
  #writtenText(at: number, text: string, source: unknown): void {
    const origin = stringField(field(source, "origin"), "kind");
    if (origin !== undefined && origin !== "human" && !text.includes("<task-notification")) return;
    this.#userText(at, text);
  }

  #userText(at: number, raw: string): void {
    const text = classifyUserText(raw);
    if (text.kind === "interruption") this.#interrupted = true;
    else if (text.kind === "notification") this.#tools.notification(at, readNotification(text.text));
    else if (text.kind !== "none") this.#message(at, text.kind, text.text);
  }

  #message(at: number, kind: HumanMessageKind, text: string): void {
    const message: HumanMessage = { at, text, kind, afterInterruption: this.#interrupted };
    this.#interrupted = false;
    this.#exchanges.push(new ExchangeBuilder(message));
    if (kind === "request" || kind === "remark") this.#lastActor = "person";
  }

  #noteWhere(entry: Entry): void {
    this.#cwd = stringField(entry, "cwd") ?? this.#cwd;
    this.#branch = stringField(entry, "gitBranch") || this.#branch;
  }
}

function isSyntheticSafe(entry: AssistantEntry): boolean {
  return field(entry.message, "content") === undefined || isSynthetic(entry);
}

function remarksOf(exchange: Exchange): Remark[] {
  const last = exchange.texts.length - 1;
  return exchange.texts.flatMap(({ at, text }, index) => remarksIn(text, at, index === last));
}
