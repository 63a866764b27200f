import { scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../test/support/full-compactor.ts";
import { codeOf } from "../../../../test/support/long-session.ts";
import { LonghaulError } from "../messages/errors.ts";
import type { ApiMessage } from "../messages/message.ts";
import { ModelError } from "../models/model-error.ts";
import type { CompactorEvent } from "./events.ts";
import type { Message, Turn } from "./options.ts";

const WINDOW_TOKENS = 40_000;

/** A summary almost as long as the messages that it replaces. */
const LONG_SUMMARY = `<summary>${"The harbour is being dredged, berth by berth. ".repeat(2_500)}</summary>`;
const SHORT_SUMMARY = "<summary>The harbour is being dredged.</summary>";

const rounds = (count: number, words = 400): readonly ApiMessage[] =>
  Array.from({ length: count }, (_, at): readonly ApiMessage[] => [
    { role: "user", content: `request ${at}: ${"tide table ".repeat(words)}` },
    { role: "assistant", content: `part ${at} works now` },
  ]).flat();

class Host {
  readonly events: CompactorEvent[] = [];
  readonly compactor: Compactor;
  messages: readonly Message[] = [];

  constructor(options: Partial<CompactorOptions> = {}) {
    this.compactor = createCompactor({
      clearing: { form: "off" },
      host: { onEvent: (event) => void this.events.push(event) },
      ...options,
      window: { tokens: WINDOW_TOKENS, ...options.window },
      settings: { environment: {}, ...options.settings },
    });
  }

  async turn(...said: readonly ApiMessage[]): Promise<Turn> {
    this.messages = [...this.messages, ...said];
    const turn = await this.compactor.before(this.messages);
    this.messages = turn.messages;
    return turn;
  }

  ofType<T extends CompactorEvent["type"]>(type: T): readonly Extract<CompactorEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<CompactorEvent, { type: T }> => event.type === type);
  }
}

const writing = (summary: string) => scriptedModel(() => summary, { name: "writer" });

/** Creates a host with a full window and a summary as long as the messages that it replaces. */
async function fullWithLongSummary(options: Partial<CompactorOptions> = {}): Promise<Host> {
  const host = new Host({
    model: writing(LONG_SUMMARY),
    compaction: { background: false, ...options.compaction },
    ...options,
  });
  await host.turn(...rounds(30));
  return host;
}

