import { describe, expect, it } from "vitest";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../test/support/full-compactor.ts";
import type { ContentBlock } from "../messages/message.ts";
import type { Model, ModelEvent, ModelReply } from "../models/port.ts";
import { BackgroundSummarizer } from "./background.ts";
import type { CompactorEvent, EventDetail } from "./events.ts";
import type { Message } from "./options.ts";
import type { CompactionParts } from "./run-compaction.ts";

const WINDOW_TOKENS = 200_000;
const HOUR_MS = 3_600_000;
const MODEL = "house-model";
const PRICES = {
  cost: { prices: { [MODEL]: { input: 1, output: 5, cacheRead: 0.1, cacheWrite5m: 1.25 } } },
};

type EventOf<Type extends CompactorEvent["type"]> = Extract<CompactorEvent, { readonly type: Type }>;

/** A conversation that grows by a given number of tokens, and a model that writes summaries immediately. */
class Talk {
  readonly events: CompactorEvent[] = [];
  readonly #messages: Message[] = [];
  readonly #compactor: Compactor;
  #nowMs = Date.parse("2026-01-01T00:00:00Z");
  #calls = 0;
  /** True makes the model return an empty text. */
  returnsNothing = false;

  constructor(options: Partial<CompactorOptions> = {}) {
    this.#compactor = createCompactor({
      model: this.#model(),
      window: { tokens: WINDOW_TOKENS },
      ports: {
        countText: (text) => text.split(" ").length,
        now: () => new Date(this.#nowMs),
        newUuid: () => crypto.randomUUID(),
      },
      host: { onEvent: (event) => this.events.push(event) },
      ...options,
    });
  }

  /** Adds a user message of this many tokens. */
  async says(tokens: number): Promise<void> {
    await this.#go([{ type: "text", text: words(tokens) }]);
  }

  /** Adds a tool result of this many tokens. */
  async reads(tokens: number): Promise<void> {
    const id = `call-${this.#calls}`;
    const input = { file_path: `/src/${id}.ts` };
    this.#messages.push({ role: "assistant", content: [{ type: "tool_use", id, name: "Read", input }] });
    await this.#go([{ type: "tool_result", tool_use_id: id, content: words(tokens) }]);
  }

  pause(ms: number): void {
    this.#nowMs += ms;
  }

  eventsOf<Type extends CompactorEvent["type"]>(type: Type): readonly EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  async #go(content: readonly ContentBlock[]): Promise<void> {
    if (content[0]?.type === "text" && this.#messages.length > 0) {
      this.#messages.push({ role: "assistant", content: "I see." });
    }
    this.#messages.push({ role: "user", content });
    const { messages, tokens } = await this.#compactor.before(this.#messages);
    this.#messages.splice(0, this.#messages.length, ...messages);
    const usage = { input_tokens: tokens, output_tokens: 10 };
    this.#compactor.after({ id: `message-${++this.#calls}`, usage });
    // Background work ends with the next tick.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #model(): Model {
    const summary = (): string => (this.returnsNothing ? "" : `<summary>${words(1_000)}</summary>`);
    return {
      name: MODEL,
      capabilities: CAPABILITIES,
      countTokens: () => Promise.reject(new Error("not asked")),
      async *stream(): AsyncGenerator<ModelEvent> {
        yield { type: "end", reply: replyOf(summary()) };
      },
    };
  }
}

const CAPABILITIES: Model["capabilities"] = {
  promptCache: true,
  cacheEdits: false,
  contextEdits: false,
  compaction: { onDemand: false, threshold: false },
  boundThinking: false,
  images: false,
  countTokens: "estimate",
};

const words = (count: number): string => Array.from({ length: count }, (_, at) => `w${at % 100}`).join(" ");

const replyOf = (text: string): ModelReply => ({
  id: "reply",
  model: MODEL,
  content: [{ type: "text", text }],
  stopReason: "end_turn",
  usage: {
    input_tokens: 1_000,
    output_tokens: 1_000,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  },
  appliedEdits: [],
  changes: [],
});

const isWritten = (event: EventOf<"compacted"> | undefined): boolean =>
  event?.attempts.some(({ step, outcome }) => step === "direct" && outcome === "written") === true;

/**
 * Fills the context up to the threshold. Clearing is possible at the threshold, but not at 80% of the
 * threshold.
 */
async function fill(talk: Talk): Promise<void> {
  for (let reads = 0; reads < 12; reads++) await talk.reads(4_500);
  for (let words = 0; words < 7; words++) await talk.says(10_500);
  await talk.says(20_000);
  await talk.reads(9_000);
  await talk.reads(9_000);
}

