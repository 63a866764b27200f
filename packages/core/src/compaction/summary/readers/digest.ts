import {
  type AssistantEntry,
  type AttachmentEntry,
  type Entry,
  entryBlocks,
  isCompactBoundary,
  isEntry,
  isSynthetic,
  rawContent,
  type UserEntry,
} from "../../../messages/entry.ts";
import { indexPairs, type PairIndex } from "../../../messages/pairs.ts";
import { isCollapsedSpan } from "../../../messages/stand-ins.ts";
import { isShellTool } from "../../../messages/tool-kinds.ts";
import { contentText, field, stringField, stringListField } from "../../../messages/untrusted.ts";
import { hasClosingReport, launcherOf } from "./agent-reports.ts";
import { type EarlierSummary, earlierSetting, joinEarlier, parseEarlierSummary } from "./earlier-summary.ts";
import {
  type AgentNotice,
  classifyUserText,
  type Exchange,
  type HumanMessageKind,
  isEmpty,
  openExchange,
} from "./exchanges.ts";
import { openDropped, settledTodos } from "./open-items.ts";
import { postedTexts } from "./posted-text.ts";
import { endsWithQuestion, lastSentences, type Remark, remarksIn } from "./prose.ts";
import type { StatedReason } from "./reasons.ts";
import { readNotification, readStartedTask } from "./replies.ts";
import { reasonsAt, statedReasons } from "./stated-reasons.ts";
import { type OpenBefore, type ToolDigest, ToolReader } from "./tool-calls.ts";
import { mentionedNames, NameTally } from "./touched-code.ts";

/** Facts from the structure of a session, read without a model. */
export interface SessionDigest extends ToolDigest {
  /** Folder of the agent at the end. */
  readonly cwd: string | undefined;
  /** Folder of the project, to which paths are relative. The agent may work in a folder inside it. */
  readonly root: string | undefined;
  readonly branch: string | undefined;
  /** Branch that the agent's program noted, if git named another one. */
  readonly notedBranch: string | undefined;
  /** Exchanges in order. The first may have no user message. */
  readonly exchanges: readonly Exchange[];
  readonly remarks: readonly Remark[];
  /** Causes, decisions and corrected beliefs with their reasons, oldest first. */
  readonly reasons: readonly StatedReason[];
  /** Packages, the most used first. Programs and names are sorted in the same way. */
  readonly packages: readonly string[];
  readonly programs: readonly string[];
  readonly names: readonly string[];
  readonly earlier: EarlierSummary | undefined;
  /** Positions of messages that the earlier summary covers, although they follow it. */
  readonly covered: ReadonlySet<number>;
  /** Author of the last thing in the conversation, which shows whose turn it is. */
  readonly lastActor: "person" | "agent" | "tool" | "nobody";
}

const MAX_PACKAGES = 14;
const MAX_PROGRAMS = 8;
const MAX_NAMES = 24;

const NOTHING_COVERED: ReadonlySet<number> = new Set();

/** Reads the entries in one pass. They come from files and can have any shape. */
export function digestSession(
  entries: readonly Entry[],
  before?: OpenBefore,
  { pairs }: PairIndex = indexPairs(entries),
  covered: ReadonlySet<number> = NOTHING_COVERED,
): SessionDigest {
  const reader = new Reader(pairs, before, covered);
  const isSubagent = !entries.some(isMainMessage);
  for (const [at, entry] of entries.entries()) {
    if (!isEntry(entry)) continue;
    const aside = !isSubagent && field(entry, "isSidechain") === true;
    if (entry.type === "assistant") reader.assistant(at, entry, aside);
    else if (entry.type === "user" && !aside) reader.user(at, entry);
    else if (entry.type === "attachment" && !aside) reader.attachment(at, entry);
    else if (isCompactBoundary(entry)) reader.boundary();
  }
  return reader.digest();
}

