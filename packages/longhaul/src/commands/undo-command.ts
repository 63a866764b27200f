import { figureField, isCompactBoundary } from "@longhaul/core/internal/messages";
import { messagesBehind } from "@longhaul/core/internal/request";
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
import { joined, labelled, sessionTitle, table } from "../view/sections.ts";
import { foldText, oneLine } from "../view/text-width.ts";
import { fullAt } from "../window-report.ts";
import { type TargetChoice, targetOf } from "../write-target.ts";

export interface UndoCommandOptions extends WindowChoice, TargetChoice {
  readonly json?: boolean;
  readonly redo?: boolean;
  readonly list?: boolean;
  /** A step's uuid, or its beginning. */
  readonly to?: string;
}

/** Takes back what was done to a session as a whole. */
export const undo: SessionCommand<UndoCommandOptions> = async (query, options, composition) => {
  const { terminal } = composition;
  const target = options.list ? undefined : await targetOf(options);
  const session = await composition.load(query, target && options);
  if (options.list) {
    const { id, path } = session;
    const steps = undoableSteps(session).map((step) => stepReport(step, messagesBehind(step.since())));
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

/** The step that a person means by its uuid or the beginning of that. */
function chooseStep(session: Session, wanted: string): string {
  const steps = undoableSteps(session).filter((step) => step.undo === undefined);
  return chooseId(
    steps.flatMap(({ line }) => line.uuid ?? []),
    wanted,
    {
      code: "nothing-to-undo",
      none: "No step that led to the conversation",
      many: "steps",
      remedy: "`longhaul undo SESSION --list` shows the steps there are.",
      facts: { step: wanted },
    },
  );
}

/** The shape that `undo --json` prints. Stable: other programs read it; see docs/json.md. */
export interface UndoReport extends RewriteReport {
  readonly direction: "undo" | "redo";
  readonly step: StepReport;
  readonly messages: { readonly restored: number; readonly carried: number };
  /** Of what came since: signed with another history, so the model would refuse it. */
  readonly thinkingBlocks: number;
}

interface StepReport {
  readonly kind: Step["kind"];
  /** Whether it is an undo of such a step. */
  readonly isUndo: boolean;
  readonly uuid: string | null;
  readonly at: string | null;
  /** Of a compaction: who asked for it. */
  readonly trigger: string | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  /** How many messages came since. */
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
    step: stepReport(step, messagesBehind(result.back.since)),
    ...sizes,
    messages: { restored: messagesBehind(restored), carried: messagesBehind(carried) },
    thinkingBlocks,
    out,
    written,
  };
}

function stepReport({ kind, undo, line }: Step, messagesSince: number): StepReport {
  const metadata = isCompactBoundary(line) && undo === undefined ? line.compactMetadata : undefined;
  const figure = (name: string): number | null =>
    metadata === undefined ? null : figureField(metadata, name) || null;
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
    labelled("Taken back", stepWords(report), terminal),
    beforeAndAfter(report, [verdict(report, terminal)], terminal),
    labelled("Messages", messagesWords(report), terminal),
    writtenLine(report, terminal),
  ]);
}

function stepWords({ step, direction }: UndoReport): string {
  return [
    direction === "undo" ? KINDS[step.kind] : `the undo of: ${KINDS[step.kind]}`,
    ...(step.trigger === null ? [] : [oneLine(step.trigger)]),
    ...(step.at === null ? [] : [formatTime(step.at)]),
    oneLine(step.uuid ?? "").slice(0, ID_SHOWN),
  ].join(" · ");
}

function messagesWords({ messages, thinkingBlocks }: UndoReport): string {
  const carried =
    messages.carried === 0
      ? "nothing came since"
      : `${plural(messages.carried, "message")} that came since ${messages.carried === 1 ? "follows" : "follow"}`;
  const thinking =
    thinkingBlocks === 0
      ? ""
      : `, without ${plural(thinkingBlocks, "thinking block")} that the model would refuse after it`;
  return `${formatCount(messages.restored)} as they were before; ${carried}${thinking}`;
}

function verdict(report: UndoReport, { colours }: Terminal): string {
  const { after, window, fits, direction } = report;
  if (fits) return roomWords(report);
  const limit =
    after.tokens >= window.size
      ? `more than the window of ${formatCount(window.size)} holds: it cannot be sent as it is`
      : `over the threshold of ${formatCount(fullAt(window))}: ${window.autoCompact === null ? "compact it" : "the agent will compact it soon"}`;
  return colours.red(direction === "undo" ? limit : `still ${limit}`);
}

/** The shape that `undo --list --json` prints. */
interface StepsReport extends Pick<UndoReport, "session"> {
  /** Newest first. */
  readonly steps: readonly StepReport[];
}

const NO_STEPS =
  "Nothing that led to the conversation was compacted, collapsed or removed: there is nothing to undo.";

function stepsView({ session, steps }: StepsReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const title = sessionTitle("Steps", { ...session, id: `of ${session.id}` }, terminal);
  if (steps.length === 0) return joined([title, foldText(NO_STEPS, width)]);
  const rows = steps.map((step) => [
    colours.cyan(oneLine(step.uuid ?? "").slice(0, ID_SHOWN)),
    formatTime(step.at),
    `${step.isUndo ? "undo of: " : ""}${KINDS[step.kind]}${step.trigger === null ? "" : `, ${oneLine(step.trigger)}`}`,
    stepSizes(step),
    formatCount(step.messagesSince),
  ]);
  const hint = steps[0]?.isUndo ? "--redo takes the newest undo back." : "undo takes the newest back.";
  return joined([
    title,
    table(["id", "when", "what", ">tokens", ">since"], rows, terminal),
    colours.dim(hint),
  ]);
}

function stepSizes({ tokensBefore, tokensAfter }: StepReport): string {
  if (tokensBefore === null) return "";
  return `${formatCount(tokensBefore)} → ${tokensAfter === null ? "?" : formatCount(tokensAfter)}`;
}
