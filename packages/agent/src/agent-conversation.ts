import {
  apiClearing,
  type CommandsOf,
  type Compactor,
  type CompactorModule,
  type CompactorOptions,
  cachedEdits,
  type Entry,
  type HostState,
  LonghaulError,
  type Model,
  memoryFiles,
  messageSnip,
  spanCollapse,
} from "@longhaul/core";
import type { RequestFrame } from "@longhaul/core/compaction";
import type { WindowSources } from "@longhaul/core/engine";
import {
  computeThresholds,
  contextTokens,
  resolveSettings,
  sessionWindow,
  type Thresholds,
  windowState,
} from "@longhaul/core/measure";
import { MODEL_TIME_LIMITS } from "@longhaul/core/models";
import type { CollapseCommands, CollapseOptions, SnipCommands } from "@longhaul/core/modules";
import { type NotesOptions, sessionNotes } from "@longhaul/notes";
import { fileState, memoryFilesPort, type TranscriptWriter } from "@longhaul/sessions";
import type { AgentEvent, WindowReading } from "./agent-events.ts";
import type { AgentType } from "./agent-options.ts";
import { ConversationLoop } from "./loop/conversation-loop.ts";
import { Journal } from "./loop/journal.ts";
import { type CallPorts, resultLimit } from "./loop/run-calls.ts";
import type { SharedServices } from "./shared-services.ts";
import { systemPrompt } from "./system-prompt.ts";
import type { Tool } from "./tool.ts";
import { standardTools } from "./tools/standard-tools.ts";
import { createReadState } from "./workplace/seen-files.ts";
import type { AgentRoster, AgentState, Workplace } from "./workplace.ts";

/**
 * Settings of one conversation: the main conversation, or a subagent's conversation with its own window and
 * read state.
 */
export interface ConversationSpec {
  /** Id of the subagent. Undefined for the main conversation. */
  readonly agentId: string | undefined;
  readonly agentType?: AgentType | undefined;
  /** Selects the tools of this conversation by name. Default: all tools. */
  readonly hasTool?: (name: string) => boolean;
  readonly writer: TranscriptWriter;
  readonly entries: readonly Entry[];
  readonly state: AgentState;
  readonly agents: AgentRoster;
  readonly emit: (event: AgentEvent) => void;
}

/** Optional engine modules that the agent uses. */
type AgentModules = ReturnType<typeof modulesFor>;
type AgentCommands = CommandsOf<AgentModules>;
export type AgentCompactor = Compactor<AgentCommands> & AgentCommands;

/** Selects the engine modules. The engine attaches the memory files of `memoryFolder`. */
function modulesFor(
  { notes, collapse }: Pick<EngineSpec, "notes" | "collapse">,
  memoryFolder: string | undefined,
): readonly (CompactorModule | CompactorModule<SnipCommands> | CompactorModule<CollapseCommands>)[] {
  return [
    cachedEdits(),
    apiClearing(),
    messageSnip(),
    spanCollapse(collapse ?? { enabled: "by-setting" }),
    ...(notes === undefined ? [] : [sessionNotes(notes)]),
    ...(memoryFolder === undefined
      ? []
      : [
          memoryFiles({
            cwd: memoryFolder,
            port: memoryFilesPort({ cwd: memoryFolder }),
            fromStart: true,
          }),
        ]),
  ];
}

export interface EngineSpec {
  readonly model: Model;
  readonly windowTokens: number | undefined;
  /** Window size that the resumed session's file proves. Null if the file proves none. */
  readonly windowEvidence?: WindowSources["evidence"];
  readonly notes: NotesOptions | undefined;
  readonly notesPath?: string | undefined;
  /** Options of context collapse, only for the main conversation. */
  readonly collapse?: CollapseOptions | undefined;
  /** Function that creates the compactor: `createCompactor`, or the `child` method of a parent compactor. */
  readonly create: (options: CompactorOptions<AgentModules>) => AgentCompactor;
}

export class Conversation {
  readonly journal: Journal;
  readonly place: Workplace;
  readonly tools: readonly Tool[];
  readonly #services: SharedServices;
  readonly #spec: ConversationSpec;
  /**
   * System prompt. It is constant for the whole conversation, like the tools, so the prompt cache stays
   * valid.
   */
  readonly #system: string;
  #forgetting: Promise<unknown> = Promise.resolve();
  #compactor: AgentCompactor;
  #loop: ConversationLoop;
  #model: Model;

