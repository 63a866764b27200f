// Measures an idle turn: the cost of before() if only a call and its result are new.
import { collectGarbage, consume, lowerQuartile } from "../measure.mjs";
import { peers as plainPeers } from "../peers/plain.mjs";
import { ENDLESS_WINDOW, Host } from "./host.mjs";

/** The host restarts before its conversation has grown by more than this share. */
const MAX_GROWTH = 0.1;
const TOKENS_PER_TURN = 500;
const TURNS_PER_ROUND = 40;
/** Number of turns after which the JIT has compiled everything. */
const WARM_UP_TURNS = 1_500;

const onEvent = () => undefined;

/** Ways to use the engine. The claims of the benchmark are about the first one. */
export const VARIANTS = [
  { name: "longhaul, before(): messages, pushed", options: {} },
  { name: "longhaul, same, a new array each turn", options: { grows: "spread" } },
  { name: "longhaul, same, with onEvent", options: { host: { onEvent } } },
  { name: "longhaul, before(): entries, pushed", options: { form: "entries" } },
  { name: "longhaul, same, with onEvent", options: { form: "entries", host: { onEvent } } },
];

/**
 * Measures all sizes in alternation, so that a busy moment of the machine affects all of them. Next to each
 * measurement, times a plain pass over the same conversation.
 * @returns `{ before, mean, after, plain }`. Each is a list of milliseconds, one per size. All except `mean`
 * are lower quartiles.
 */
export async function measureIdle(options, conversations, rounds) {
  const seats = conversations.map((conversation) => new Seat(conversation, options));
  await warmUp(seats[0]);
  for (const seat of seats) await seat.open();
  collectGarbage();
  for (let round = 0; round < rounds; round++) for (const seat of seats) await seat.round();
  return {
    before: seats.map(({ before }) => lowerQuartile(before)),
    mean: seats.map(({ before }) => before.reduce((sum, ms) => sum + ms, 0) / before.length),
    after: seats.map(({ after }) => lowerQuartile(after)),
    plain: seats.map(({ plain }) => lowerQuartile(plain)),
  };
}

async function warmUp(seat) {
  for (let turn = 0; turn < WARM_UP_TURNS; turn += TURNS_PER_ROUND) await seat.round();
  seat.forget();
}

class Seat {
  #conversation;
  #options;
  #mostTurns;
  #plainPass;
  #host;
  #turns = 0;

  constructor(conversation, options) {
    const { tokens, turns } = conversation;
    this.#conversation = conversation;
    this.#options = { window: { tokens: ENDLESS_WINDOW }, ...options };
    this.#mostTurns = Math.max(TURNS_PER_ROUND, (tokens * MAX_GROWTH) / TOKENS_PER_TURN);
    this.#plainPass = plainPeers[0].open({ turns }).check.run;
    this.forget();
  }

  forget() {
    this.before = [];
    this.after = [];
    this.plain = [];
  }

  async open() {
    this.#host = new Host(this.#options);
    this.#turns = 0;
    await this.#host.open(this.#conversation);
  }

  async round() {
    if (this.#host === undefined || this.#turns + TURNS_PER_ROUND > this.#mostTurns) await this.open();
    for (let turn = 0; turn < TURNS_PER_ROUND; turn++) {
      this.after.push(this.#host.respond());
      const { turn: made, beforeMs } = await this.#host.before();
      if (made.skipped !== "below-threshold" || made.cleared > 0)
        throw new Error("this turn needed something");
      this.before.push(beforeMs);
    }
    this.#turns += TURNS_PER_ROUND;
    const startedAt = performance.now();
    consume(this.#plainPass());
    this.plain.push(performance.now() - startedAt);
  }
}