describe("an automatic compaction that does not pay", () => {
  it("an automatic compaction that saves too little changes nothing and reports the usage of the summary call", async () => {
    const host = new Host({ model: writing(LONG_SUMMARY), compaction: { background: false } });
    const given = rounds(30);
    const turn = await host.turn(...given);
    expect(turn.messages).toEqual(given);
    expect([turn.compaction, turn.problem?.code]).toEqual([undefined, "compaction-ineffective"]);
    const [failed] = host.ofType("compaction-failed");
    expect(failed).toMatchObject({ reason: "does_not_pay", code: "compaction-ineffective" });
    expect(failed?.attempts.at(-1)).toMatchObject({ outcome: "written", usage: expect.anything() });
    expect(host.ofType("compacted")).toEqual([]);
  });

  it("skips a turn after a compaction that saves too little, and stops after three such compactions", async () => {
    const host = await fullWithLongSummary();
    expect((await host.turn(...rounds(1, 5))).skipped).toBe("did-not-pay");
    for (let turn = 0; turn < 9; turn++) await host.turn(...rounds(1, 5));
    expect(host.ofType("compaction-started")).toHaveLength(3);
    expect(host.ofType("breaker-opened")).toMatchObject([{ why: "ineffective", strikes: 3 }]);
  });

  it("discards a background summary that saves too little", async () => {
    // This summary is short enough to be used at the threshold, but too long to save enough tokens there.
    const summary = `<summary>${"The harbour is being dredged, berth by berth. ".repeat(1_400)}</summary>`;
    const host = new Host({ model: writing(summary) });
    for (let turn = 0; turn < 60 && host.ofType("compaction-failed").length === 0; turn++) {
      await host.turn(...rounds(1));
      host.compactor.after({ usage: null });
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    expect(host.ofType("background-ended")[0]).toMatchObject({ outcome: "ready" });
    expect(host.ofType("compaction-failed")).toMatchObject([{ reason: "does_not_pay" }]);
    expect(host.ofType("background-ended").at(-1)).toMatchObject({
      outcome: "discarded",
      reason: "does-not-pay",
    });
  });

  it("compacts after an overflow even if the compaction saves too little", async () => {
    const summary = `<summary>${"The harbour is being dredged, berth by berth. ".repeat(1_100)}</summary>`;
    const host = new Host({
      model: writing(summary),
      compaction: { reactiveOnly: true, keepRecentTokens: 2_000 },
    });
    await host.turn(...rounds(30));
    const failure = { kind: "too-long", tokens: 41_000, limit: WINDOW_TOKENS } as const;
    const again = await host.compactor.recover(new ModelError(failure, "too long"));
    expect(again?.compaction).toBeDefined();
    expect(host.ofType("recovered")).toHaveLength(1);
  });
});

describe("a manual compaction that does not pay", () => {
  it("a manual compaction that saves too little throws, changes nothing and does not open the breaker", async () => {
    const host = new Host({ model: writing(LONG_SUMMARY) });
    const given = rounds(10);
    await host.turn(...given);
    for (let times = 0; times < 4; times++) {
      expect(await codeOf(() => host.compactor.compact(host.messages))).toBe("compaction-ineffective");
    }
    expect((await host.turn()).messages).toEqual(given);
    expect(host.ofType("breaker-opened")).toEqual([]);
  });

  it.each([{ force: true }, { instructions: "mind the tides" }])(
    "a manual compaction with the options %j succeeds even if it saves too little",
    async (wish) => {
      const host = new Host({ model: writing(LONG_SUMMARY) });
      await host.turn(...rounds(10));
      const { compaction } = await host.compactor.compact(host.messages, wish);
      expect(compaction?.saving.pays).toBe(false);
    },
  );

  it("compact() with instructions compacts every conversation that is not empty", async () => {
    for (const given of [rounds(1, 1), rounds(2, 1), rounds(1, 1).slice(0, 1)]) {
      const host = new Host({
        model: writing(SHORT_SUMMARY),
        compaction: { keepRecentTokens: 10_000 },
      });
      await host.turn(...given);
      const first = await host.compactor.compact(host.messages, { instructions: "mind the tides" });
      expect(first.compaction).toBeDefined();
      const second = await host.compactor.compact(first.messages, { instructions: "and the wind" });
      expect(second.compaction).toBeDefined();
    }
    const empty = new Host({ model: writing(SHORT_SUMMARY) });
    const attempt = (): unknown => empty.compactor.compact([], { instructions: "mind the tides" });
    expect(await codeOf(attempt)).toBe("not-enough-messages");
  });

  it("a manual compaction keeps at most a quarter of the conversation by default", async () => {
    const host = new Host({ model: writing(SHORT_SUMMARY), window: { tokens: 200_000 } });
    await host.turn(...rounds(12));
    const { compaction } = await host.compactor.compact(host.messages);
    expect(compaction?.messagesKept).toBeGreaterThan(0);
    expect(compaction?.messagesKept).toBeLessThanOrEqual(6);
  });
});

describe("manual compaction of random conversations", () => {
  it("a manual compaction saves a worthwhile number of tokens or changes nothing", async () => {
    const wish = fc.oneof(
      fc.constant({}),
      fc.record({ keepRecentTokens: fc.nat({ max: 8_000 }) }),
      fc.record({ from: fc.nat({ max: 10 }) }),
      fc.record({ upTo: fc.nat({ max: 10 }) }),
    );
    const size = fc.record({ turns: fc.integer({ min: 1, max: 12 }), words: fc.nat({ max: 600 }) });
    let [done, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(size, fc.nat({ max: 1_500 }), wish, async ({ turns, words }, length, options) => {
        const summary = `<summary>So it is. ${"The harbour is dredged. ".repeat(length)}</summary>`;
        const host = new Host({ model: writing(summary), window: { tokens: 200_000 } });
        const given = rounds(turns, words);
        await host.turn(...given);
        const outcome = await host.compactor.compact(host.messages, options).catch((error: unknown) => error);
        if (outcome instanceof LonghaulError) {
          refused += 1;
          expect((await host.turn()).messages).toEqual(given);
          return;
        }
        done += 1;
        const { compaction } = outcome as Turn;
        expect(compaction?.saving.pays).toBe(true);
        const [compacted] = host.ofType("compacted");
        expect((compacted?.tokensBefore ?? 0) - (compacted?.tokensAfter ?? 0)).toBeGreaterThanOrEqual(
          compaction?.saving.smallestWorthwhile ?? Number.NaN,
        );
      }),
      { numRuns: 80 },
    );
    expect(Math.min(done, refused)).toBeGreaterThan(5);
  });
});
