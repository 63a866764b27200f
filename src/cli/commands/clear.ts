import { clearSession, writeClearing } from "../../host/clear-session.ts";
import { compactionDisabled } from "../../turn/guards.ts";
import { clearReport } from "../clear-report.ts";
import type { Composition, WindowChoice } from "../composition.ts";
import { clearView } from "../view/clear-view.ts";
import { type TargetChoice, targetOf } from "../write-target.ts";

export interface ClearCommandOptions extends WindowChoice, TargetChoice {
  readonly json?: boolean;
  readonly keep?: number;
  readonly target?: number;
}

/** Empties stale tool results of a session: no summary, no model. */
export async function clear(
  query: string,
  options: ClearCommandOptions,
  composition: Composition,
): Promise<void> {
  if (!composition.compactEnabled) throw compactionDisabled();
  const { terminal } = composition;
  const target = await targetOf(options);
  const session = await composition.load(query, target && options);
  const result = clearSession(session, { keepNewest: options.keep, targetTokens: options.target });
  const written = target && (await writeClearing(result, target, composition));
  const report = clearReport(result, composition.thresholdsOf(session, options), written);
  terminal.print(options.json ? JSON.stringify(report, null, 2) : clearView(report, terminal));
}