/** Returns the positions of the messages that the last compaction kept. */
export function preservedIn(entries: readonly Entry[]): ReadonlySet<number> {
  const boundary = entries.findLast((entry) => isEntry(entry) && isCompactBoundary(entry));
  const uuids = new Set(stringListField(field(boundary?.compactMetadata, "preservedMessages"), "uuids"));
  const idOf = (entry: Entry): string | undefined => stringField(entry, "uuid");
  return new Set(entries.flatMap((entry, at) => (uuids.has(idOf(entry) ?? "") ? [at] : [])));
}

function isMainMessage(entry: Entry): boolean {
  if (!isEntry(entry) || (entry.type !== "user" && entry.type !== "assistant")) return false;
  return entry.isSidechain !== true;
}

/** Walks the conversation in order and passes each part to its ledger. */
class Reader {
  readonly #pairs: PairIndex["pairs"];
  readonly #tallies = { names: new NameTally(), packages: new NameTally(), programs: new NameTally() };
  readonly #tools: ToolReader;
  /** Statements in the texts that commands published. */
  readonly #posted: StatedReason[] = [];
  #current = openExchange();
  readonly #exchanges = [this.#current];
  #cwd: string | undefined;
  #root: string | undefined;
  readonly #covered: ReadonlySet<number>;
  #branch: string | undefined;
  #earlier: EarlierSummary | undefined;
  /** True when the messages before the latest boundary were read one by one. */
  #isPastRead = false;
  #interrupted = false;
  #lastActor: SessionDigest["lastActor"] = "nobody";

  constructor(pairs: PairIndex["pairs"], before: OpenBefore | undefined, covered: ReadonlySet<number>) {
    this.#pairs = pairs;
    this.#covered = covered;
    this.#tools = new ToolReader(this.#tallies, before);
  }

  /**
   * Reads an assistant entry. `aside` is true for a subagent's entry in the main file. File changes of a
   * subagent count, but its words do not.
   */
  assistant(at: number, entry: AssistantEntry, aside: boolean): void {
    if (field(field(entry, "message"), "content") === undefined || isSynthetic(entry)) return;
    this.#noteWhere(entry);
    for (const block of entryBlocks(entry)) {
      if (block.type === "text" && typeof block.text === "string" && !aside) this.#agentText(at, block.text);
      else if (block.type === "tool_use" && typeof block.id === "string") this.#toolUse(at, block.id, aside);
    }
  }

