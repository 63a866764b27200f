import type { CompactorEvent, Entry, LonghaulError, ModelUsage } from "@longhaul/core";
import type { SummaryProgress } from "@longhaul/core/compaction";
import type { Thresholds, WindowState } from "@longhaul/core/measure";
import type { Refusal } from "./permission.ts";

/** What an agent does, as it happens. */
export type AgentEvent =
  /**
   * A message has become part of the conversation: of the person, the model, a tool; and after a compaction its
   * boundary, summary, kept messages, attachments, hook results, in this order. A boundary gives the conversation a new id.
   */
  | { readonly type: "entry"; readonly entry: Entry; readonly conversationId: string }
  /** The next piece of an answer. `restarted` voids the pieces since the last entry: the call is made again. */
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
      /** Unfolded: a diff, the output. */
      readonly display: string;
      readonly durationMs: number;
    }
  /** A call was not allowed. Each refusal names its rule and the flag that would allow it. */
  | {
      readonly type: "refused";
      readonly callId: string;
      readonly tool: string;
      readonly refusals: readonly Refusal[];
      /** False: nobody could be asked, or plan mode is on. */
      readonly byPerson: boolean;
    }
  /** How full the window is, before and after each call. */
  | ({ readonly type: "window" } & WindowReading)
  /** A compaction that somebody waits for is under way; the same without progress when it has begun. */
  | { readonly type: "compacting"; readonly progress: SummaryProgress | undefined }
  /** It is over; what came of it is in the events of the compactor. */
  | { readonly type: "compacting-ended" }
  | { readonly type: "compactor"; readonly event: CompactorEvent }
  /** What a hook ended with, in words. */
  | { readonly type: "hook"; readonly text: string }
  | { readonly type: "usage"; readonly usage: ModelUsage; readonly model: string }
  /** A call failed in passing and is made again after the delay. */
  | { readonly type: "retry"; readonly attempt: number; readonly delayMs: number; readonly code: string }
  /** Not the end: a compaction failed, the window is full, … with a remedy. */
  | { readonly type: "problem"; readonly error: LonghaulError }
  /** Something that a person should know, such as an agent in the background that has ended. */
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
   * `answered`: the model has nothing more to do. `aborted`: by the signal. `turn-limit`: `maxTurns` were made.
   * `failed`: `error` says why; the conversation is whole, and can be gone on with.
   */
  readonly reason: "answered" | "aborted" | "turn-limit" | "failed";
  readonly error?: LonghaulError | undefined;
  /** The last answer in words. */
  readonly text: string;
  /** Model calls of the conversation itself. */
  readonly turns: number;
}
