import { formatCount, plural } from "../../view/numbers.ts";
import type { Guide } from "../chat-setup.ts";
import { GAUGE_LOG } from "./project.ts";
import { FIX_PROMPT, OVERVIEW_PROMPT, RECALL_PROMPT, RESOURCES_PROMPT } from "./scenes.ts";
import type { TourEvents } from "./tour-events.ts";

export interface GuideParts {
  readonly seen: TourEvents;
  /** Resolves when nothing goes on in the background. */
  settled(): Promise<void>;
}

/** Leads through the steps, and waits with each until it was done; what the person does in between is up to them. */
export function tourGuide(steps: Iterable<TourStep>, { seen, settled }: GuideParts): Guide {
  const stops = steps[Symbol.iterator]();
  let waitsFor: string | undefined;
  return {
    next: async (sent) => {
      if (waitsFor !== undefined && sent?.trim() !== waitsFor)
        return { words: "Whenever you like, the tour goes on with:", input: waitsFor };
      // Work that still runs in the background belongs to the scene that was just shown.
      await settled();
      const { value: step, done } = stops.next();
      if (done === true) return undefined;
      await step.before?.();
      waitsFor = step.input === "" ? undefined : step.input;
      return { words: step.words(seen), input: step.input };
    },
    saw: (event) => seen.saw(event),
  };
}

/** One stop of the tour. */
export interface TourStep {
  /** What just happened, what to look at, what comes next. */
  readonly words: (seen: TourEvents) => string;
  readonly input: string;
  /** Done right before the words are said. */
  readonly before?: () => Promise<void>;
}

interface StepOptions {
  /** As people are told it. */
  readonly folder: string;
  readonly windowTokens: number;
  /** Somebody is there to press keys, and to try things afterwards. */
  readonly isWatched: boolean;
  /** The project's folder is not as it was: what the first scene read is gone. */
  removeLog(): Promise<void>;
}

/** The tour, stop by stop. */
export function tourSteps(options: StepOptions): readonly TourStep[] {
  const { isWatched, removeLog } = options;
  return [
    { words: () => welcome(options), input: OVERVIEW_PROMPT },
    { words: afterOverview, input: "/context" },
    { words: atNoon, input: RESOURCES_PROMPT, before: removeLog },
    { words: afterClearing, input: "/compact" },
    { words: afterNotes, input: "/ledger" },
    { words: () => beforeNotesOff, input: "/notes off" },
    { words: () => beforeFix(isWatched), input: FIX_PROMPT },
    { words: afterBackground, input: RECALL_PROMPT },
    { words: afterRecall, input: "/undo" },
    { words: afterUndo, input: "/redo" },
    ...(isWatched ? [{ words: () => farewell, input: "" }] : []),
  ];
}

const welcome = ({ folder, windowTokens, isWatched }: StepOptions): string =>
  lines(
    `Welcome. You are about to watch an agent work in a window of only ${formatCount(windowTokens)} tokens, and to see what keeps it going.`,
    `The model is a stand-in that plays a script on this machine: it understands nothing. The tools, the files (in ${folder}), the tests and all that happens to the context are real.`,
    isWatched
      ? "The bar at the bottom shows how full the window is. Press Enter to send what stands in the input line; Ctrl-U empties it, if you would rather type something else."
      : "",
  );

function afterOverview(seen: TourEvents): string {
  const { thresholds } = seen.reading ?? {};
  const isYellow = thresholds !== undefined && seen.peakTokens >= thresholds.warning;
  const bar = isYellow
    ? `The bar is yellow: over ${formatCount(thresholds.warning)} tokens. At ${formatCount(thresholds.autoCompact)} room has to be made.`
    : "The bar shows what the reading has cost so far.";
  const helper =
    seen.subagents.size > 0
      ? "The tests were surveyed by a subagent in a window of its own; only its report came into this one."
      : "";
  const notes = seen.newest("notes-updated");
  const noted =
    notes === undefined
      ? ""
      : `Meanwhile the model took notes of the session in the background (${formatCount(notes.tokens)} tokens so far).`;
  return lines(bar, helper, noted, "See where the tokens are:");
}

const atNoon = (): string =>
  lines(
    "Most of it is results of tools: files that were read once.",
    `And it is noon: ${GAUGE_LOG} has just been deleted from the folder. The agent read it at the start. Remember that for later.`,
    "Next it reads more than the window can hold:",
  );

function afterClearing(seen: TourEvents): string {
  const cleared = seen.newest("results-cleared");
  const happened =
    cleared === undefined
      ? "There was still room for everything."
      : `At the threshold ${plural(cleared.results, "old result")} of ${cleared.tools.join(", ")} gave way to a short mark: from ${formatCount(cleared.tokensBefore)} to ${formatCount(cleared.tokensAfter)} tokens, without a model. What the files say can be read again, and the session file keeps every word.`;
  const updates = seen.all("notes-updated").length;
  const notes = updates === 0 ? "" : `The notes have been brought up to date ${times(updates)} by now.`;
  return lines(happened, notes, "With notes a compaction needs no model and no waiting:");
}

