import { isCompactBoundary } from "../conversation/entry.ts";
import { messagesBehind } from "../conversation/stand-ins.ts";
import { figureField } from "../conversation/untrusted.ts";
import { type SessionUndo, undoableSteps } from "../host/undo-session.ts";
import type { WriteTarget, WrittenLines } from "../host/write-lines.ts";
import type { Session } from "../transcript/session.ts";
import type { Step } from "../transcript/steps.ts";
import type { Thresholds } from "../window/thresholds.ts";
import { fullAt, type ReportWindow, reportWindow } from "./report-window.ts";

/** The shape that `undo --json` prints. Stable: other programs read it; see docs/json.md. */
export interface UndoReport {
  readonly session: { readonly id: string; readonly path: string };
  readonly direction: "undo" | "redo";
  readonly step: StepReport;
  readonly before: { readonly tokens: number };
  readonly after: { readonly tokens: number };
  readonly window: ReportWindow;
  /** True if the result is under the auto-compact threshold, or without auto-compact under the blocking limit. */
  readonly fits: boolean;
  readonly messages: { readonly restored: number; readonly carried: number };
  /** Of what came since: signed with another history, so the model would refuse it. */
  readonly thinkingBlocks: number;
  readonly out: string | null;
  readonly written: { readonly mode: WriteTarget["mode"]; readonly sessionId: string } | null;
}

export interface StepReport {
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

/** The shape that `undo --list --json` prints. */
export interface StepsReport {
  readonly session: { readonly id: string; readonly path: string };
  /** Newest first. */
  readonly steps: readonly StepReport[];
}

export function stepsReport(session: Session): StepsReport {
  return {
    session: { id: session.id, path: session.path },
    steps: undoableSteps(session).map((step) => stepReport(step, messagesBehind(step.since()))),
  };
}

export function undoReport(
  result: SessionUndo,
  thresholds: Thresholds,
  written: WrittenLines | undefined,
): UndoReport {
  const { session, step, restored, carried, tokensBefore, tokensAfter, thinkingBlocks } = result;
  const window = reportWindow(thresholds);
  return {
    session: { id: session.id, path: session.path },
    direction: step.undo === undefined ? "undo" : "redo",
    step: stepReport(step, messagesBehind(result.back.since)),
    before: { tokens: tokensBefore },
    after: { tokens: tokensAfter },
    window,
    fits: tokensAfter < fullAt(window),
    messages: { restored: messagesBehind(restored), carried: messagesBehind(carried) },
    thinkingBlocks,
    out: written?.path ?? null,
    written: written === undefined ? null : { mode: written.mode, sessionId: written.sessionId },
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
