import type { BackgroundAgent } from "../compaction/restore/host-state.ts";
import { Pace } from "../measure/cost/pace.ts";
import { measureRequest } from "../measure/tokens/measure.ts";
import type { EntryLink } from "../messages/entry.ts";
import { LonghaulError } from "../messages/errors.ts";
import { formatCount } from "../messages/text.ts";
import { maxMediaFor } from "../request/check/limits.ts";
import { after } from "./after.ts";
import { Background } from "./background.ts";
import { before } from "./before.ts";
import { childOptions } from "./child-options.ts";
import { CurrentTurn, Frame } from "./current-turn.ts";
import { Gauge, usualRatioOf } from "./gauge.ts";
import { Health } from "./health.ts";
import { clearByHand, compactByHand } from "./manual.ts";
import type {
  BeforeOptions,
  ChildOptions,
  ClearOptions,
  CommandsOf,
  Compactor,
  CompactorModule,
  CompactorOptions,
  ManualOptions,
  Message,
  ResponseFacts,
  Turn,
  UndoOptions,
} from "./options.ts";
import { type EngineModule, type EngineParts, ModuleSet } from "./parts.ts";
import { ProviderCache } from "./provider-cache.ts";
import { recover } from "./recover.ts";
import { Reporter } from "./reporter.ts";
import {
  requireBeforeOptions,
  requireChildOptions,
  requireClearOptions,
  requireCompactorOptions,
  requireInstalledForm,
  requireManualOptions,
  requireUndoOptions,
} from "./require-options.ts";
import { type ResolvedOptions, resolveOptions } from "./resolve-options.ts";
import { Thread } from "./thread.ts";
import { TranscriptQueue } from "./transcript-queue.ts";
import { goBack } from "./undo.ts";

/**
 * Keeps one conversation within its model's window: three calls around each model call, and everything else by
 * itself. `modules` are mechanisms that the engine works without; the compactor gets their methods.
 */
export function createCompactor<const Modules extends readonly CompactorModule[] = readonly []>(
  options: CompactorOptions<Modules> = {},
): Compactor<CommandsOf<Modules>> & CommandsOf<Modules> {
  requireCompactorOptions(options);
  return withCommands(options, undefined, undefined) as Compactor<CommandsOf<Modules>> & CommandsOf<Modules>;
}

/** A compactor with the methods of its modules. */
function withCommands(
  options: CompactorOptions,
  agentId: string | undefined,
  parent: ConversationCompactor | undefined,
  onClose?: () => void,
): Compactor {
  requireInstalledForm(options);
  const compactor = new ConversationCompactor(options, agentId, parent, onClose);
  return Object.assign(compactor, compactor.commands());
}

type Command = (...args: readonly unknown[]) => Promise<unknown>;

class ConversationCompactor implements Compactor {
  readonly #parts: EngineParts;
  readonly #options: CompactorOptions;
  readonly #onClose: () => void;
  readonly #children: Map<Compactor, BackgroundAgent> = new Map();
  /** Asynchronous calls run one after the other. `after` and `child` run at once. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    options: CompactorOptions,
    agentId: string | undefined,
    parent: ConversationCompactor | undefined,
    onClose: () => void = () => undefined,
  ) {
    this.#options = options;
    this.#onClose = onClose;
    this.#parts = createParts(resolveOptions(options), {
      agentId,
      parent: parent === undefined ? undefined : parent.#parts,
      subagents: () => [...this.#children.values()],
    });
  }

  get agentId(): string | undefined {
    return this.#parts.agentId;
  }

  get headroomBy(): string | undefined {
    return this.#parts.modules.headroomBy;
  }

  get children(): readonly Compactor[] {
    return [...this.#children.keys()];
  }

  /** The methods of modules, in turn with all others. */
  commands(): object {
    const commands = Object.entries(this.#parts.modules.commands as Readonly<Record<string, Command>>);
    return Object.fromEntries(
      commands.map(([name, command]) => [
        name,
        (...args: readonly unknown[]) => this.#inTurn(() => command(...args)),
      ]),
    );
  }

  before<T extends Message>(messages: readonly T[], options: BeforeOptions = {}): Promise<Turn<T>> {
    return this.#inTurn(() => {
      requireBeforeOptions(options);
      return before(this.#parts, messages, options);
    });
  }

  after(response: ResponseFacts): void {
    after(this.#parts, response);
  }

  recover<T extends Message>(
    error: unknown,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Turn<T> | undefined> {
    return this.#inTurn(() => recover<T>(this.#parts, error, signal));
  }

  compact<T extends Message>(messages: readonly T[], options: ManualOptions = {}): Promise<Turn<T>> {
    return this.#inTurn(() => {
      requireManualOptions(options);
      return compactByHand(this.#parts, messages, options);
    });
  }

  clear<T extends Message>(messages: readonly T[], options: ClearOptions = {}): Promise<Turn<T>> {
    return this.#inTurn(() => {
      requireClearOptions(options);
      return clearByHand(this.#parts, messages, options);
    });
  }

  undo<T extends Message>(messages: readonly T[], options: UndoOptions = {}): Promise<Turn<T>> {
    return this.#goBack(messages, false, options);
  }

  redo<T extends Message>(messages: readonly T[], options: UndoOptions = {}): Promise<Turn<T>> {
    return this.#goBack(messages, true, options);
  }