  constructor(services: SharedServices, spec: ConversationSpec, engine: EngineSpec) {
    this.#services = services;
    this.#spec = spec;
    const { agentId, writer, entries, emit } = spec;
    const { sessionId, cwd, ports } = services;
    const sidechain = agentId === undefined ? {} : { isSidechain: true, agentId };
    const fields = { sessionId, cwd, ...sidechain };
    this.journal = new Journal({ writer, fields, entries, ports, emit });
    this.place = workplaceOf(services, spec, {
      resultLimit: () => this.#resultLimit(),
      smallModel: modelWithProgress(() => services.options.smallModel ?? this.#model, emit),
    });
    this.tools = (services.options.tools ?? standardTools)(this.place).filter(
      ({ definition }) => spec.hasTool?.(definition.name) ?? true,
    );
    this.#system = systemPrompt({
      ...{ cwd, platform: process.platform, date: ports.now(), isGitRepo: services.isGitRepo },
      model: engine.model.name,
      tools: this.tools.map(({ definition }) => definition.name),
      instructions: services.options.instructions,
      agentType: spec.agentType,
    });
    this.#model = engine.model;
    [this.#compactor, this.#loop] = this.#connect(engine);
  }

  get model(): Model {
    return this.#model;
  }

  get compactor(): AgentCompactor {
    return this.#compactor;
  }

  get loop(): ConversationLoop {
    return this.#loop;
  }

  /** Returns the mode in the form that session files and hooks use. */
  permissionMode(): string {
    return this.#spec.state.isPlanMode ? "plan" : this.#services.permissions.mode;
  }

  /**
   * Switches to another model or another note taker. The conversation stays the same and gets a new engine.
   */
  async reconnect(engine: EngineSpec): Promise<void> {
    // The journal keeps the entries that the engine could not write.
    await this.#compactor.close().catch((error: unknown) => {
      if (!(error instanceof LonghaulError)) throw error;
      this.#spec.emit({ type: "problem", error });
    });
    this.#model = engine.model;
    [this.#compactor, this.#loop] = this.#connect(engine);
  }

  /** Resolves when all entries are on disk. */
  async close(): Promise<void> {
    await this.#compactor.close();
    await this.journal.flush();
  }

  #connect(engine: EngineSpec): readonly [AgentCompactor, ConversationLoop] {
    const { journal, tools } = this;
    const { emit, agents, agentId } = this.#spec;
    const { model } = engine;
    const thresholds = thresholdsFor(engine, this.#services);
    const compactor = engine.create(this.#engineOptions(engine, thresholds));
    const loop = new ConversationLoop({
      journal,
      compactor,
      model,
      tools,
      retries: this.#services.options.retries,
      firstByteMs:
        this.#services.options.compactor?.compaction?.firstByteTimeoutMs ?? MODEL_TIME_LIMITS.firstByteMs,
      reading: readingOf(journal.entries, thresholds),
      caller: agentId === undefined ? "main" : "subagent",
      mayRun: this.#mayRun,
      resultLimit: () => this.#resultLimit(),
      outputFolder: this.#services.outputFolder,
      news: () => agents.news(),
      emit,
      now: () => this.#services.ports.now().getTime(),
    });
    return [compactor, loop];
  }

  #resultLimit(): number {
    return resultLimit(this.#loop.reading.thresholds);
  }

  readonly #mayRun: CallPorts["mayRun"] = async (tool, input, context) => {
    const { state, agentId } = this.#spec;
    await this.#forgetting;
    const needs = await tool.needs(input, context);
    const verdict = await this.#services.permissions.check(needs, {
      signal: context.signal,
      agentId,
      isPlanMode: state.isPlanMode,
      isReadOnly: tool.isReadOnly,
      tool: tool.definition.name,
    });
    if (verdict.allowed) return undefined;
    const { refusals, byPerson, words } = verdict;
    const { callId } = context;
    this.#spec.emit({ type: "refused", callId, tool: tool.definition.name, refusals, byPerson });
    return { refusal: words };
  };

  #engineOptions(engine: EngineSpec, thresholds: Thresholds): CompactorOptions<AgentModules> {
    const { journal, place } = this;
    const { options, cwd, ports, sessionId, files, isWideFolder } = this.#services;
    return {
      ...options.compactor,
      model: engine.model,
      window: {
        ...options.compactor?.window,
        tokens: engine.windowTokens,
        evidence: engine.windowEvidence,
      },
      request: this.#frame(thresholds),
      // If the working folder is the home folder or contains it, attaches no memory files. In such a folder,
      // the memory file of any project could import any file.
      modules: modulesFor(engine, isWideFolder ? undefined : cwd),
      transcript: journal.transcript,
      state: this.#hostState(engine),
      ports,
      session: { id: sessionId, cwd, permissionMode: () => this.permissionMode() },
      host: {
        ...this.#eventCallbacks(),
        onMessage: (entry) => journal.report(entry),
        onFilesForgotten: (paths) => {
          // Several calls of this function can run at the same time. The next model call waits for all of
          // them.
          this.#forgetting = Promise.all([this.#forgetting, forgetFiles(paths, place)]);
        },
        caches: [() => place.reads.clear(), () => files.clear()],
      },
    };
  }

  #eventCallbacks(): NonNullable<CompactorOptions["host"]> {
    const { emit } = this.#spec;
    let isCompacting = false;
    return {
      onEvent: (event) => emit({ type: "compactor", event }),
      onStatus: (status) => {
        const isNew = (status === "compacting") !== isCompacting;
        isCompacting = status === "compacting";
        if (isNew)
          emit(isCompacting ? { type: "compacting", progress: undefined } : { type: "compacting-ended" });
      },
      onProgress: (progress) => emit({ type: "compacting", progress }),
      onHookMessage: (text) => emit({ type: "hook", text }),
    };
  }

  #frame({ size, effective }: Thresholds): RequestFrame {
    // By default, an answer gets the tokens that the thresholds reserve for it. A longer answer would not fit
    // into a nearly full window.
    const max_tokens = this.#services.options.maxOutputTokens ?? size - effective;
    return { system: this.#system, tools: this.tools.map(({ definition }) => definition), max_tokens };
  }

  #hostState({ notesPath }: EngineSpec): HostState {
    const { state, agents } = this.#spec;
    return {
      ...fileState({
        folder: this.#services.isWideFolder ? undefined : this.#services.cwd,
        planPath: state.planPath,
        notesPath,
      }),
      todos: () => state.todos,
      isPlanMode: () => state.isPlanMode,
      skills: () => state.usedSkills,
      agents: () => agents.list(),
      tools: () => this.tools.map(({ definition }) => definition.name),
    };
  }
}

