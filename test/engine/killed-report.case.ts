import type { CompactorEvent, Entry } from "@longhaul/core";

/** Kind of lines that one write appends to the session. */
export type LineKind = "compaction" | "commit" | "messages";

/** Orders for a process that will be killed. */
export interface Orders {
  /** Address of the simulator, which runs in the killing process. */
  readonly url: string;
  readonly sessionPath: string;
  readonly notesPath: string;
  readonly windowTokens: number;
  readonly modelName: string;
  readonly headroom: Headroom;
  /** True if notes are taken every few turns, so that there are many writes to interrupt. */
  readonly notesOften: boolean;
  readonly seed: number;
  /** Start time by the clock of the session. */
  readonly startMs: number;
  /** Point at which the process stops, reports that, and waits to be killed. */
  readonly hold?: Hold;
  /** The process ends by itself after `rewrites` compactions or commits, and `moreTurns` further turns. */
  readonly until: { readonly rewrites: number; readonly moreTurns: number };
}

/** The mechanism that keeps the conversation within its window. */
export type Headroom = "summaries" | "background" | "notes" | "built-in-notes" | "collapse";

export interface Hold {
  /**
   * The process stops before, during or after the write. With `torn`, it stops during the write, and only a
   * share of the bytes is in the file.
   */
  readonly at: "before" | "torn" | "after";
  readonly kind: LineKind;
  /** Share of the bytes that are written, from 0 to 1. */
  readonly share: number;
  /** Number of writes of this kind to allow first. */
  readonly skip: number;
}

/** Reports of a process, one JSON line each. */
export type Report =
  | { readonly type: "started"; readonly resumedMessages: number }
  | { readonly type: "turn"; readonly turn: number }
  | { readonly type: "event"; readonly name: CompactorEvent["type"]; readonly reason: string | undefined }
  /** Lines are about to be written. */
  | {
      readonly type: "writing";
      readonly kind: LineKind;
      /** Size of the file before the write. */
      readonly bytes: number;
      readonly boundaryUuid: string | undefined;
      /** Last message that the notes cover at this moment. */
      readonly coveredUuid: string | undefined;
    }
  /** The lines are on disk. */
  | { readonly type: "written"; readonly uuids: readonly string[]; readonly words: readonly string[] }
  | { readonly type: "held" }
  | { readonly type: "done"; readonly problems: readonly string[] };

export type ReportOf<Type extends Report["type"]> = Extract<Report, { readonly type: Type }>;

/** Returns the kind of lines in a written text. */
export function kindOf(text: string): LineKind {
  if (text.includes('"subtype":"compact_boundary"')) return "compaction";
  return text.includes('"subtype":"collapse_committed"') ? "commit" : "messages";
}

export const uuidsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ uuid }) => uuid ?? []);
