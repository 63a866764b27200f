import type { CompactorEvent, Entry } from "@longhaul/core";

/** What an append to the session is about. */
export type LineKind = "compaction" | "commit" | "messages";

/** What a process that is going to be killed is told. */
export interface Orders {
  /** Of the simulator, which lives in the process that kills. */
  readonly url: string;
  readonly sessionPath: string;
  readonly notesPath: string;
  readonly windowTokens: number;
  readonly modelName: string;
  readonly headroom: Headroom;
  /** Notes after every few turns, so that there is much to be interrupted. */
  readonly notesOften: boolean;
  readonly seed: number;
  /** By the clock of the session. */
  readonly startMs: number;
  /** Stops here, says so, and waits for its end. */
  readonly hold?: Hold;
  /** Ends by itself so many turns after so many compactions or commits. */
  readonly until: { readonly rewrites: number; readonly moreTurns: number };
}

/** Who keeps the conversation within its window. */
export type Headroom = "summaries" | "background" | "notes" | "built-in-notes" | "collapse";

export interface Hold {
  /** `torn`: in the middle of the write, with so much of its bytes in the file. */
  readonly at: "before" | "torn" | "after";
  readonly kind: LineKind;
  /** Of the bytes, from 0 to 1. */
  readonly share: number;
  /** How many of the kind go through before. */
  readonly skip: number;
}

/** What such a process tells, one line of JSON for each. */
export type Report =
  | { readonly type: "started"; readonly resumedMessages: number }
  | { readonly type: "turn"; readonly turn: number }
  | { readonly type: "event"; readonly name: CompactorEvent["type"]; readonly reason: string | undefined }
  /** Lines are about to be written. */
  | {
      readonly type: "writing";
      readonly kind: LineKind;
      /** Size of the file before. */
      readonly bytes: number;
      readonly boundaryUuid: string | undefined;
      /** What the notes remember at this moment. */
      readonly coveredUuid: string | undefined;
    }
  /** They are on the disk. */
  | { readonly type: "written"; readonly uuids: readonly string[]; readonly words: readonly string[] }
  | { readonly type: "held" }
  | { readonly type: "done"; readonly problems: readonly string[] };

export type ReportOf<Type extends Report["type"]> = Extract<Report, { readonly type: Type }>;

/** Of lines as they stand in the file. */
export function kindOf(text: string): LineKind {
  if (text.includes('"subtype":"compact_boundary"')) return "compaction";
  return text.includes('"subtype":"collapse_committed"') ? "commit" : "messages";
}

export const uuidsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ uuid }) => uuid ?? []);