  child(options: ChildOptions = {}): Compactor {
    requireChildOptions(options);
    const { agentId = this.#parts.options.ports.newUuid(), description = "", ...own } = options;
    const complete = childOptions(this.#options, own);
    const child: Compactor = withCommands(complete, agentId, this, () => this.#children.delete(child));
    this.#children.set(child, { id: agentId, description, status: "running" });
    return child;
  }

  close(): Promise<void> {
    this.#onClose();
    return this.#inTurn(async () => {
      this.#parts.background.close();
      await this.#parts.modules.close();
      await this.#parts.transcript.close();
    });
  }

  #goBack<T extends Message>(messages: readonly T[], redo: boolean, options: UndoOptions): Promise<Turn<T>> {
    return this.#inTurn(() => {
      requireUndoOptions(options);
      return goBack(this.#parts, messages, { redo, signal: options.signal });
    });
  }

  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }
}

interface Conversation {
  readonly agentId: string | undefined;
  readonly parent: Pick<EngineParts, "reporter"> | undefined;
  readonly subagents: EngineParts["subagents"];
}

/** Makes the owners of one conversation's state and introduces them to each other. */
function createParts(options: ResolvedOptions, { agentId, parent, subagents }: Conversation): EngineParts {
  const { ports, facts, modelName, settings } = options;
  const now = (): number => ports.now().getTime();
  const newLink = linkMaker(options, agentId);
  const turn = new CurrentTurn(agentId, ports.newUuid);
  const modules = new ModuleSet((options.modules ?? []) as readonly EngineModule[], { agentId, settings });
  const reporter = new Reporter({
    callbacks: options.host,
    identity: () => ({ agentId, turnId: turn.id }),
    parent: parent?.reporter,
    summaryModel: (options.compaction.model ?? options.model)?.name ?? "",
  });
  const frame = new Frame(options.request, (request) => {
    const measured = measureRequest({ messages: [], ...request }, options.countText);
    return Math.round(measured * usualRatioOf(modelName));
  });
  const thread = new Thread({
    countText: options.countText,
    check: {
      maxMedia: maxMediaFor(facts.windowTokens),
      consecutiveRoles: "accepted",
      ...(modelName === undefined ? {} : { model: modelName }),
    },
    frame: () => frame.checked,
    clearable: { tools: options.clearing.tools, fileTools: options.fileTools },
    overheadTokens: () => frame.tokens,
    newLink,
    bindsThinking: () => gauge.bindsThinking,
    isWritten: options.transcript?.has && ((uuid) => options.transcript?.has?.(uuid) === true),
    isTrusted: (entry) => gauge.isCredible(entry.message.usage),
  });
  const gauge = new Gauge({
    options,
    thread,
    frame,
    leftOut: () => modules.leftOut(),
    isHeadroomOwned: modules.headroomBy !== undefined,
    calls: () => turn.calls,
    emit: reporter.emit,
  });
  const parts: EngineParts = {
    options,
    agentId,
    now,
    newLink,
    thread,
    frame,
    gauge,
    turn,
    health: new Health({ now }),
    cache: new ProviderCache({ now, ttl: options.cacheTtl }),
    pace: new Pace(),
    transcript: new TranscriptQueue(options.transcript, {
      onFailure: (waiting) => reporter.emit({ type: "transcript-failed", waiting }),
      asLine: thread.asLine,
    }),
    reporter,
    background: new Background(() => parts),
    subagents,
    modules,
  };
  modules.attach(parts);
  reportSetup(parts);
  return parts;
}

/** Settings that have no effect, and a window that had to be assumed. */
function reportSetup({ options, agentId, modules, reporter }: EngineParts): void {
  const { settings, modelName = "" } = options;
  const isMissing = settings.collapseEnabled && agentId === undefined && !modules.mayReplaceAutoCompact;
  const missing = isMissing ? ["collapseEnabled is ignored: add spanCollapse() to the modules."] : [];
  for (const warning of [...options.warnings, ...missing])
    reporter.emit({ type: "settings-ignored", warning });
  const assumed = assumedWindow(options);
  if (assumed !== undefined) reporter.noteSetup({ code: "window-assumed", model: modelName }, assumed);
}

/** Ids, times and origin of all entries made here. */
function linkMaker(
  { ports, session: { id: sessionId, cwd } }: ResolvedOptions,
  agentId: string | undefined,
): (parentUuid: string | null) => EntryLink {
  const origin = {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(agentId === undefined ? {} : { isSidechain: true, agentId }),
  };
  // Spread last: V8 takes ten times as long to add fields to a copy.
  return (parentUuid) => ({
    uuid: ports.newUuid(),
    parentUuid,
    timestamp: ports.now().toISOString(),
    ...origin,
  });
}

/** The notice for a model whose window nobody knows. None if somebody said how large it is. */
function assumedWindow({ modelName, facts, settings }: ResolvedOptions): LonghaulError | undefined {
  if (modelName === undefined || facts.windowOrigin !== "default") return undefined;
  if (settings.autoCompactWindow !== undefined) return undefined;
  return new LonghaulError(
    "window-assumed",
    `The model "${modelName}" is not in the table of models, so a context window of ${formatCount(facts.windowTokens)} tokens is assumed.`,
    {
      remedy:
        "Pass window.tokens (--window on the command line), add the model to window.models, or correct its name.",
      facts: { model: modelName, windowTokens: facts.windowTokens },
    },
  );
}
