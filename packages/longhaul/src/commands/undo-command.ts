import { LonghaulError } from "@longhaul/core/errors";
import { isCompactBoundary, numberField } from "@longhaul/core/internal/messages";
import { countOriginalMessages } from "@longhaul/core/internal/request";
import type { Thresholds } from "@longhaul/core/measure";
import type { Session, Step, WrittenLines } from "@longhaul/sessions";
import { type SessionUndo, undoableSteps, undoSession, writeUndo } from "@longhaul/sessions";
import type { SessionCommand, WindowChoice } from "../composition.ts";
import { chooseId } from "../message-choice.ts";
import {
  beforeAndAfter,
  type RewriteReport,
  rewriteReport,
  roomWords,
  writtenLine,
} from "../rewrite-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatTime, ID_SHOWN, plural } from "../view/numbers.ts";
import { type Columns, joined, labeled, sessionTitle, table } from "../view/sections.ts";
import { foldText, oneLine } from "../view/text-width.ts";
import { fullAt } from "../window-report.ts";
import { type TargetChoice, targetOf } from "../write-target.ts";

export interface UndoCommandOptions extends WindowChoice, TargetChoice {
  readonly json?: boolean;
  readonly redo?: boolean;
  readonly list?: boolean;
  /** Uuid of a step, or the beginning of the uuid. */
  readonly to?: string;
}

/** Undoes or redoes a step of a session, such as a compaction, or lists the steps. */
export const undo: SessionCommand<UndoCommandOptions> = async (query, options, composition) => {
  const { terminal } = composition;
  const target = options.list ? undefined : await targetOf(options);
  const session = await composition.load(query, target && options);
  if (options.list) {
    const { id, path } = session;
    const steps = undoableSteps(session).map((step) => stepReport(step, countOriginalMessages(step.since())));
    const report = { session: { id, path }, steps };
    terminal.print(options.json ? JSON.stringify(report, null, 2) : stepsView(report, terminal));
    return;
  }
  const to = options.to === undefined ? undefined : chooseStep(session, options.to);
  const result = undoSession(session, { redo: options.redo, to });
  const written = target && (await writeUndo(result, target, composition));
  const report = undoReport(result, composition.thresholdsOf(session, options), written);
  terminal.print(options.json ? JSON.stringify(report, null, 2) : undoView(report, terminal));
};

const LIST_STEPS = "`longhaul undo SESSION --list` lists all steps.";

/** Finds a step by its uuid, or by the beginning of the uuid. */
function chooseStep(session: Session, wanted: string): string {
  const steps = undoableSteps(session).filter((step) => step.undo === undefined);
  return chooseId(
    steps.flatMap(({ line }) => line.uuid ?? []),
    wanted,
    {
      many: "undo steps",
      whereToLook: LIST_STEPS,
      facts: { step: wanted },
      notFound: () =>
        new LonghaulError(
          "undo-step-not-found",
          `No undo step found: no step that can be undone has an id that starts with ${wanted}.`,
          { remedy: LIST_STEPS, facts: { step: wanted } },
        ),
    },
  );
}

/** Output format of `undo --json`. Stable, because other programs read it. See docs/json.md. */
export interface UndoReport extends RewriteReport {
  readonly direction: "undo" | "redo";
  readonly step: StepReport;
  readonly messages: { readonly restored: number; readonly carried: number };
  /**
   * Number of thinking blocks that were removed from the messages after the step. They are signed for another
   * history, so the provider would refuse them.
   */
  readonly thinkingBlocks: number;
}

interface StepReport {
  readonly kind: Step["kind"];
  /** True if the step is itself an undo. */
  readonly isUndo: boolean;
  readonly uuid: string | null;
  readonly at: string | null;
  /** Trigger of the compaction. Null if the step is not a compaction. */
  readonly trigger: string | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  /** Number of messages since the step. */
  readonly messagesSince: number;
}

function undoReport(
  result: SessionUndo,
  thresholds: Thresholds,
  writtenLines: WrittenLines | undefined,
): UndoReport {
  const { step, restored, carried, thinkingBlocks } = result;
  const { session, out, written, ...sizes } = rewriteReport(result, thresholds, writtenLines);
  return {
    session,
    direction: step.undo === undefined ? "undo" : "redo",
    step: stepReport(step, countOriginalMessages(result.back.since)),
    ...sizes,
    messages: { restored: countOriginalMessages(restored), carried: countOriginalMessages(carried) },
    thinkingBlocks,
    out,
    written,
  };
}

