import type { SessionClearing } from "../host/clear-session.ts";
import type { WriteTarget, WrittenLines } from "../host/write-lines.ts";
import type { Thresholds } from "../window/thresholds.ts";
import { fullAt, type ReportWindow, reportWindow } from "./report-window.ts";

/** The shape that `clear --json` prints. Stable: other programs read it; see docs/json.md. */
export interface ClearReport {
  readonly session: { readonly id: string; readonly path: string };
  readonly before: { readonly tokens: number };
  readonly after: { readonly tokens: number };
  readonly window: ReportWindow;
  /** True if the result is under the auto-compact threshold, or without auto-compact under the blocking limit. */
  readonly fits: boolean;
  /** By tool: how many results, and what they held. */
  readonly cleared: readonly ClearedByTool[];
  readonly toolUseIds: readonly string[];
  readonly out: string | null;
  readonly written: { readonly mode: WriteTarget["mode"]; readonly sessionId: string } | null;
}

export interface ClearedByTool {
  readonly tool: string;
  readonly results: number;
  readonly tokens: number;
}

export function clearReport(
  { session, clearing, tokensBefore, tokensAfter }: SessionClearing,
  thresholds: Thresholds,
  written: WrittenLines | undefined,
): ClearReport {
  const window = reportWindow(thresholds);
  const byTool = new Map<string, { results: number; tokens: number }>();
  for (const { tool, tokens } of clearing.results) {
    const sum = byTool.get(tool) ?? { results: 0, tokens: 0 };
    byTool.set(tool, { results: sum.results + 1, tokens: sum.tokens + tokens });
  }
  const cleared = [...byTool].map(([tool, { results, tokens }]) => ({
    tool,
    results,
    tokens: Math.round(tokens),
  }));
  return {
    session: { id: session.id, path: session.path },
    before: { tokens: tokensBefore },
    after: { tokens: tokensAfter },
    window,
    fits: tokensAfter < fullAt(window),
    cleared: cleared.sort((a, b) => b.tokens - a.tokens),
    toolUseIds: clearing.results.map(({ id }) => id),
    out: written?.path ?? null,
    written: written === undefined ? null : { mode: written.mode, sessionId: written.sessionId },
  };
}
