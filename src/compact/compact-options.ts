import type { SessionRecord } from "../conversation/entry.ts";
import type { FileTools } from "../conversation/tool-kinds.ts";
import type { HookOutcome, HookRunner } from "../hooks/hook.ts";
import type { HostState } from "../restore/host-state.ts";
import type { HookContext } from "./hook-steps.ts";
import type { PreviousLedger } from "./ledger.ts";
import type { PreparedSummary } from "./prepare-summary.ts";
import type { LeastSaving } from "./worthwhile.ts";
import type { SummaryOptions } from "./write-summary.ts";

export interface CompactOptions extends SummaryOptions {
  /** Where the whole conversation can be read; the summary tells the model. */
  readonly transcriptPath?: string | undefined;
  /** Name of the tool by which the agent can search what was summarised; the summary tells the model. */
  readonly recallTool?: string | undefined;
  /** What only the host knows; absent: nothing is put back. */
  readonly state?: HostState | undefined;
  /** The agent's tools for files, where they have other names than the usual ones. */
  readonly fileTools?: FileTools | undefined;
  /** What is put back may hold this many tokens, and never so many that the target would be passed. */
  readonly restoreBudgetTokens?: number | undefined;
  readonly hooks?: HookRunner | undefined;
  readonly hookContext?: HookContext | undefined;
  /** Told as each hook has ended. What it throws is passed over. */
  readonly onHook?: ((outcome: HookOutcome) => void) | undefined;
  /** There is no person at the keyboard. */
  readonly autonomous?: boolean | undefined;
  /** The model ties thinking to the history before it, which a compaction changes. */
  readonly bindsThinking?: boolean | undefined;
  /**
   * Whether the result is searched for the hard facts of what is summarised, and those that are missing are quoted; it
   * is unless this is `off`. Then there is no ledger either.
   */
  readonly facts?: "check" | "off" | undefined;
  /** What an earlier compaction left, for a boundary that does not tell: one of another agent. */
  readonly previousLedger?: PreviousLedger | undefined;
  /** How much the result must save; by default what is worthwhile. Else it fails with `compaction-ineffective`. */
  readonly leastSaving?: LeastSaving | undefined;
  /** The session's model and the window that its file shows, for the boundary. */
  readonly sessionRecord?: SessionRecord | undefined;
  /** The summary has been written before, by `prepareSummary`, for the same messages. */
  readonly prepared?: PreparedSummary | undefined;
}
