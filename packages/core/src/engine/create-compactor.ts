import type { BackgroundAgent } from "../compaction/restore/host-state.ts";
import { Pace } from "../measure/cost/pace.ts";
import { measureRequest } from "../measure/tokens/measure.ts";
import type { EntryLink } from "../messages/entry.ts";
import { LonghaulError } from "../messages/errors.ts";
import { formatCount } from "../messages/text.ts";
import { loadPart } from "../models/load-part.ts";
import { maxMediaFor } from "../request/check/limits.ts";
import { after } from "./after.ts";
import { BackgroundSummarizer } from "./background.ts";
import { before } from "./before.ts";
import { childOptions } from "./child-options.ts";
import { CurrentTurn, Frame } from "./current-turn.ts";
import { Gauge, typicalRatioOf } from "./gauge.ts";
import { Health } from "./health.ts";
import { clearManually, compactManually } from "./manual.ts";
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
import { codeOf, Reporter } from "./reporter.ts";
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
import { ingest } from "./rewrite.ts";
import { Thread } from "./thread.ts";
import { TranscriptQueue } from "./transcript-queue.ts";

/**
 * Keeps one conversation within its model's context window, with three calls around each model call.
 * `modules` are optional mechanisms, whose methods become methods of the compactor.
 */
export function createCompactor<const Modules extends readonly CompactorModule[] = readonly []>(
  options: CompactorOptions<Modules> = {},
): Compactor<CommandsOf<Modules>> & CommandsOf<Modules> {
  requireCompactorOptions(options);
  return withCommands(options, undefined, undefined) as Compactor<CommandsOf<Modules>> & CommandsOf<Modules>;
}

/** Returns a compactor with the methods of its modules. */
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
  /** Asynchronous calls run one after another. `after` and `child` run immediately. */
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

  /** Returns the methods of the modules. Their calls are queued with all other calls. */
  commands(): object {
    const commands = Object.entries(this.#parts.modules.commands as Readonly<Record<string, Command>>);
    return Object.fromEntries(
      commands.map(([name, command]) => [
        name,
        (...args: readonly unknown[]) => this.#enqueue(() => command(...args)),
      ]),
    );
  }

  before<T extends Message>(messages: readonly T[], options: BeforeOptions = {}): Promise<Turn<T>> {
    return this.#enqueue(() => {
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
    return this.#enqueue(() => recoverIfLoaded<T>(this.#parts, error, signal));
  }

  compact<T extends Message>(messages: readonly T[], options: ManualOptions = {}): Promise<Turn<T>> {
    return this.#enqueue(() => {
      requireManualOptions(options);
      return compactManually(this.#parts, messages, options);
    });
  }

  clear<T extends Message>(messages: readonly T[], options: ClearOptions = {}): Promise<Turn<T>> {
    return this.#enqueue(() => {
      requireClearOptions(options);
      return clearManually(this.#parts, messages, options);
    });
  }

  undo<T extends Message>(messages: readonly T[], options: UndoOptions = {}): Promise<Turn<T>> {
    return this.#undoOrRedo(messages, false, options);
  }

  redo<T extends Message>(messages: readonly T[], options: UndoOptions = {}): Promise<Turn<T>> {
    return this.#undoOrRedo(messages, true, options);
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
    return this.#enqueue(async () => {
      this.#parts.background.close();
      await this.#parts.modules.close();
      await this.#parts.transcript.close();
    });
  }

  #undoOrRedo<T extends Message>(
    messages: readonly T[],
    redo: boolean,
    options: UndoOptions,
  ): Promise<Turn<T>> {
    return this.#enqueue(async () => {
      requireUndoOptions(options);
      // The conversation gets the messages even if the code for an undo cannot be loaded.
      ingest(this.#parts, messages);
      const { undoStep } = await loadPart("undo", () => import("./undo.ts"), options.signal);
      return undoStep<T>(this.#parts, { redo, signal: options.signal });
    });
  }

  #enqueue<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }
}

/**
 * Recovers from a failed call. If the code for that cannot be loaded, reports the failure and returns
 * undefined, so that the host shows the error of its call. A missing connection often causes both. After an
 * abort, nobody wants a retry, so the host gets its error without waiting for a file.
 */
async function recoverIfLoaded<T extends Message>(
  parts: EngineParts,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<Turn<T> | undefined> {
  if (signal?.aborted) return undefined;
  try {
    const { recover } = await loadPart("recovery", () => import("./recover.ts"), signal);
    return await recover<T>(parts, error, signal);
  } catch (failure) {
    if (codeOf(failure) !== "part-not-loaded") throw failure;
    parts.reporter.emit({ type: "recovery-failed", from: codeOf(error), code: codeOf(failure) });
    return undefined;
  }
}

interface Conversation {
  readonly agentId: string | undefined;
  readonly parent: Pick<EngineParts, "reporter"> | undefined;
  readonly subagents: EngineParts["subagents"];
}

/** Creates the parts that own one conversation's state, and connects them. */
function createParts(options: ResolvedOptions, { agentId, parent, subagents }: Conversation): EngineParts {
  const { ports, facts, modelName, settings } = options;
  const now = (): number => ports.now().getTime();
  const newLink = createLinkFactory(options, agentId);
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
    return Math.round(measured * typicalRatioOf(modelName));
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
    omittedTokens: () => modules.omittedTokens(),
    hasHeadroomModule: modules.headroomBy !== undefined,
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
      toLine: thread.toLine,
    }),
    reporter,
    background: new BackgroundSummarizer(() => parts),
    subagents,
    modules,
  };
  modules.attach(parts);
  reportSetup(parts);
  return parts;
}

/** Reports settings that have no effect, and a window size that is only assumed. */
function reportSetup({ options, agentId, modules, reporter }: EngineParts): void {
  const { settings, modelName = "" } = options;
  const isMissing = settings.collapseEnabled && agentId === undefined && !modules.mayReplaceAutoCompact;
  const missing = isMissing ? ["collapseEnabled is ignored: add spanCollapse() to the modules."] : [];
  for (const warning of [...options.warnings, ...missing])
    reporter.emit({ type: "settings-ignored", warning });
  const assumed = assumedWindowNotice(options);
  if (assumed !== undefined) reporter.noteSetup({ code: "window-assumed", model: modelName }, assumed);
}

/** Creates the ids, times and origin of new entries. */
function createLinkFactory(
  { ports, session: { id: sessionId, cwd } }: ResolvedOptions,
  agentId: string | undefined,
): (parentUuid: string | null) => EntryLink {
  const origin = {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(agentId === undefined ? {} : { isSidechain: true, agentId }),
  };
  // The spread comes last, because V8 is ten times slower if fields are added after a spread.
  return (parentUuid) => ({
    uuid: ports.newUuid(),
    parentUuid,
    timestamp: ports.now().toISOString(),
    ...origin,
  });
}

/**
 * Returns the notice for a model with an unknown window. Returns undefined if the host set the window size.
 */
function assumedWindowNotice({ modelName, facts, settings }: ResolvedOptions): LonghaulError | undefined {
  if (modelName === undefined || facts.windowOrigin !== "default") return undefined;
  if (settings.autoCompactWindow !== undefined) return undefined;
  return new LonghaulError(
    "window-assumed",
    `The model "${modelName}" is not in the table of models, so longhaul assumes a context window of ${formatCount(facts.windowTokens)} tokens.`,
    {
      remedy:
        "Pass window.tokens (--window on the command line), add the model to window.models, or correct its name.",
      facts: { model: modelName, windowTokens: facts.windowTokens },
    },
  );
}
