import { CHANGED, editedFilesOf } from "./files.ts";
import { seenChecks } from "./outcomes.ts";
import { type SessionView, SHOWN_CHARS, spread, topicWords, wordGroup } from "./session-view.ts";
import type { Probe } from "./types.ts";
import { contentStems, excerptOf, sentencesOf, tokensOf } from "./words.ts";

type Draft = Omit<Probe, "id">;

const MAX_REPAIRS = 4;
/** A summary condenses the output of a failure and the agent's words about it. */
const FAILURE_SHARE = 0.3;
const MAX_FAILURE_WORDS = 20;
const MIN_WORDS = 4;

interface Failure {
  readonly text: string;
  readonly entryIds: readonly string[];
}

/** Returns failed checks that passed after the next edit. */
function repairedFailures(view: SessionView): Failure[] {
  const open = new Map<string, Failure & { readonly isEdited: boolean }>();
  const repaired: Failure[] = [];
  let said = "";
  const runs = new Map(view.runs.map((run) => [run.call, run]));
  for (const turn of view.turns) {
    if (turn.type === "assistant") said = sentencesOf(turn.text)[0] ?? "";
    if (turn.type !== "call") continue;
    const run = runs.get(turn);
    if (run === undefined) continue;
    if (editedFilesOf(turn).length > 0 && run.result?.isError !== true) {
      for (const [kind, failure] of open) {
        if (failure.isEdited) continue;
        open.set(kind, { ...failure, text: `${failure.text} ${said}`, isEdited: true });
      }
    }
    for (const { class: kind, verdict, evidence } of seenChecks(run)) {
      const failure = open.get(kind);
      if (verdict === "passed" && failure?.isEdited === true) repaired.push(failure);
      open.delete(kind);
      const entryIds = [run.result?.entryId ?? turn.entryId];
      if (verdict === "failed") open.set(kind, { text: evidence, entryIds, isEdited: false });
    }
  }
  return repaired;
}

/** Probes for failures that an edit repaired. The failure must stand together with a word of its repair. */
export function repairProbes(view: SessionView): Draft[] {
  const failures = repairedFailures(view).filter(
    ({ text }) => contentStems(tokensOf(text)).length >= MIN_WORDS,
  );
  return spread(failures, MAX_REPAIRS).map(({ text, entryIds }) => ({
    kind: "error",
    question: `Which failure about "${topicWords(view, text)}" was repaired, and how?`,
    text: excerptOf(text, SHOWN_CHARS),
    answer: { needles: [], groups: [wordGroup(view, text, FAILURE_SHARE, MAX_FAILURE_WORDS), CHANGED] },
    entryIds,
  }));
}
