import type { SummaryProgress, SummaryStep } from "../../compaction/write/attempts.ts";
import { formatCount, plural } from "./numbers.ts";

const STEP_LINES: Readonly<Record<SummaryStep, string>> = {
  notes: "The summary is made from the notes …",
  provider: "The provider is asked for its own summary …",
  fork: "The summary is asked for as the conversation's next turn …",
  direct: "The summary is asked for in a call of its own …",
  "built-in": "The built-in summariser writes the summary …",
};

/** What the person sees while the model works, one line that replaces the one before. */
export function progressLine(progress: SummaryProgress, model: string): string {
  switch (progress.phase) {
    case "hooks":
      return `Running ${plural(progress.hooks, `${progress.event} hook`)} …`;
    case "step":
      return STEP_LINES[progress.step];
    case "sent":
      return `${model} reads ${plural(progress.messages, "message")} …`;
    case "thinking":
      return `${model} thinks …`;
    case "writing":
      return `${model} writes the summary … ${formatCount(progress.characters)} characters`;
    case "retrying":
      return `${model} could not answer (${progress.code}); trying again in ${Math.ceil(progress.delayMs / 1000)} s …`;
    case "cut":
      return `Too long for ${model}: ${progress.droppedRounds} of ${progress.rounds} rounds go in condensed …`;
  }
}
