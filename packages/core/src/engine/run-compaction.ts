import type { Compaction, CompactOptions } from "../compaction/compact.ts";
import { unchangedTokens } from "../compaction/plan/compaction-plan.ts";
import type { BackgroundAgent, HostState } from "../compaction/restore/host-state.ts";
import type { LeastSaving } from "../compaction/worthwhile.ts";
import { attemptsOf, type SummaryProgress } from "../compaction/write/attempts.ts";
import type { HookOutcome } from "../hooks/hook.ts";
import { provenWindowEvidence } from "../measure/window/session-window.ts";
import { asAtomicWrite } from "../messages/atomic-write.ts";
import type { Entry, SessionRecord } from "../messages/entry.ts";
import { copiedIds } from "../messages/lines.ts";
import { untilAborted } from "../models/abortable.ts";
import { loadPart } from "../models/load-part.ts";
import { type CostParts, typicalKeptTokens } from "./cost-situation.ts";
import type { Trigger } from "./events.ts";
import { forkOf } from "./fork.ts";
import type { CompactionRequest, Needs } from "./parts.ts";
import { codeOf, failureReason, withHostStatus } from "./reporter.ts";
import { forgetFiles, restart } from "./rewrite.ts";
import { costOfCalls, fileWorth, netSavingOf } from "./rewrite-decisions.ts";

/** The parts that a compaction reads and changes. */
export type CompactionParts = CostParts & Needs<"agentId" | "now" | "newLink" | "transcript" | "subagents">;

type CarryOut = typeof import("../compaction/carry-out.ts");

/** Loads the code that carries out a compaction. */
export const loadCarryOut = (signal: AbortSignal | undefined): Promise<CarryOut> =>
  loadPart("compaction", () => import("../compaction/carry-out.ts"), signal);

/** Runs a plan and continues the conversation with the result. A failure changes nothing. */
export async function runCompaction(parts: CompactionParts, request: CompactionRequest): Promise<Compaction> {
  const startedAt = parts.now();
  const { trigger, plan } = request;
  parts.reporter.emit({ type: "compaction-started", trigger, tokens: plan.tokensBefore });
  try {
    const { compaction, carryOut } = await withHostStatus(parts.reporter.host, {}, async (onProgress) => {
      const loaded = await loadCarryOut(request.signal);
      // Writes the transcript before the model call, because a compaction without a transcript would fail
      // anyway.
      await untilAborted(request.signal, parts.transcript.flush());
      const made = await loaded.compact(
        plan,
        parts.options.ports,
        compactOptions(parts, request, onProgress),
      );
      await applyCompaction(parts, made, loaded);
      return { compaction: made, carryOut: loaded };
    });
    forgetFiles(parts, plan.summarized, plan.keptPlace === "after" ? plan.pairs() : undefined);
    const [first] = compaction.written.attempts;
    // If the source could not fulfill the instructions of a hook, another source wrote the summary.
    if (request.source !== undefined && first !== undefined && first.outcome !== "written")
      request.onSourceDeclined?.(first.reason ?? "instructions");
    const tier = carryOut.tierOf(compaction);
    reportSuccess(parts, request, { compaction, tier, durationMs: parts.now() - startedAt });
    // The compacted conversation counts as a new one.
    parts.turn.renewId();
    return compaction;
  } catch (error) {
    reportFailure(parts, trigger, error, parts.now() - startedAt);
    throw error;
  }
}

export function reportFailure(
  parts: CompactionParts,
  trigger: Trigger,
  error: unknown,
  durationMs: number,
): void {
  const reason = failureReason(error);
  const attempts = attemptsOf(error);
  parts.reporter.emit({
    type: "compaction-failed",
    trigger,
    reason,
    code: codeOf(error),
    attempts,
    durationMs,
  });
  parts.reporter.noteFailure(error);
  parts.reporter.emitAll(parts.health.recordFailure({ trigger, reason }));
}

/**
 * Returns the session record for the boundary. A usage report may have proven a larger window since the
 * session was opened.
 */
function sessionRecordFor({ gauge, options }: Needs<"gauge" | "options">): SessionRecord {
  const { modelName: model } = options;
  const window = provenWindowEvidence(model, gauge.facts) ?? options.window.evidence;
  return { ...(model === undefined ? {} : { model }), ...(window === undefined ? {} : { window }) };
}

/** Returns the options of a compaction of this conversation. */
export function compactOptions(
  parts: CompactionParts,
  request: CompactionRequest,
  onProgress: (progress: SummaryProgress) => void,
): CompactOptions {
  const { trigger, plan, prepared, source, instructions, targetTokens, restoreBudgetTokens, signal } =
    request;
  const { options } = parts;
  const { session } = options;
  let retries = 0;
  return {
    prepared,
    leastSaving: requiredSavingFor(parts, request),
    instructions: [options.compaction.instructions, instructions].filter(Boolean).join("\n\n") || undefined,
    source,
    model: options.model,
    summaryModel: options.compaction.model,
    summarizer: request.withoutModel ? "built-in" : options.compaction.summarizer,
    fork: trigger === "reactive" ? undefined : forkOf(parts),
    state: hostState(parts),
    fileTools: options.fileTools,
    fileWorth: fileWorth(parts, plan),
    hooks: options.hooks,
    hookContext: {
      sessionId: session.id ?? "",
      cwd: session.cwd ?? "",
      permissionMode:
        typeof session.permissionMode === "function" ? session.permissionMode() : session.permissionMode,
      agentId: parts.agentId,
    },
    onHook: (outcome) => reportHook(parts, outcome),
    transcriptPath: options.transcript?.path,
    sessionRecord: sessionRecordFor(parts),
    recallTool: parts.frame.recallTool,
    targetTokens,
    limitTokens: request.limitTokens ?? parts.gauge.limitTokens,
    // The output tokens that the thresholds reserve.
    maxOutputTokens: parts.gauge.thresholds.size - parts.gauge.thresholds.effective,
    windowOf: parts.gauge.windowOf,
    timeLimits: options.timeLimits,
    restoreBudgetTokens,
    autonomous: options.compaction.autonomous,
    bindsThinking: parts.gauge.bindsThinking,
    signal,
    onProgress: (progress) => {
      onProgress(progress);
      if (progress.phase === "hooks") {
        parts.reporter.emit({ type: "hooks-started", event: progress.event, hooks: progress.hooks });
      }
      if (progress.phase !== "cut") return;
      const { droppedRounds, rounds } = progress;
      parts.reporter.emit({
        type: "prompt-too-long-retried",
        attempt: ++retries,
        droppedRounds,
        roundsLeft: rounds - droppedRounds,
      });
    },
  };
}

