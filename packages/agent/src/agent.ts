import {
  type ContentBlock,
  createCompactor,
  type Entry,
  type ManualOptions,
  type Model,
} from "@longhaul/core";
import { requireWindow } from "@longhaul/core/engine";
import type { Attachment, Todo } from "@longhaul/core/messages";
import { requireModel } from "@longhaul/core/models";
import type { CollapseOptions, SnipSelection } from "@longhaul/core/modules";
import { readHostState } from "@longhaul/core/restore";
import {
  loadSession,
  notesFile,
  notesPath,
  rewindPoints,
  rewindSession,
  undoNotes,
} from "@longhaul/sessions";
import { Conversation, type EngineSpec } from "./agent-conversation.ts";
import type { AgentEvent, RunResult, WindowReading } from "./agent-events.ts";
import type { NotesWriter, PromptAt, RunOptions, SnipResult } from "./agent-options.ts";
import { besideSession, type OpenedSession, withoutForeignUsage } from "./agent-session.ts";
import { createAgentState, type SessionState } from "./agent-state.ts";
import { Roster } from "./agents/roster.ts";
import { runSubagent } from "./agents/subagent.ts";
import { ClosableQueue } from "./closable-queue.ts";
import { type EventQueue, listenTo } from "./loop/event-queue.ts";
import type { PermissionMode } from "./permission.ts";
import type { SharedServices } from "./shared-services.ts";
import type { Tool } from "./tool.ts";
import type { AgentRoster } from "./workplace.ts";

/** Conversation with an agent. Runs one operation at a time: a second run waits for the first to end. */
export type Agent = Pick<LonghaulAgent, keyof LonghaulAgent>;

/** Main conversation of a session, and the operations that users run on it. */
export class LonghaulAgent {
  readonly sessionId: string;
  readonly sessionPath: string;
  readonly cwd: string;
  readonly notesPath: string;
  readonly #roster: Roster;
  readonly #services: SharedServices;
  readonly #session: OpenedSession;
  readonly #state: SessionState;
  readonly #main: Conversation;
  #notes: NotesWriter;
  #collapse: CollapseOptions | undefined;
  #windowTokens: number | undefined;
  /** Queue that receives the events of a run. Outside of a run, the host's callback receives them. */
  #run: EventQueue<AgentEvent> | undefined;
  #closing: Promise<void> | undefined;
  readonly #queue = new ClosableQueue();

