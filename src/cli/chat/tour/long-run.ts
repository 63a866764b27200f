import { plural } from "../../view/numbers.ts";
import type { TourStep } from "./steps.ts";
import type { Witness } from "./witness.ts";

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
  seen: Witness,
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