/**
 * Returns the saving that a compaction must reach. After an overflow, any saving is enough, because the next
 * call must fit. At the blocking limit, any saving is also enough if an unseen tool result is kept. A model
 * must see that result before it can be summarized.
 */
function requiredSavingFor(
  { gauge: { thresholds } }: Needs<"gauge">,
  { trigger, plan, force = false }: CompactionRequest,
): LeastSaving {
  if (trigger === "reactive") return "some";
  const isBlocked = trigger === "auto" && plan.tokensBefore >= thresholds.blocking;
  if (isBlocked && plan.unseen !== undefined) return "some";
  return force ? "none" : "worthwhile";
}

/** Replaces the conversation with the compacted one. Writes the transcript before anything is dropped. */
async function applyCompaction(
  parts: CompactionParts,
  compaction: Compaction,
  { conventionsOf, linesInPlace, rebuild }: CarryOut,
): Promise<void> {
  const { ports, transcript } = parts.options;
  const lines =
    transcript === undefined ? [] : asAtomicWrite(linesInPlace(compaction, conventionsOf(undefined), ports));
  if (lines.length > 0) await parts.transcript.commit(lines);
  const entries = withWrittenLines(rebuild(compaction), lines);
  restart(parts, entries);
  for (const entry of entries) parts.reporter.host.message(entry);
}

/**
 * Replaces the engine's own entries with their written lines. These lines name the compaction, so that an
 * undo does not mistake them for later messages. Copies of messages stay unchanged.
 */
function withWrittenLines(entries: readonly Entry[], lines: readonly Entry[]): readonly Entry[] {
  const own = new Map(lines.filter((line) => copiedIds(line).length === 0).map((line) => [line.uuid, line]));
  return entries.map((entry) => own.get(entry.uuid) ?? entry);
}

/** Returns the host's state, plus running subagents and facts of modules. */
function hostState({ options, subagents, modules }: Needs<"options" | "subagents" | "modules">): HostState {
  const { state = {} } = options;
  const running = subagents();
  return {
    ...modules.hostState(),
    ...state,
    ...(running.length === 0 ? {} : { agents: () => withRunningAgents(running, state) }),
  };
}

/** Adds running subagents to the host's own list of background agents, if the host provides one. */
async function withRunningAgents(
  running: readonly BackgroundAgent[],
  state: HostState,
): Promise<readonly BackgroundAgent[]> {
  const known = (await state.agents?.()) ?? [];
  const ids = new Set(known.map(({ id }) => id));
  return [...known, ...running.filter(({ id }) => !ids.has(id))];
}

interface Success {
  readonly compaction: Compaction;
  readonly tier: ReturnType<CarryOut["tierOf"]>;
  readonly durationMs: number;
}

function reportSuccess(
  parts: CompactionParts,
  { trigger, plan, prepared }: CompactionRequest,
  { compaction, tier, durationMs }: Success,
): void {
  const { gauge, turn, health } = parts;
  const threshold = gauge.thresholds.autoCompact;
  const chain = turn.recordCompaction({ turn: health.turn, threshold });
  parts.reporter.emit({
    type: "restored",
    items: compaction.restored.items.map(({ kind, name, tokens }) => ({ kind, name, tokens })),
    skipped: compaction.restored.skipped,
  });
  const tokensAfter = gauge.size().tokens;
  parts.reporter.emit({
    type: "compacted",
    trigger,
    tier,
    tokensBefore: plan.tokensBefore,
    tokensAfter,
    messagesSummarized: compaction.messagesSummarized,
    messagesKept: compaction.messagesKept,
    attempts: compaction.attempts,
    usage: compaction.usage,
    accounting: compaction.accounting,
    chain,
    durationMs,
    isAboveThreshold: tokensAfter >= threshold,
    netSaving: netSavingOf(parts, {
      tokensBefore: plan.tokensBefore,
      tokensAfter,
      unchangedTokens: unchangedTokens(plan),
      attempts: compaction.attempts,
    }),
  });
  parts.reporter.noteAttempts(compaction.attempts);
  // Excludes messages that arrived while the summary was written, because their number varies.
  const cameSince = prepared === undefined ? 0 : Math.max(0, plan.keptTokens - typicalKeptTokens(parts));
  // The cost of a background summary was recorded when it started.
  if (prepared === undefined) parts.pace.recordSummaryCost(costOfCalls(parts, compaction.attempts) ?? 0);
  parts.pace.compacted(tokensAfter - cameSince, compaction.usage?.output_tokens);
  parts.reporter.emitAll(parts.health.recordCompaction({ trigger }));
}

function reportHook(parts: CompactionParts, outcome: HookOutcome): void {
  const { event, kind, durationMs } = outcome;
  parts.reporter.emit({ type: "hook-ended", event, kind, state: outcome.state, durationMs });
  parts.reporter.host.hookMessage(outcome.text);
}
