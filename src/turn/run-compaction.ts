import { tierOf } from "../compaction/apply/assemble.ts";
import { conventionsOf, linesInPlace } from "../compaction/apply/session-lines.ts";
import { type Compaction, type CompactOptions, compact, rebuild } from "../compaction/compact.ts";
import { type CompactionPlan, unchangedTokens } from "../compaction/plan/compaction-plan.ts";
import type { LeastSaving } from "../compaction/worthwhile.ts";
import { attemptsOf, type SummaryProgress } from "../compaction/write/attempts.ts";
import type { PreparedSummary } from "../compaction/write/write-summary.ts";
import { copiedIds } from "../conversation/copies.ts";
import type { Entry, SessionRecord } from "../conversation/entry.ts";
import { asOneWrite } from "../conversation/one-write.ts";
import type { HookOutcome } from "../hooks/hook.ts";
import { memoryFilesNow } from "../memory-files/memory-reader.ts";
import { untilAborted } from "../models/abortable.ts";
import type { NotesDecline } from "../notes/as-summary.ts";
import { notesSource } from "../notes/plan-from-notes.ts";
import type { BackgroundAgent, HostState } from "../restore/host-state.ts";
import { recentlyReadPaths } from "../restore/read-state.ts";
import { provenIn } from "../window/session-window.ts";
import type { Trigger } from "./events.ts";
import { codeOf, failureReason } from "./failure-reason.ts";
import { forkOf } from "./fork.ts";
import { withHostStatus } from "./host-status.ts";
import { netSavingOf, usuallyKept } from "./pay-off.ts";
import { recallToolOf } from "./recall-tool.ts";
import { restart } from "./restart.ts";
import { lastingFailures } from "./setup-notices.ts";
import { limitOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

export interface CompactionRequest {
  readonly trigger: Trigger;
  readonly plan: CompactionPlan;
  /** The summary was written in the background. */
  readonly prepared?: PreparedSummary | undefined;
  /** The summary has been written along the way. */
  readonly notes?: { readonly text: string } | undefined;
  readonly instructions?: string | undefined;
  /** The user insists: compact even if it does not pay. */
  readonly force?: boolean | undefined;
  /** There is no time to ask one. */
  readonly withoutModel?: boolean | undefined;
  /** What the result should stay below. */
  readonly targetTokens: number;
  /** Limit for the sake of unseen results. {@link limitOf} by default. */
  readonly limitTokens?: number | undefined;
  /** What is put back may hold this many tokens. */
  readonly restoreBudgetTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Carries a plan out and lets the conversation go on with the result. A failure leaves everything as it was. */
export async function runCompaction(
  state: ConversationState,
  request: CompactionRequest,
): Promise<Compaction> {
  const startedAt = state.now();
  const { trigger, plan } = request;
  state.emit({ type: "compaction-started", trigger, tokens: plan.tokensBefore });
  try {
    const compaction = await withHostStatus(state.host, {}, async (onProgress) => {
      // What is compacted away must be in the transcript first; better to know before the model is asked.
      await untilAborted(request.signal, state.transcript.flush());
      const made = await compact(plan, state.options.ports, compactOptions(state, request, onProgress));
      await adopt(state, made);
      return made;
    });
    forgetFiles(state, plan);
    reportUnusedNotes(state, request, compaction);
    reportSuccess(state, request, compaction, state.now() - startedAt);
    // The conversation goes on as a new one.
    state.turnId = state.options.ports.newUuid();
    return compaction;
  } catch (error) {
    reportFailure(state, trigger, error, state.now() - startedAt);
    throw error;
  }
}

export function reportFailure(
  state: ConversationState,
  trigger: Trigger,
  error: unknown,
  durationMs: number,
): void {
  const reason = failureReason(error);
  const attempts = attemptsOf(error);
  state.emit({ type: "compaction-failed", trigger, reason, code: codeOf(error), attempts, durationMs });
  state.noteFailure(error);
  state.emitAll(state.breaker.failed({ trigger, reason }));
}

/** For the boundary: a usage may have proven a larger window since the session was opened. */
function recordFor({
  facts,
  options: { modelName: model, windowEvidence },
}: ConversationState): SessionRecord {
  const window = provenIn(model, facts) ?? windowEvidence;
  return { ...(model === undefined ? {} : { model }), ...(window === undefined ? {} : { window }) };
}

/** How this conversation is compacted. */
export function compactOptions(
  state: ConversationState,
  request: CompactionRequest,
  onProgress: (progress: SummaryProgress) => void,
): CompactOptions {
  const { trigger, prepared, notes, instructions, targetTokens, restoreBudgetTokens, signal } = request;
  const { options } = state;
  let retries = 0;
  return {
    prepared,
    leastSaving: leastSavingFor(state, request),
    instructions: [options.compaction.instructions, instructions].filter(Boolean).join("\n\n") || undefined,
    source: notes && notesSource({ ...notes, instructions: options.compaction.instructions }),
    model: options.model,
    summaryModel: options.summaryModel,
    summariser: request.withoutModel ? "built-in" : options.compaction.summariser,
    fork: trigger === "reactive" ? undefined : forkOf(state),
    state: hostState(state),
    fileTools: options.fileTools,
    hooks: options.hooks,
    hookContext: {
      sessionId: options.sessionId ?? "",
      cwd: options.cwd ?? "",
      permissionMode:
        typeof options.permissionMode === "function" ? options.permissionMode() : options.permissionMode,
      agentId: state.agentId,
    },
    onHook: (outcome) => reportHook(state, outcome),
    transcriptPath: options.transcript?.path,
    sessionRecord: recordFor(state),
    recallTool: recallToolOf(state.frame),
    targetTokens,
    limitTokens: request.limitTokens ?? limitOf(state),
    // What the thresholds set aside for it.
    maxOutputTokens: state.thresholds.size - state.thresholds.effective,
    windowOf: state.windowOf,
    timeLimits: options.timeLimits,
    restoreBudgetTokens,
    autonomous: options.compaction.autonomous,
    bindsThinking: state.bindsThinking,
    signal,
    onProgress: (progress) => {
      onProgress(progress);
      if (progress.phase === "hooks") {
        state.emit({ type: "hooks-started", event: progress.event, hooks: progress.hooks });
      }
      if (progress.phase !== "cut") return;
      const { droppedRounds, rounds } = progress;
      state.emit({
        type: "prompt-too-long-retried",
        attempt: ++retries,
        droppedRounds,
        roundsLeft: rounds - droppedRounds,
      });
    },
  };
}

/**
 * After an overflow the next call must fit, whatever the compaction costs. The same holds at the blocking limit where
 * an unseen tool result is kept: it can be summarized only after the next call.
 */
function leastSavingFor(
  { thresholds }: ConversationState,
  { trigger, plan, force = false }: CompactionRequest,
): LeastSaving {
  if (trigger === "reactive") return "some";
  const isBlocked = trigger === "auto" && plan.tokensBefore >= thresholds.blocking;
  if (isBlocked && plan.unseen !== undefined) return "some";
  return force ? "none" : "worthwhile";
}

/** From here on the conversation is the compacted one. The transcript has it before anything is forgotten. */
async function adopt(state: ConversationState, compaction: Compaction): Promise<void> {
  const { ports, transcript } = state.options;
  const lines =
    transcript === undefined ? [] : asOneWrite(linesInPlace(compaction, conventionsOf(undefined), ports));
  if (lines.length > 0) await state.transcript.commit(lines);
  const entries = asWritten(rebuild(compaction), lines);
  restart(state, entries);
  for (const entry of entries) state.host.message(entry);
}

/**
 * The engine's own entries name their compaction, as their lines do. They are written again if the host changes the
 * list, and an undo must not take them for messages that came since. A copy names its original.
 */
function asWritten(entries: readonly Entry[], lines: readonly Entry[]): readonly Entry[] {
  const own = new Map(lines.filter((line) => copiedIds(line).length === 0).map((line) => [line.uuid, line]));
  return entries.map((entry) => own.get(entry.uuid) ?? entry);
}

/** What the agent had seen of them is gone, so its next read must be a real one. */
function forgetFiles({ host, options }: ConversationState, plan: CompactionPlan): void {
  const pairs = plan.keptPlace === "after" ? plan.pairs() : undefined;
  const paths = recentlyReadPaths(plan.summarised, options.fileTools, pairs);
  if (paths.length > 0) host.filesForgotten(paths);
}

/** What is known here of the host, besides what it tells itself: subagents under way, memory files, notes. */
function hostState({ options, children, notes }: ConversationState): HostState {
  const { state = {}, memoryFiles } = options;
  return {
    ...(memoryFiles === undefined ? {} : { memoryFiles: memoryFilesNow(memoryFiles) }),
    ...(notes === undefined ? {} : { sessionMemory: () => notes.pathIfFilled() }),
    ...state,
    ...(children.size === 0 ? {} : { agents: () => agentsWith(children, state) }),
  };
}

/** A host that keeps its own list tells more of them. */
async function agentsWith(
  children: ConversationState["children"],
  state: HostState,
): Promise<readonly BackgroundAgent[]> {
  const told = (await state.agents?.()) ?? [];
  const ids = new Set(told.map(({ id }) => id));
  return [...told, ...[...children.values()].filter(({ id }) => !ids.has(id))];
}

function reportSuccess(
  state: ConversationState,
  { trigger, plan, prepared }: CompactionRequest,
  compaction: Compaction,
  durationMs: number,
): void {
  const threshold = state.thresholds.autoCompact;
  const { turn } = state.breaker;
  state.judgement.compacted({ trigger, turn });
  const chain = state.chain.record({ turnId: state.turnId, turn, threshold, caller: state.caller });
  state.emit({
    type: "restored",
    items: compaction.restored.items.map(({ kind, name, tokens }) => ({ kind, name, tokens })),
    skipped: compaction.restored.skipped,
  });
  const tokensAfter = state.size().tokens;
  state.emit({
    type: "compacted",
    trigger,
    tier: tierOf(compaction),
    tokensBefore: plan.tokensBefore,
    tokensAfter,
    messagesSummarised: compaction.messagesSummarised,
    messagesKept: compaction.messagesKept,
    attempts: compaction.attempts,
    usage: compaction.usage,
    accounting: compaction.accounting,
    chain,
    durationMs,
    isAboveThreshold: tokensAfter >= threshold,
    netSaving: netSavingOf(state, {
      tokensBefore: plan.tokensBefore,
      tokensAfter,
      unchangedTokens: unchangedTokens(plan),
      attempts: compaction.attempts,
    }),
  });
  state.noteSetup(lastingFailures(compaction.attempts));
  // What came while the summary was written differs from one compaction to the next.
  const cameSince = prepared === undefined ? 0 : Math.max(0, plan.keptTokens - usuallyKept(state));
  state.pace.compacted(tokensAfter - cameSince);
  state.emitAll(state.breaker.compacted({ trigger }));
}

/** Hooks may ask for what notes do not know; then somebody else wrote the summary. */
function reportUnusedNotes(
  state: ConversationState,
  { trigger }: CompactionRequest,
  { written }: Compaction,
): void {
  const [first] = written.attempts;
  if (first?.step !== "notes" || first.outcome === "written") return;
  state.emit({ type: "notes-declined", trigger, reason: (first.reason ?? "instructions") as NotesDecline });
}

function reportHook(state: ConversationState, outcome: HookOutcome): void {
  const { event, kind, durationMs } = outcome;
  state.emit({ type: "hook-ended", event, kind, state: outcome.state, durationMs });
  state.host.hookMessage(outcome.text);
}