  constructor(services: SharedServices, session: OpenedSession) {
    const { options, cwd } = services;
    this.#services = services;
    this.#session = session;
    this.sessionId = session.id;
    this.sessionPath = session.path;
    this.cwd = cwd;
    this.notesPath = notesPath(session.path);
    this.#notes = options.notes ?? "off";
    this.#collapse = options.collapse;
    this.#windowTokens = options.compactor?.window?.tokens;
    const { conversation } = session;
    this.#state = createAgentState({ conversation, planPath: besideSession(session.path, ".plan.md") });
    if (options.isPlanMode !== undefined) this.setPlanMode(options.isPlanMode);
    const emit = (event: AgentEvent): void => this.#emit(event);
    this.#roster = new Roster({
      services,
      conversation,
      emit,
      run: (subagent) => {
        const { model, compactor } = this.#main;
        const own = { model, compactor, windowTokens: this.#windowTokens, state: this.#state };
        return runSubagent({ ...own, services, emit }, subagent);
      },
    });
    const spec = { agentId: undefined, writer: session.writer, entries: conversation };
    this.#main = new Conversation(
      services,
      { ...spec, state: this.#state, agents: this.#roster, emit },
      this.#engine(options.model),
    );
  }

  get model(): Model {
    return this.#main.model;
  }

  get conversation(): readonly Entry[] {
    return this.#main.journal.entries;
  }

  /** Returns the id of the conversation. Each compaction starts a new id. */
  get conversationId(): string {
    return this.#main.journal.conversationId;
  }

  get reading(): WindowReading {
    return this.#main.loop.reading;
  }

  get todos(): readonly Todo[] {
    return this.#state.todos;
  }

  get isPlanMode(): boolean {
    return this.#state.isPlanMode;
  }

  /** Returns the permission mode. After the user has allowed edits for the session, it is `accept-edits`. */
  get permissionMode(): PermissionMode {
    return this.#services.permissions.mode;
  }

  /** True if the working folder is the home folder or contains it. The agent then asks before each action. */
  get isWideFolder(): boolean {
    return this.#services.isWideFolder;
  }

  get planPath(): string {
    return this.#state.planPath;
  }

  get notes(): NotesWriter {
    return this.#notes;
  }

  /** True while context collapse replaces auto-compact. */
  get isCollapseOn(): boolean {
    return this.#main.compactor.headroomBy === "collapse";
  }

  get agents(): AgentRoster {
    return this.#roster;
  }

  get tools(): readonly Tool[] {
    return this.#main.tools;
  }

  /**
   * Sends a prompt to the agent and yields events until the agent has finished. To abort the run, stop
   * iterating.
   */
  run(
    prompt: string | readonly ContentBlock[],
    { signal, maxTurns }: RunOptions = {},
  ): AsyncGenerator<AgentEvent, RunResult> {
    const limit = maxTurns ?? this.#services.options.maxTurns ?? Number.POSITIVE_INFINITY;
    return listenTo(
      (queue, stopped) =>
        this.#queue.alone((within) => {
          this.#run = queue;
          // End the queue before the next run starts, because events in between belong to no run.
          return this.#work(prompt, within, limit).finally(() => queue.end());
        }, stopped),
      signal,
    );
  }

  async #work(
    prompt: string | readonly ContentBlock[],
    signal: AbortSignal,
    maxTurns: number,
  ): Promise<RunResult> {
    const { journal, loop } = this.#main;
    await loop.answerOpenCalls();
    const { isPlanMode, planPath } = this.#state;
    // The conversation may be wrong about plan mode. The user may have switched plan mode, or the message
    // that announced it may have been removed or collapsed.
    const believed = readHostState(journal.entries).isPlanMode;
    await journal.say(prompt, { permissionMode: this.#main.permissionMode() });
    if (isPlanMode !== believed) await journal.attach(planModeNotice(isPlanMode, planPath));
    return await loop.run(signal, maxTurns);
  }

  /**
   * Compacts the conversation. The callback `onEvent` receives the events of this operation and of the
   * operations below. A failed operation changes nothing, and its error says what to do.
   */
  compact(options: ManualOptions = {}): Promise<void> {
    return this.#queue.alone(async (signal) => {
      const { compactor, journal, loop } = this.#main;
      loop.take(await compactor.compact(journal.entries, { ...options, signal }));
    }, options.signal);
  }

  /**
   * Clears results of tools that can run again, except the newest. Resolves with the number of cleared
   * results.
   */
  clearResults({ keep }: { readonly keep?: number | undefined } = {}): Promise<number> {
    return this.#queue.alone(async () => {
      const { compactor, journal, loop } = this.#main;
      const turn = await compactor.clear(journal.entries, { keep });
      loop.take(turn);
      return turn.cleared;
    });
  }

  /**
   * Removes the selected messages from the context and leaves a marker in their place. Resolves after the
   * session file contains the change. The result contains the numbers of removed messages, of added and
   * spared entries, and of freed tokens. `undo` restores the messages.
   */
  snip(selection: SnipSelection): Promise<SnipResult> {
    return this.#queue.alone(async () => {
      const { compactor, journal, loop } = this.#main;
      const turn = await compactor.snip(journal.entries, selection);
      loop.take(turn);
      const { isPlanMode } = this.#state;
      this.#state.readFrom(journal.entries);
      // Removing the message that announced plan mode does not change plan mode.
      this.#state.setPlanMode(isPlanMode);
      return turn.snipped;
    });
  }

  /** Restores the messages of the given collapsed spans, or of all collapsed spans. */
  expand(spanIds?: readonly string[]): Promise<void> {
    return this.#queue.alone(async () => {
      const { compactor, journal, loop } = this.#main;
      loop.take(await compactor.expand(journal.entries, spanIds));
    });
  }

  undo(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    return this.#stepBack("undo", options.signal);
  }

  redo(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    return this.#stepBack("redo", options.signal);
  }

  #stepBack(direction: "undo" | "redo", given: AbortSignal | undefined): Promise<void> {
    return this.#queue.alone(async (signal) => {
      const { compactor, journal, loop } = this.#main;
      loop.take(await compactor[direction](journal.entries, { signal }));
      this.#changed();
    }, given);
  }

  /** Returns user prompts that you can rewind to, newest first, including those from before compactions. */
  prompts(): Promise<readonly PromptAt[]> {
    if (this.conversation.length === 0) return Promise.resolve([]);
    return rewindPoints(this.sessionPath);
  }

  /** Restores the conversation to its state right before this prompt. Does not change files. */
  rewind(promptUuid: string): Promise<void> {
    return this.#queue.alone(async () => {
      const { journal, model } = this.#main;
      try {
        // Wait for entries that are still being written, because they belong to the history.
        await this.#main.close();
        const { conversation, mark } = await rewindSession(
          this.sessionPath,
          promptUuid,
          this.#services.ports,
        );
        await journal.goBackTo(withoutForeignUsage(conversation, this.sessionId), mark);
        this.#changed();
        // A failure here is harmless, because the rewind itself has succeeded. Notes that could not be
        // written stay unused until they are up to date.
        await loadSession(this.sessionPath)
          .then((session) => undoNotes(session))
          .catch(() => undefined);
      } finally {
        // The old engine is closed, so connect a new engine in any case.
        await this.#main.reconnect(this.#engine(model));
      }
    });
  }

  setModel(
    model: Model,
    { windowTokens }: { readonly windowTokens?: number | undefined } = {},
  ): Promise<void> {
    return this.#queue.alone(async () => {
      requireModel(model);
      requireWindow(windowTokens);
      this.#windowTokens = windowTokens;
      await this.#main.reconnect(this.#engine(model));
    });
  }

  setNotes(writer: NotesWriter): Promise<void> {
    return this.#queue.alone(async () => {
      this.#notes = writer;
      await this.#main.reconnect(this.#engine(this.model));
    });
  }

  /** Switches context collapse on or off. Collapsed spans stay collapsed. */
  setCollapse(isOn: boolean): Promise<void> {
    return this.#queue.alone(async () => {
      this.#collapse = { ...this.#collapse, enabled: isOn };
      await this.#main.reconnect(this.#engine(this.model));
    });
  }

  setPlanMode(isOn: boolean): void {
    this.#state.setPlanMode(isOn);
  }

  /** Ends the run and all background work, and waits until everything is on disk. */
  close(): Promise<void> {
    this.#closing ??= this.#queue.close(() => this.#close());
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#roster.close();
    await this.#services.shells.close();
    try {
      await this.#main.close();
    } finally {
      await this.#session.writer.close();
    }
  }

  /** Reads the state again after the conversation was replaced. */
  #changed(): void {
    const { isPlanMode } = this.#state;
    this.#state.readFrom(this.#main.journal.entries);
    // Keeps plan mode on if it was on. Only the user may end plan mode, because anybody may have written the
    // session.
    if (isPlanMode) this.#state.setPlanMode(true);
    this.#main.place.reads.clear();
  }

  #engine(model: Model): EngineSpec {
    const path = this.notesPath;
    const writer = this.#notes;
    return {
      model,
      windowTokens: this.#windowTokens,
      windowEvidence: this.#session.windowEvidence,
      notes: writer === "off" ? undefined : { file: notesFile(path), writer },
      notesPath: writer === "off" ? undefined : path,
      collapse: this.#collapse,
      create: createCompactor,
    };
  }

  #emit(event: AgentEvent): void {
    if (this.#run?.push(event) !== true) this.#services.options.onEvent?.(event);
  }
}

/** Creates a notice in the form in which sessions record the mode, so that a resume recognizes the mode. */
const planModeNotice = (isOn: boolean, planFilePath: string): Attachment =>
  isOn
    ? { type: "plan_mode", reminderType: "full", isSubAgent: false, planFilePath }
    : { type: "plan_mode_exit", message: "Plan mode is off. You may make changes again." };