function workplaceOf(
  services: SharedServices,
  { agentId, state, agents, writer }: ConversationSpec,
  changing: Pick<Workplace, "resultLimit" | "smallModel">,
): Workplace {
  const { cwd, paths, files, shells, skills, outputFolder } = services;
  const { person } = services.permissions;
  const own = { agentId, state, agents, reads: createReadState(), sessionPath: writer.path };
  return { cwd, paths, files, shells, skills, outputFolder, person, ...own, ...changing };
}

/**
 * Computes the thresholds that apply until the first turn. After that, the engine reports its own thresholds.
 */
function thresholdsFor(spec: EngineSpec, { options }: SharedServices): Thresholds {
  const { model, windowTokens, windowEvidence: evidence = null } = spec;
  const { window, settings: given } = options.compactor ?? {};
  const { settings } = resolveSettings({ ...given, environment: given?.environment ?? process.env });
  const session = { model: model.name, entries: [] };
  const isCollapsed =
    spec.collapse === undefined ? settings.collapseEnabled : spec.collapse.enabled !== false;
  const modes = { ...settings, collapseEnabled: isCollapsed };
  return computeThresholds(
    sessionWindow(session, { windowTokens, models: window?.models, settings, evidence }),
    modes,
  );
}

function readingOf(entries: readonly Entry[], thresholds: Thresholds): WindowReading {
  const tokens = contextTokens(entries);
  return { tokens, thresholds, window: windowState(tokens, thresholds) };
}

/** Forgets files that the agent can no longer see in its context, so that it reads them again. */
async function forgetFiles(paths: readonly string[], { paths: rules, reads }: Workplace): Promise<void> {
  const resolved = await Promise.allSettled(paths.map((path) => rules.resolve(path)));
  for (const each of resolved) if (each.status === "fulfilled") reads.forget(each.value.realPath);
}

/** Creates a model that calls the current model, and emits an event with the usage of each call. */
function modelWithProgress(current: () => Model, emit: (event: AgentEvent) => void): Model {
  return {
    get name() {
      return current().name;
    },
    get capabilities() {
      return current().capabilities;
    },
    async *stream(request, call) {
      const model = current();
      for await (const event of model.stream(request, call)) {
        if (event.type === "end") {
          const { usage, model: answered } = event.reply;
          emit({ type: "usage", usage, model: answered || model.name });
        }
        yield event;
      }
    },
    countTokens: (request, call) => current().countTokens(request, call),
  };
}
