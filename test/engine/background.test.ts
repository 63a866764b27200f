import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import type { SummaryAttempt } from "@longhaul/core/compaction";
import { loadSession, openTranscript, type TranscriptWriter } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inputTokens } from "../../packages/core/src/messages/responses.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { AgentLoop, connect } from "./agent-loop.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { openScene, type Scene, workUntil } from "./scene.case.ts";
import { SlowSummaries } from "./slow-summaries.case.ts";

const WINDOW_TOKENS = 100_000;
const TURN_MS = 10_000;
const MINUTE_MS = 60_000;

const folder = temporaryFolder();
let scene: Scene;
let transcript: TranscriptWriter;
let path: string;
let files = 0;

beforeEach(async () => {
  scene = await openScene({ windowTokens: WINDOW_TOKENS });
  path = join(folder, `background-${files++}.jsonl`);
  transcript = await openTranscript(path, { lock: async () => async () => undefined });
});
afterEach(async () => {
  await transcript.close();
  await scene.simulator.close();
});

interface Slow {
  readonly loop: AgentLoop;
  readonly summaries: SlowSummaries;
}

interface SlowOptions {
  readonly form?: Form;
  readonly resultTokens?: number;
  readonly windowTokens?: number;
  /** False for a model without known prices, so that no cost decides. Default: true. */
  readonly hasPrices?: boolean;
}

function slowLoop(takesMs: number, options: SlowOptions = {}): Slow {
  const { form = "messages", resultTokens = 800, windowTokens = WINDOW_TOKENS, hasPrices = true } = options;
  const { simulator } = scene;
  const model = connect(simulator, "claude-haiku-4-5");
  const summaries = new SlowSummaries(
    hasPrices ? model : { ...model, name: "a-model-of-mine" },
    simulator.clock,
    takesMs,
  );
  const loop = new AgentLoop({
    simulator,
    model: summaries.model,
    form,
    resultTokens,
    turnMs: TURN_MS,
    compactor: {
      window: { tokens: windowTokens },
      clearing: { form: "off" },
      transcript,
    },
    onTurn: () => summaries.tick(),
  });
  return { loop, summaries };
}

const tokensRead = (attempt: SummaryAttempt | undefined): number =>
  attempt?.usage === undefined ? Number.NaN : inputTokens(attempt.usage);

const compactions = (loop: AgentLoop): number => loop.eventsOf("compacted").length;

describe.each<Form>(["messages", "entries"])(
  "a summarizer that takes 60 seconds, for a host that keeps %s",
  (form) => {
    it("no turn waits for a slow summarizer, and no new message is lost or duplicated", async () => {
      const { loop, summaries } = slowLoop(MINUTE_MS, { form });
      expect(await workUntil(loop, () => compactions(loop) === 3)).toBe(true);
      const ended = loop.eventsOf("background-ended").map(({ outcome }) => outcome);
      expect(new Set(ended)).toEqual(new Set(["ready"]));
      // No turn waited for a background summary. This also applies if the summary was being refreshed when
      // the window was full.
      expect(summaries.asked).toBeGreaterThanOrEqual(ended.length);
      // Only turns move the clock, so a turn that waited would have blocked forever.
      expect(loop.eventsOf("compacted").map(({ durationMs }) => durationMs)).toEqual([0, 0, 0]);
      // The engine reads the newest words of the host in the next turn.
      const said = [...loop.said];
      await loop.turn();
      expect(scene.simulator.requests.invalid).toEqual([]);
      await loop.compactor.close();
      expect(await timesWritten(said)).toEqual(said.map(() => 1));
      const { conversation } = await loadSession(path);
      const words = JSON.stringify(conversation.filter(isSpoken));
      const times = said.map((token) => words.split(`${token}:`).length - 1);
      expect(Math.max(...times)).toBe(1);
      expect(times.at(-1)).toBe(1);
    });
  },
);

/** Counts the human messages that contain each of these words. Quotes in a summary do not count. */
async function timesWritten(tokens: readonly string[]): Promise<readonly number[]> {
  const { entries } = await loadSession(path);
  const said = entries.filter(isSaid).map((entry) => JSON.stringify(entry));
  return tokens.map((token) => said.filter((text) => text.includes(`${token}:`)).length);
}

const isSpoken = (entry: Entry): boolean =>
  entry.type === "user" && entry.isCompactSummary !== true && entry.isMeta !== true;

