import type { SummaryStep } from "./sources.ts";

/** What happens while a compaction runs. Counts and codes only. */
export type SummaryProgress =
  /** Hooks for this event run, such as "PreCompact". The next phase ends them. */
  | { readonly phase: "hooks"; readonly event: string; readonly hooks: number }
  /** The next way to a summary is tried. */
  | { readonly phase: "step"; readonly step: SummaryStep }
  | { readonly phase: "sent"; readonly messages: number }
  | { readonly phase: "thinking" }
  | { readonly phase: "writing"; readonly characters: number }
  | { readonly phase: "retrying"; readonly attempt: number; readonly delayMs: number; readonly code: string }
  /** The request was too long: rounds were taken out of it, and it is sent again. */
  | { readonly phase: "cut"; readonly droppedRounds: number; readonly rounds: number };

export type OnSummaryProgress = (progress: SummaryProgress) => void;