  user(at: number, entry: UserEntry): void {
    this.#noteWhere(entry);
    const text = contentText(rawContent(entry));
    // A summary covers the messages before its boundary. If these messages were read one by one, the summary
    // adds nothing. Kept messages, and summaries that were kept with them, may be between the boundary and
    // its summary.
    if (entry.isCompactSummary === true) {
      if (!this.#isPastRead) this.#addEarlier(text);
      return;
    }
    // Read a collapsed span anywhere, because nothing else contains its messages.
    if (isCollapsedSpan(entry)) {
      this.#addEarlier(text, true);
      return;
    }
    this.#tools.todos.prompt(field(entry, "todos"));
    if (entry.isMeta !== true && entry.isVisibleInTranscriptOnly !== true) this.#userText(at, text, entry);
  }

  attachment(at: number, { attachment }: AttachmentEntry): void {
    const type = stringField(attachment, "type");
    if (type === "queued_command") this.#userText(at, contentText(field(attachment, "prompt")), attachment);
    else if (type === "edited_text_file") this.#tools.changedOutside(stringField(attachment, "filename"));
    else this.#tools.todos.attachment(attachment);
  }

  /** Reads a boundary. The summary after the boundary covers the entries before the boundary. */
  boundary(): void {
    this.#isPastRead = !this.#exchanges.every(isEmpty);
  }

  digest(): SessionDigest {
    const exchanges = this.#exchanges.filter((exchange) => !isEmpty(exchange));
    const tools = this.#tools.digest();
    return {
      cwd: this.#cwd,
      root: this.#root,
      ...this.#branches(),
      exchanges,
      ...tools,
      todos: settledTodos(tools.todos, exchanges),
      droppedTodos: openDropped(tools.droppedTodos, tools.todos, exchanges),
      remarks: exchanges.flatMap(remarksOf).filter(({ at }) => !this.#covered.has(at)),
      // Covered messages are read too: a summary by a model may omit their reasons, and repetitions merge.
      reasons: [...statedReasons(exchanges), ...this.#posted].sort((a, b) => a.at - b.at),
      packages: this.#tallies.packages.heaviest(MAX_PACKAGES, 1),
      programs: this.#tallies.programs.heaviest(MAX_PROGRAMS, 2),
      names: this.#tallies.names.heaviest(MAX_NAMES, 2),
      earlier: this.#earlier,
      covered: this.#covered,
      lastActor: this.#lastActor,
    };
  }

  /** Git's own output outranks what the agent's program noted, also in an earlier summary. */
  #branches(): Pick<SessionDigest, "branch" | "notedBranch"> {
    const before = earlierSetting(this.#earlier);
    const known = before.notedBranch === this.#branch ? before.branch : undefined;
    const branch = this.#tools.branch ?? known ?? this.#branch;
    return { branch, notedBranch: branch === this.#branch ? undefined : this.#branch };
  }

  #addEarlier(summary: string, isSpan = false): void {
    this.#earlier = joinEarlier(this.#earlier, parseEarlierSummary(summary), isSpan);
    const { root } = earlierSetting(this.#earlier);
    if (root !== undefined && (this.#root === undefined || isInside(this.#root, root))) this.#root = root;
  }

  #agentText(at: number, text: string): void {
    if (text.trim() === "") return;
    this.#current.texts.push({ at, text });
    this.#tallies.names.add(mentionedNames(text), this.#exchanges.length);
    this.#lastActor = "agent";
  }

  #toolUse(at: number, id: string, aside: boolean): void {
    const pair = this.#pairs.get(id);
    if (pair === undefined || pair.use.entryIndex !== at) return;
    const said = this.#current.texts.at(-1)?.text;
    const round = this.#exchanges.length;
    const setting = { aside, said, round, cwd: this.#cwd, isCovered: this.#covered.has(at) };
    const words = this.#tools.call(at, pair, this.#current, setting);
    if (aside) return;
    this.#lastActor = "tool";
    if (isShellTool(pair.name)) this.#shellText(at, stringField(field(pair.use.block, "input"), "command"));
    // The message gets the position of the tool result, which contains the user's words.
    if (words !== undefined) this.#message(pair.results[0]?.entryIndex ?? at, "remark", words);
  }

  #shellText(at: number, command: string | undefined): void {
    for (const text of command === undefined ? [] : postedTexts(command))
      this.#posted.push(...reasonsAt(at, text, "assistant"));
  }

  /** Reads a user text. `source` may show that no user wrote the text. */
  #userText(at: number, raw: string, source: unknown): void {
    const origin = stringField(field(source, "origin"), "kind");
    if (origin !== undefined && origin !== "human" && !raw.includes("<task-notification")) return;
    const started = readStartedTask(at, raw);
    if (started !== undefined) this.#tools.started(started);
    const text = classifyUserText(raw);
    if (text.kind === "interruption") this.#interrupted = true;
    else if (text.kind === "notification") this.#notification(at, text.text);
    else if (text.kind !== "none") this.#message(at, text.kind, text.text);
  }

  /**
   * Reads the notice of a background task. The requests since its start were under way until now, unless they
   * have a closing report of their own.
   */
  #notification(at: number, text: string): void {
    const launchedAt = this.#tools.notification(at, readNotification(text));
    if (launchedAt === undefined) return;
    const from = Math.max(0, launcherOf(this.#exchanges, launchedAt));
    for (const [index, exchange] of this.#exchanges.slice(from, -1).entries())
      exchange.isUnfinished ||= index === 0 || !hasClosingReport(exchange);
    const [launcher, after] = [this.#exchanges[from], this.#exchanges[from + 1]];
    const isLast = !this.#tools.runsFrom(launcher?.message?.at ?? 0, after?.message?.at);
    if (launcher !== undefined) launcher.agentsUntil = isLast ? at : Number.POSITIVE_INFINITY;
    this.#resume({ at, launchedAt, isLast }, from);
  }

  /** Notes after which notice the agent goes to work again. `from`: index of the launching exchange. */
  #resume(notice: AgentNotice, from: number): void {
    const { resumed, texts } = this.#current;
    const before = resumed.at(-1);
    const isJoint = before !== undefined && (texts.at(-1)?.at ?? 0) < before.at;
    const isSame =
      before?.launchedAt !== undefined && launcherOf(this.#exchanges, before.launchedAt) === from;
    const isKnown = isSame || (!isJoint && this.#lastActor === "agent");
    if (isKnown) resumed.push(notice);
    else if (before !== undefined) resumed.push({ ...notice, launchedAt: undefined });
  }

  #message(at: number, kind: HumanMessageKind, text: string): void {
    const agentsRun = this.#tools.runsFrom(this.#current.message?.at ?? 0);
    if (agentsRun) this.#current.agentsUntil = Number.POSITIVE_INFINITY;
    this.#current.isUnfinished =
      this.#interrupted || this.#lastActor === "tool" || this.#lastActor === "person" || agentsRun;
    this.#current = openExchange({ at, text, kind, afterInterruption: this.#interrupted });
    this.#exchanges.push(this.#current);
    this.#interrupted = false;
    if (kind === "request" || kind === "remark") this.#lastActor = "person";
  }

  #noteWhere(entry: Entry): void {
    const cwd = stringField(entry, "cwd");
    if (cwd !== undefined) {
      this.#cwd = cwd;
      if (this.#root === undefined || !isInside(cwd, this.#root)) this.#root = cwd;
    }
    const noted = stringField(entry, "gitBranch") || this.#branch;
    // The note is taken at the start of a program, so git's own output outlives it until the note changes.
    if (noted !== this.#branch && this.#branch !== undefined) this.#tools.branch = undefined;
    this.#branch = noted;
  }
}

const isInside = (path: string, folder: string): boolean =>
  `${path}/`.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`);

function remarksOf({ texts }: Exchange): Remark[] {
  return texts.flatMap(({ at, text }, index) => remarksIn(text, at, index === texts.length - 1));
}

/** Next move as far as the session shows it. Says who has to make the move, and which words show it. */
type NextMove =
  /** The agent asked through a tool and has no answer yet. */
  | { readonly kind: "answer-awaited"; readonly question: string }
  /** Nothing has been done about the latest message. */
  | { readonly kind: "message-unanswered" }
  /** The agent was in the middle of its work. `said` is its last text. */
  | { readonly kind: "work-under-way"; readonly said: string | undefined }
  /** The agent answered and asked something in its text. */
  | { readonly kind: "reply-awaited"; readonly question: string }
  | { readonly kind: "todos-open"; readonly said: string | undefined }
  | { readonly kind: "agents-running"; readonly said: string | undefined }
  | { readonly kind: "all-done"; readonly said: string | undefined };

/** Number of last sentences that can contain a question to the user. */
const QUESTION_WITHIN_SENTENCES = 3;

/** Returns the next move, or undefined if nothing has happened. `lastText`: the agent's last text. */
export function nextMove(digest: SessionDigest, lastText: string | undefined): NextMove | undefined {
  const open = digest.openQuestions.at(-1);
  if (open !== undefined) return { kind: "answer-awaited", question: open };
  if (digest.lastActor === "nobody") return undefined;
  if (digest.lastActor === "person") return { kind: "message-unanswered" };
  const closing = lastText === undefined ? [] : lastSentences(lastText, QUESTION_WITHIN_SENTENCES);
  const said = closing.at(-1);
  if (digest.lastActor === "tool") return { kind: "work-under-way", said };
  const question = closing.findLast(endsWithQuestion);
  if (question !== undefined) return { kind: "reply-awaited", question };
  if (digest.todos.some((todo) => todo.status !== "completed")) return { kind: "todos-open", said };
  const isWaiting = digest.runningTasks.some(({ isIndependent }) => isIndependent !== true);
  return { kind: isWaiting ? "agents-running" : "all-done", said };
}