/** Returns true if the message is the user's own and no compaction has rewritten it. */
const isSaid = (entry: Entry): boolean => isSpoken(entry) && !("writtenWith" in entry);

describe("a background summary", () => {
  it("a background summary starts at 80% of the threshold, and without known prices it is swapped in at the threshold", async () => {
    const { loop } = slowLoop(0, { hasPrices: false });
    expect(await workUntil(loop, () => compactions(loop) === 1)).toBe(true);
    const { autoCompact } = loop.lastTurn?.thresholds ?? { autoCompact: 0 };
    const [started] = loop.eventsOf("background-started");
    expect(started?.tokens).toBeGreaterThanOrEqual(autoCompact * 0.8 - 2_000);
    expect(started?.tokens).toBeLessThan(autoCompact * 0.9);
    expect(loop.eventsOf("compacted")[0]?.tokensBefore).toBeGreaterThanOrEqual(autoCompact - 2_000);
  });

  it("a background summary that is ready early is swapped in before the threshold if that costs less", async () => {
    const { loop } = slowLoop(0);
    expect(await workUntil(loop, () => compactions(loop) === 1)).toBe(true);
    const { autoCompact } = loop.lastTurn?.thresholds ?? { autoCompact: 0 };
    const { tokensBefore = 0 } = loop.eventsOf("compacted")[0] ?? {};
    expect(tokensBefore).toBeGreaterThanOrEqual(autoCompact * 0.8 - 2_000);
    expect(tokensBefore).toBeLessThan(autoCompact - 2_000);
  });

  it("a background summary is refreshed after many new messages, without a new read of the earlier messages", async () => {
    await scene.simulator.close();
    scene = await openScene({ windowTokens: 200_000 });
    const { loop } = slowLoop(TURN_MS, { windowTokens: 200_000, resultTokens: 5_000 });
    const byTwo = (): readonly SummaryAttempt[] =>
      loop
        .eventsOf("compacted")
        .map(({ attempts }) => attempts.filter(({ outcome }) => outcome === "written"))
        .find(({ length }) => length === 2) ?? [];
    expect(await workUntil(loop, () => byTwo().length > 0)).toBe(true);
    const [first, refresh] = byTwo();
    expect([first?.step, refresh?.step]).toEqual(["fork", "direct"]);
    // The refresh reads only the summary so far and the newer messages, not the whole conversation.
    expect(tokensRead(refresh)).toBeLessThan(tokensRead(first) * 0.75);
  });

  it("the built-in summarizer compacts when the window is full before the background summary is ready", async () => {
    const { loop, summaries } = slowLoop(1_000 * MINUTE_MS);
    expect(await workUntil(loop, () => compactions(loop) === 1)).toBe(true);
    const { blocking } = loop.lastTurn?.thresholds ?? { blocking: 0 };
    const [{ tokensBefore = 0, attempts = [] } = {}] = loop.eventsOf("compacted");
    expect(tokensBefore).toBeGreaterThan(blocking - 3_000);
    expect(attempts).toMatchObject([{ step: "built-in", outcome: "written" }]);
    expect(summaries.asked).toBe(1);
  });

  it("the engine compacts as usual at the threshold when the background summary failed", async () => {
    const { loop, summaries } = slowLoop(0);
    summaries.refuse = Number.POSITIVE_INFINITY;
    expect(await workUntil(loop, () => loop.eventsOf("background-ended").length === 1)).toBe(true);
    summaries.refuse = 0;
    expect(await workUntil(loop, () => compactions(loop) === 1)).toBe(true);
    expect(loop.eventsOf("background-ended")).toMatchObject([{ outcome: "failed", reason: "model-other" }]);
    expect(loop.eventsOf("compacted")[0]?.attempts).toMatchObject([{ step: "fork", outcome: "written" }]);
    expect(loop.eventsOf("compaction-failed")).toEqual([]);
  });

  it("the engine drops a background summary when the host has changed the summarized messages", async () => {
    const { loop } = slowLoop(0);
    const isReady = (): boolean => loop.eventsOf("background-ended").length === 1;
    expect(await workUntil(loop, isReady)).toBe(true);
    loop.conversation.resumeFrom(loop.conversation.messages.slice(2));
    expect(await workUntil(loop, () => compactions(loop) === 1)).toBe(true);
    expect(loop.eventsOf("background-ended").map(({ outcome, reason }) => [outcome, reason])).toContainEqual([
      "discarded",
      "conversation-changed",
    ]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});
