import { formatCount, plural } from "../../view/numbers.ts";
import type { Guide } from "../chat-setup.ts";
import { GAUGE_LOG } from "./project.ts";
import { FIX_PROMPT, OVERVIEW_PROMPT, RECALL_PROMPT, RESOURCES_PROMPT } from "./scenes.ts";
import type { TourEvents } from "./tour-events.ts";

export interface GuideParts {
  readonly seen: TourEvents;
  /** Resolves when there is no background work. */
  settled(): Promise<void>;
}

/**
 * Guides through the steps and waits until each step is done. Before a step is done, the person can do
 * anything else.
 */
export function tourGuide(steps: Iterable<TourStep>, { seen, settled }: GuideParts): Guide {
  const stops = steps[Symbol.iterator]();
  let waitsFor: string | undefined;
  return {
    next: async (sent) => {
      if (waitsFor !== undefined && sent?.trim() !== waitsFor)
        return { words: "To continue the tour, send:", input: waitsFor };
      // Wait, because background work that still runs belongs to the previous scene.
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

/** One step of the tour. */
export interface TourStep {
  /** Text about the last result, what to look at, and the next step. */
  readonly words: (seen: TourEvents) => string;
  readonly input: string;
  /** Runs right before the text is shown. */
  readonly before?: () => Promise<void>;
}

interface StepOptions {
  /** Folder as shown to people. */
  readonly folder: string;
  readonly windowTokens: number;
  /** True if a person can press keys and try things afterwards. */
  readonly isWatched: boolean;
  /** Deletes the log that the first scene read. */
  removeLog(): Promise<void>;
}

/** Returns all steps of the tour. */
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
    `Welcome. You will watch an agent work in a context window of only ${formatCount(windowTokens)} tokens, and see how it makes room.`,
    `The model is a stand-in that plays a script on this machine. The tools, the files (in ${folder}), the tests and every change to the context are real.`,
    isWatched
      ? "The bar at the bottom shows how full the window is. Press Enter to send the text in the input line. To type something else, clear it with Ctrl-U."
      : "",
  );

function afterOverview(seen: TourEvents): string {
  const { thresholds } = seen.reading ?? {};
  const isYellow = thresholds !== undefined && seen.peakTokens >= thresholds.warning;
  const bar = isYellow
    ? `The bar is yellow: the context has more than ${formatCount(thresholds.warning)} tokens. At ${formatCount(thresholds.autoCompact)} the agent makes room.`
    : "The bar shows how many tokens the files have taken so far.";
  const helper =
    seen.subagents.size > 0
      ? "A subagent surveyed the tests in a separate context window. Only its report came into this one."
      : "";
  const notes = seen.newest("notes-updated");
  const noted =
    notes === undefined
      ? ""
      : `Meanwhile the model took notes in the background (${formatCount(notes.tokens)} tokens so far).`;
  return lines(bar, helper, noted, "See where the tokens are:");
}

const atNoon = (): string =>
  lines(
    "Most of the context is tool results: files that the agent read once.",
    `It is noon now, and ${GAUGE_LOG} was just deleted. The agent read it at the start. Remember that for later.`,
    "Next the agent reads more than fits into the window:",
  );

function afterClearing(seen: TourEvents): string {
  const cleared = seen.newest("results-cleared");
  const happened =
    cleared === undefined
      ? "There was still room for everything."
      : `At the threshold, a short placeholder replaced ${plural(cleared.results, "old tool result")} of ${cleared.tools.join(", ")}: from ${formatCount(cleared.tokensBefore)} to ${formatCount(cleared.tokensAfter)} tokens, without a model call. The agent can read the files again, and the session file keeps every word.`;
  const updates = seen.all("notes-updated").length;
  const notes = updates === 0 ? "" : `The notes were updated ${times(updates)} so far.`;
  return lines(happened, notes, "With notes, a compaction needs no model call and no waiting:");
}

function afterNotes(seen: TourEvents): string {
  const compacted = seen.newest("compacted");
  if (compacted === undefined) return "Nothing was compacted. The ledger lists the facts:";
  const from =
    compacted.tier === "memory"
      ? "The notes replaced the conversation, without a model call"
      : "A summary replaced the conversation";
  return lines(
    `${from}: from ${formatCount(compacted.tokensBefore)} to ${formatCount(compacted.tokensAfter)} tokens. Scroll up: the conversation is still on your screen.`,
    "The ledger shows where each fact is now (your requests, files, test runs):",
  );
}

const beforeNotesOff =
  "Nothing is lost: recall finds every fact that is not in the context. Next, the same without notes: the model writes a summary in the background while it works.";

const beforeFix = (isWatched: boolean): string =>
  lines(
    "Now some real work, with real test runs. Watch the bar rise, and see what happens when it is full.",
    isWatched ? "The agent asks before it runs a command: select Yes with ↓, then press Enter." : "",
  );

function afterBackground(seen: TourEvents): string {
  const begun = seen.newest("background-started");
  const ready = seen.all("background-ended").findLast(({ outcome }) => outcome === "ready");
  const swapped = seen.newest("compacted");
  if (begun === undefined || ready === undefined || swapped?.tier !== "full") {
    return "There was enough room this time. One more question:";
  }
  return lines(
    `At ${formatCount(begun.tokens)} tokens the model started a summary in the background and continued to work. When the window was full, the summary was ready and replaced the conversation: from ${formatCount(swapped.tokensBefore)} to ${formatCount(swapped.tokensAfter)} tokens, without a wait.`,
    `Now a question about ${GAUGE_LOG}, which is no longer on disk or in the context, and about your first message:`,
  );
}

function afterRecall(seen: TourEvents): string {
  const recalls = seen.calls.get("recall") ?? 0;
  return lines(
    recalls === 0
      ? "The agent answered from its context."
      : "The agent used the recall tool, which searches everything that was compacted or cleared, and found the exact line. Your own requests never left the context: each compaction checks that they are there.",
    "You can undo every compaction. Watch the bar:",
  );
}

function afterUndo(seen: TourEvents): string {
  const undone = seen.newest("undone");
  const happened =
    undone === undefined
      ? ""
      : `The undo restored the conversation before the last compaction and kept the newer messages: from ${formatCount(undone.tokensBefore)} to ${formatCount(undone.tokensAfter)} tokens.`;
  return lines(happened, "To redo the compaction:");
}

const farewell = lines(
  "This is the end of the tour. The stand-in answers any prompt, but it only pretends to understand it. Try /help, /rewind, /recall 02:30Z, /todos or /compact. Ctrl-D exits and removes the folder.",
  "To use a real model, set ANTHROPIC_API_KEY and run `longhaul chat` in your project folder.",
);

const times = (count: number): string => (count === 1 ? "once" : count === 2 ? "twice" : `${count} times`);

function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

/**
 * Requests that a person sends in a long run. Each request contains a number, so that a search can find the
 * request.
 */
const REQUESTS: readonly string[] = [
  "page the list of bookings, with at most NUMBER rows on each page",
  "give the tide board a cache of NUMBER seconds",
  "refuse a PUT whose version is older than NUMBER",
  "write down in docs/decisions.md why the hold is NUMBER minutes",
  "look for texts without a Chinese translation; there were NUMBER at the last count",
  "make the night report list at most NUMBER bookings",
  "check that every route answers within NUMBER milliseconds",
  "rename the pilots' roster; ticket NUMBER has the names",
];

/** Number in the first request. Each request uses the next number, so that no two requests are equal. */
const FIRST_NUMBER = 4_000;

/**
 * Yields the steps of the tour, and then one request after the other until the number of model calls is
 * reached. Turns notes on again in the second half.
 */
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
      yield { words: () => "For the second half, turn notes on again:", input: "/notes on" };
    }
    const wish = REQUESTS[(number - FIRST_NUMBER) % REQUESTS.length] ?? "";
    yield {
      words: ({ turns: made, reading }) =>
        `${plural(made, "call")} of ${turns} done, ${reading?.window.percentLeft ?? 100}% left.`,
      input: `Please ${wish.replace("NUMBER", String(number))}.`,
    };
  }
  return undefined;
}