function stepReport({ kind, undo, line }: Step, messagesSince: number): StepReport {
  const metadata = isCompactBoundary(line) && undo === undefined ? line.compactMetadata : undefined;
  const figure = (name: string): number | null =>
    metadata === undefined ? null : numberField(metadata, name) || null;
  return {
    kind,
    isUndo: undo !== undefined,
    uuid: line.uuid ?? null,
    at: line.timestamp ?? null,
    trigger: metadata === undefined ? null : String(metadata.trigger),
    tokensBefore: figure("preTokens"),
    tokensAfter: figure("postTokens"),
    messagesSince,
  };
}

const KINDS: Readonly<Record<StepReport["kind"], string>> = {
  compaction: "compaction",
  collapse: "collapsed spans",
  expansion: "expanded spans",
  snip: "removed messages",
};

export function undoView(report: UndoReport, terminal: Terminal): string {
  return joined([
    sessionTitle(report.direction === "undo" ? "Undo" : "Redo", report.session, terminal),
    labeled(report.direction === "undo" ? "Undone" : "Redone", stepWords(report), terminal),
    beforeAndAfter(report, [verdict(report, terminal)], terminal),
    labeled("Messages", messagesWords(report), terminal),
    writtenLine(report, terminal),
  ]);
}

function stepWords({ step }: UndoReport): string {
  return [
    KINDS[step.kind],
    ...(step.trigger === null ? [] : [oneLine(step.trigger)]),
    ...(step.at === null ? [] : [formatTime(step.at)]),
    oneLine(step.uuid ?? "").slice(0, ID_SHOWN),
  ].join(" · ");
}

function messagesWords({ messages, thinkingBlocks }: UndoReport): string {
  const carried =
    messages.carried === 0 ? "no newer messages" : `${plural(messages.carried, "newer message")} kept`;
  const thinking =
    thinkingBlocks === 0
      ? ""
      : ` ${plural(thinkingBlocks, "thinking block")} dropped, because the model would refuse ${thinkingBlocks === 1 ? "it" : "them"} after this change.`;
  return `${formatCount(messages.restored)} restored, ${carried}.${thinking}`;
}

function verdict(report: UndoReport, { colors }: Terminal): string {
  const { after, window, fits, direction } = report;
  if (fits) return roomWords(report);
  const limit =
    after.tokens >= window.size
      ? `over the window of ${formatCount(window.size)}: compact the session before you continue`
      : `over the threshold of ${formatCount(fullAt(window))}: ${window.autoCompact === null ? "compact the session" : "the agent will compact the session soon"}`;
  return colors.red(direction === "undo" ? limit : `still ${limit}`);
}

/** Output format of `undo --list --json`. */
interface StepsReport extends Pick<UndoReport, "session"> {
  /** Steps that can be undone, newest first. */
  readonly steps: readonly StepReport[];
}

const STEP_COLUMNS: Columns = [
  "id",
  { title: "when", rank: 2 },
  { title: "step", cut: "end", least: 16 },
  { title: ">tokens", rank: 1 },
  ">messages since",
];
const NO_STEPS =
  "Nothing to undo: nothing in this conversation was compacted, cleared, collapsed or removed.";

function stepsView({ session, steps }: StepsReport, terminal: Terminal): string {
  const { colors, width } = terminal;
  const title = sessionTitle("Steps", session, terminal);
  if (steps.length === 0) return joined([title, foldText(NO_STEPS, width)]);
  const rows = steps.map((step) => [
    colors.cyan(oneLine(step.uuid ?? "").slice(0, ID_SHOWN)),
    formatTime(step.at),
    `${step.isUndo ? "undo of " : ""}${KINDS[step.kind]}${step.trigger === null ? "" : `, ${oneLine(step.trigger)}`}`,
    stepSizes(step),
    formatCount(step.messagesSince),
  ]);
  const hint = steps[0]?.isUndo
    ? "`longhaul undo SESSION --redo` redoes the newest step."
    : "`longhaul undo SESSION` undoes the newest step.";
  return joined([title, table(STEP_COLUMNS, rows, terminal), colors.dim(foldText(hint, width))]);
}

function stepSizes({ tokensBefore, tokensAfter }: StepReport): string {
  if (tokensBefore === null) return "";
  return `${formatCount(tokensBefore)} → ${tokensAfter === null ? "?" : formatCount(tokensAfter)}`;
}