describe("a background summary that is ready at the threshold", () => {
  it.each([
    ["known", PRICES],
    ["unknown", {}],
  ])(
    "at the threshold, uses a ready background summary and clears no tool results, with %s prices",
    async (_, prices) => {
      const talk = new Talk(prices);
      await fill(talk);
      expect(talk.eventsOf("background-ended")).toMatchObject([{ outcome: "ready" }]);
      expect(talk.eventsOf("results-cleared")).toEqual([]);
      expect(talk.eventsOf("compacted").map(isWritten)).toEqual([true]);
    },
  );

  it("at the threshold, clears tool results if no background summary is ready and prices are unknown", async () => {
    const talk = new Talk({ compaction: { background: false } });
    await fill(talk);
    expect(talk.eventsOf("results-cleared")).toHaveLength(1);
    expect(talk.eventsOf("compacted")).toEqual([]);
  });

  it("the cost of a compaction does not include a model call if a background summary is ready", async () => {
    const costNow = async (background: boolean): Promise<number> => {
      const talk = new Talk({ ...PRICES, compaction: { background } });
      await fill(talk);
      const { options = [] } = talk.eventsOf("weighed").find(({ chosen }) => chosen !== "nothing") ?? {};
      return options.find(({ name }) => name === "compact")?.costNow ?? Number.NaN;
    };
    expect(await costNow(true)).toBeLessThan((await costNow(false)) - 0.1);
  });
});

describe("an outdated background summary", () => {
  it("writes a new background summary if most of the conversation is newer than the existing summary", async () => {
    const talk = new Talk({ clearing: { form: "time" } });
    for (let reads = 0; reads < 25; reads++) await talk.reads(5_500);
    expect(talk.eventsOf("background-ended")).toMatchObject([{ outcome: "ready" }]);
    talk.pause(2 * HOUR_MS);
    for (let words = 0; words < 4; words++) await talk.says(30_000);
    expect(talk.eventsOf("results-cleared")).toHaveLength(1);
    expect(talk.eventsOf("background-ended").slice(1)).toMatchObject([
      { outcome: "discarded", reason: "outdated" },
      { outcome: "ready" },
    ]);
    expect(talk.eventsOf("background-started").map(({ isRefresh }) => isRefresh)).toEqual([false, false]);
  });

  it("uses an outdated background summary at the threshold if its refresh failed", async () => {
    const talk = new Talk({ clearing: { form: "off" } });
    for (let words = 0; words < 14; words++) await talk.says(9_800);
    talk.returnsNothing = true;
    await talk.says(22_000);
    expect(talk.eventsOf("background-started").map(({ isRefresh }) => isRefresh)).toEqual([false, true]);
    expect(talk.eventsOf("background-ended").map(({ outcome }) => outcome)).toEqual(["ready", "failed"]);
    await talk.says(22_000);
    expect(talk.eventsOf("compacted").map(isWritten)).toEqual([true]);
  });
});

describe("failures before a background summary begins", () => {
  it("an unexpected error before a background summary causes an event instead of an exception", () => {
    const events: EventDetail[] = [];
    const broken = {
      reporter: { emit: (event: EventDetail) => events.push(event) },
      get options(): never {
        throw new TypeError("broken");
      },
    };
    new BackgroundSummarizer(() => broken as unknown as CompactionParts).onResponse();
    expect(events).toMatchObject([{ type: "background-ended", outcome: "failed", reason: "unexpected" }]);
  });
});

describe("a background summary that is ready before the threshold", () => {
  /** Adds this many messages. 70 messages are more than 80% of the threshold. */
  async function fillPart(talk: Talk, messages: number): Promise<void> {
    for (let message = 0; message < messages; message++) await talk.says(2_000);
  }

  it("is used before the threshold if that costs less than carrying the old messages on", async () => {
    const talk = new Talk(PRICES);
    await fillPart(talk, 72);
    const [compacted] = talk.eventsOf("compacted");
    expect(isWritten(compacted)).toBe(true);
    expect(compacted?.tokensBefore).toBeLessThan(150_000);
    expect(talk.eventsOf("weighed")).toMatchObject([{ occasion: "early", chosen: "compact" }]);
    expect(talk.eventsOf("background-started")).toHaveLength(1);
  });

  it("waits for the threshold if the prices are unknown", async () => {
    const talk = new Talk();
    await fillPart(talk, 72);
    expect(talk.eventsOf("background-ended")).toMatchObject([{ outcome: "ready" }]);
    expect(talk.eventsOf("compacted")).toEqual([]);
    await fillPart(talk, 14);
    expect(talk.eventsOf("compacted").map(isWritten)).toEqual([true]);
  });
});

describe("the share of the cost that summaries of a model may take", () => {
  const run = async (summaryCostShare?: number): Promise<Talk> => {
    const talk = new Talk({
      ...PRICES,
      compaction: summaryCostShare === undefined ? {} : { summaryCostShare },
    });
    for (let step = 0; step < 120; step++) await talk.says(4_600);
    return talk;
  };

  it("a model writes the first summary, and the built-in summarizer writes those that would cost too much", async () => {
    const talk = await run(0);
    const [first, ...others] = talk.eventsOf("compacted");
    expect(isWritten(first)).toBe(true);
    expect(others.length).toBeGreaterThan(0);
    for (const { attempts } of others) expect(attempts.map(({ step }) => step)).toEqual(["built-in"]);
  });

  it("a model writes every summary in a large window, because its summaries cost little there", async () => {
    for (const share of [undefined, 1]) {
      const compacted = (await run(share)).eventsOf("compacted");
      expect(compacted.length).toBeGreaterThan(1);
      expect(compacted.every(isWritten)).toBe(true);
    }
  });

  it("rejects a share that is not a number, or is negative", () => {
    for (const summaryCostShare of ["0.1", -1, Number.NaN] as never[]) {
      expect(() => new Talk({ compaction: { summaryCostShare } })).toThrow("compaction.summaryCostShare");
    }
  });
});