function afterNotes(seen: TourEvents): string {
  const compacted = seen.newest("compacted");
  if (compacted === undefined) return "Nothing was compacted. The ledger says what would be known of it:";
  const from =
    compacted.tier === "memory"
      ? "The notes took the place of the conversation, and no model was called"
      : "A summary took the place of the conversation";
  return lines(
    `${from}: from ${formatCount(compacted.tokensBefore)} to ${formatCount(compacted.tokensAfter)} tokens. Scroll up: all of it is still on your screen.`,
    "What became of each fact (your words, files, test runs) stands in the ledger:",
  );
}

const beforeNotesOff =
  "Nothing is gone: what is not in the context can be found again. Now the other way, without notes: then the model writes a summary in the background while it works on.";

const beforeFix = (isWatched: boolean): string =>
  lines(
    "Now some real work, with real test runs. Watch the bar go up, and what happens when it is full.",
    isWatched ? "Before it runs a command it will ask you: select Yes with ↓, then press Enter." : "",
  );

function afterBackground(seen: TourEvents): string {
  const begun = seen.newest("background-started");
  const ready = seen.all("background-ended").findLast(({ outcome }) => outcome === "ready");
  const swapped = seen.newest("compacted");
  if (begun === undefined || ready === undefined || swapped?.tier !== "full") {
    return "There was room enough this time. One more question:";
  }
  return lines(
    `At ${formatCount(begun.tokens)} tokens the model began to write a summary in the background, and the work went on. When the window was full it was there and was swapped in: from ${formatCount(swapped.tokensBefore)} to ${formatCount(swapped.tokensAfter)} tokens, and nobody waited.`,
    `Now a question about ${GAUGE_LOG}, which is neither on the disk nor in the context any more, and about what you said in your first message:`,
  );
}

function afterRecall(seen: TourEvents): string {
  const recalls = seen.calls.get("recall") ?? 0;
  return lines(
    recalls === 0
      ? "That was answered from what is in the context."
      : "It asked the tool recall, which searches all that was compacted or cleared, and got the line word for word. Your own words never left the context: each compaction checks that they are there.",
    "And every compaction can be taken back. Watch the bar:",
  );
}

function afterUndo(seen: TourEvents): string {
  const undone = seen.newest("undone");
  const happened =
    undone === undefined
      ? ""
      : `The conversation is as it was before the last compaction, plus what came since: from ${formatCount(undone.tokensBefore)} to ${formatCount(undone.tokensAfter)} tokens.`;
  return lines(happened, "To take that back as well:");
}

const farewell = lines(
  "That is the tour. The stand-in answers whatever you type, but only pretends to understand it. Try /help, /rewind, /recall 02:30Z, /todos or /compact; Ctrl-D leaves, and the folder is removed.",
  "With a real model: set ANTHROPIC_API_KEY, and run `longhaul chat` in a folder of yours.",
);

const times = (count: number): string => (count === 1 ? "once" : count === 2 ? "twice" : `${count} times`);

function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

/** What a person says now and then in a long run. The number makes each of them one that can be looked for. */
const WISHES: readonly string[] = [
  "page the list of bookings, and never more than NUMBER rows at once",
  "give the tide board a cache of NUMBER seconds",
  "refuse a PUT whose version is older than NUMBER",
  "write down in docs/decisions.md why the hold is NUMBER minutes",
  "look for texts that Chinese lacks; there were NUMBER at the last count",
  "make the night report list at most NUMBER bookings",
  "check that no route answers later than after NUMBER milliseconds",
  "rename the pilots' roster; ticket NUMBER has the names",
];

/** The first number; each wish has the next, so that no two are the same. */
const FIRST_NUMBER = 4_000;

/** First the stops of the tour, then wish after wish until so many calls have been made; notes again for the second half. */
export function* longRun(
  steps: readonly TourStep[],
  seen: TourEvents,
  turns: number,
): Generator<TourStep, undefined> {
  yield* steps;
  let hasNotes = false;
  for (let number = FIRST_NUMBER; seen.turns < turns; number++) {
    if (!hasNotes && seen.turns >= turns / 2) {
      hasNotes = true;
      yield { words: () => "For the second half notes are taken again:", input: "/notes on" };
    }
    const wish = WISHES[(number - FIRST_NUMBER) % WISHES.length] ?? "";
    yield {
      words: ({ turns: made, reading }) =>
        `${plural(made, "call")} of ${turns} made, ${reading?.window.percentLeft ?? 100}% left.`,
      input: `Please ${wish.replace("NUMBER", String(number))}.`,
    };
  }
  return undefined;
}
