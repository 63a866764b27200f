import type { CompactorEvent, Entry, LonghaulError, ModelUsage } from "@longhaul/core";
import type { SummaryProgress } from "@longhaul/core/compaction";
import type { Thresholds, WindowState } from "@longhaul/core/measure";
import type { Refusal } from "./permission.ts";

/** Events that an agent emits while it works. */
export type AgentEvent =
  /**
   * A message joined the conversation. It comes from the user, the model or a tool. A compaction adds its
   * boundary, summary, kept messages, attachments and hook results, in this order. A boundary starts a new
   * conversation id.
   */
  | { readonly type: "entry"; readonly entry: Entry; readonly conversationId: string }
  /**
   * The next piece of an answer. `restarted` means that all pieces since the last entry are invalid, because
   * the loop repeats the call.
   */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "restarted" }
  | {
      readonly type: "call-started";
      readonly callId: string;
      readonly tool: string;
      readonly title: string;
      readonly input: unknown;
    }
  | { readonly type: "call-progress"; readonly callId: string; readonly text: string }
  | {
      readonly type: "call-ended";
      readonly callId: string;
      readonly tool: string;
      readonly title: string;
      readonly isError: boolean;
      readonly summary: string | undefined;
      /** Full details for the expanded view, such as a diff or the output. */
      readonly display: string;
      readonly durationMs: number;
    }
  /** A tool call was not allowed. Each refusal names its rule and the flag that would allow the call. */
  | {
      readonly type: "refused";
      readonly callId: string;
      readonly tool: string;
      readonly refusals: readonly Refusal[];
      /** False if nobody could answer a question, or if plan mode is on. */
      readonly byPerson: boolean;
    }
  /** Fill level of the window, before and after each model call. */
  | ({ readonly type: "window" } & WindowReading)
  /** A blocking compaction is running. `progress` is undefined when it has just started. */
  | { readonly type: "compacting"; readonly progress: SummaryProgress | undefined }
  /** The compaction has ended. The compactor's events report its outcome. */
  | { readonly type: "compacting-ended" }
  | { readonly type: "compactor"; readonly event: CompactorEvent }
  /** Final message of a hook. */
  | { readonly type: "hook"; readonly text: string }
  | { readonly type: "usage"; readonly usage: ModelUsage; readonly model: string }
  /** A call failed with a temporary error. The agent retries it after the delay. */
  | { readonly type: "retry"; readonly attempt: number; readonly delayMs: number; readonly code: string }
  /**
   * A problem that does not end the run, such as a failed compaction or a full window. The error has a
   * remedy.
   */
  | { readonly type: "problem"; readonly error: LonghaulError }
  /** Information for the user, such as the end of a background agent. */
  | { readonly type: "notice"; readonly text: string }
  | {
      readonly type: "agent";
      readonly agentId: string;
      readonly description: string;
      readonly event: AgentEvent;
    }
  | ({ readonly type: "ended" } & RunResult);

export interface WindowReading {
  readonly tokens: number;
  readonly thresholds: Thresholds;
  readonly window: WindowState;
}

export interface RunResult {
  /**
   * `answered`: the model has finished. `aborted`: the signal fired. `turn-limit`: the run made `maxTurns`
   * calls. `failed`: `error` has the reason, the conversation is intact, and you can continue.
   */
  readonly reason: "answered" | "aborted" | "turn-limit" | "failed";
  readonly error?: LonghaulError | undefined;
  /** Text of the last answer. */
  readonly text: string;
  /** Number of model calls in this run, without the calls of subagents and compactions. */
  readonly turns: number;
}
