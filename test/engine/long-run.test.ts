import { join } from "node:path";
import type { SummaryAttempt } from "@longhaul/core/compaction";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { type LongRun, type LongRunOptions, longRun } from "./long-run.case.ts";

/** All runs at full length take minutes. An ordinary test run has one run of 2,000 turns and shorter ones. */
const isFullLength = process.env.LONGHAUL_LONG_RUN === "1";
const folder = temporaryFolder();
let runs = 0;

/**
 * Returns the megabytes by which the heap may grow. The growth is for compiled code, caches of the runtime,
 * and a longer conversation.
 */
const heapTolerance = (windowTokens: number): number => 25 + (windowTokens / 1e6) * 60;

const overflowsOf = ({ reason, cuts }: SummaryAttempt): number =>
  cuts + (reason === "model-too-long" ? 1 : 0);

interface Course extends Omit<LongRunOptions, "transcriptPath" | "turns"> {
  readonly turns: number;
  /** Turns in an ordinary test run. */
  readonly usualTurns: number;
}

const COURSES: readonly (readonly [string, Course])[] = [
  ["a window of 32,000", { windowTokens: 32_000, resultTokens: 400, turns: 2_000, usualTurns: 2_000 }],
  [
    "a window of 200,000",
    {
      windowTokens: 200_000,
      resultTokens: 12_000,
      pastedTokens: 30_000,
      humanEvery: 6,
      turns: 2_000,
      usualTurns: 200,
    },
  ],
  [
    "a window of 1,000,000",
    {
      windowTokens: 1_000_000,
      modelName: "claude-sonnet-5-5",
      resultTokens: 60_000,
      pastedTokens: 150_000,
      humanEvery: 4,
      lookEvery: 25,
      turns: 2_000,
      usualTurns: 150,
    },
  ],
  [
    "entries of a session",
    { windowTokens: 32_000, resultTokens: 400, form: "entries", turns: 2_000, usualTurns: 150 },
  ],
  [
    "a model that binds its thinking",
    { windowTokens: 32_000, resultTokens: 400, modelName: "claude-opus-5-5", turns: 2_000, usualTurns: 200 },
  ],
  [
    "entries of a session, and a model that binds its thinking",
    {
      windowTokens: 32_000,
      resultTokens: 400,
      form: "entries",
      modelName: "claude-opus-5-5",
      turns: 2_000,
      usualTurns: 120,
    },
  ],
  [
    "notes taken by the model",
    { windowTokens: 32_000, resultTokens: 400, headroom: "notes", turns: 2_000, usualTurns: 300 },
  ],
  [
    "notes taken without a model, of a session's entries that bind their thinking",
    {
      windowTokens: 32_000,
      resultTokens: 400,
      form: "entries",
      modelName: "claude-opus-5-5",
      headroom: "built-in-notes",
      turns: 2_000,
      usualTurns: 150,
    },
  ],
  [
    "notes taken by the model, in a window of 200,000",
    {
      windowTokens: 200_000,
      resultTokens: 12_000,
      pastedTokens: 30_000,
      humanEvery: 6,
      headroom: "notes",
      turns: 2_000,
      usualTurns: 120,
    },
  ],
  [
    "spans that are collapsed",
    { windowTokens: 32_000, resultTokens: 400, headroom: "collapse", turns: 2_000, usualTurns: 300 },
  ],
  [
    "spans that are collapsed, of a session's entries that bind their thinking",
    {
      windowTokens: 32_000,
      resultTokens: 400,
      form: "entries",
      modelName: "claude-opus-5-5",
      headroom: "collapse",
      turns: 2_000,
      usualTurns: 150,
    },
  ],
  [
    "notes taken by the model, for a host that changes its newest message with every turn",
    {
      windowTokens: 32_000,
      resultTokens: 400,
      form: "messages with reminders",
      headroom: "notes",
      turns: 2_000,
      usualTurns: 300,
    },
  ],
  [
    "spans that are collapsed, for a host that changes its newest message with every turn",
    {
      windowTokens: 32_000,
      resultTokens: 400,
      form: "messages with reminders",
      headroom: "collapse",
      turns: 2_000,
      usualTurns: 300,
    },
  ],
];

describe.each(COURSES)(
  "a long run of the engine with faults (%s)",
  (name, { turns, usualTurns, ...course }) => {
    let made: Promise<LongRun> | undefined;
    const run = (): Promise<LongRun> => {
      made ??= longRun({
        ...course,
        turns: isFullLength ? turns : usualTurns,
        transcriptPath: join(folder, `run-${++runs}.jsonl`),
      });
      return made;
    };
    const timeout = isFullLength ? 1_800_000 : 240_000;

    it("every request of a long run is valid, and no overflow persists", { timeout }, async () => {
      const { invalid, overflows, loop, requests, faults, figures } = await run();
      if (isFullLength) console.log(name, JSON.stringify(figures));
      expect(invalid.map(({ error, findings }) => ({ error, findings }))).toEqual([]);
      // A large paste may exceed the window by itself. Then the summary call is too long as well.
      const cuts = loop.eventsOf("compacted").flatMap(({ attempts }) => attempts.map(overflowsOf));
      expect(overflows.length).toBeLessThanOrEqual(cuts.reduce((sum, count) => sum + count, loop.recoveries));
      expect(loop.turns).toBe(isFullLength ? turns : usualTurns);
      // The faults occurred, and the agent recovered from those that a retry could not fix.
      expect(faults).toBeGreaterThan(requests / 40);
      expect(loop.eventsOf("recovered")).toHaveLength(loop.recoveries);
      expect(loop.problems).toEqual([]);
    });

    it("a long run compacts several times, at most three times in ten turns, and each compaction helps", async () => {
      const { compactions, judgments, loop } = await run();
      if (course.headroom !== "collapse") expect(compactions.length).toBeGreaterThanOrEqual(3);
      for (const [index, { turn }] of compactions.entries()) {
        expect(turn - (compactions[index - 3]?.turn ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(10);
      }
      // A fault may cause an overflow in the call after a compaction. In that case a recovery compacts again,
      // and only that last compaction is checked.
      const answered = compactions.filter(({ turn }, index) => compactions[index + 1]?.turn !== turn);
      expect(judgments.map(({ event }) => event.verdict)).toEqual(answered.map(() => "effective"));
      expect(judgments.map(({ turn }) => turn)).toEqual(answered.map(({ turn }) => turn));
      expect(compactions.filter(({ event }) => event.isAboveThreshold)).toEqual([]);
      expect(loop.eventsOf("compaction-failed")).toEqual([]);
      // Random faults may cause three compactions in a short time. The circuit breaker may open only for that
      // reason.
      const opened = loop.eventsOf("breaker-opened");
      const thirds = compactions.filter(
        ({ turn }, index) => turn - (compactions[index - 2]?.turn ?? -10) < 10,
      );
      expect(opened.map(({ why }) => why)).toEqual(opened.map(() => "frequency"));
      expect(opened.length).toBeLessThanOrEqual(thirds.length);
    });

    it.runIf(course.headroom?.includes("notes"))(
      "in a long run with notes, the engine writes a summary only after an overflow or a `notes-declined` event",
      async () => {
        const { compactions, loop } = await run();
        const declined = loop.eventsOf("notes-declined").length;
        const written = compactions.filter(({ event }) => event.tier !== "memory");
        const byThemselves = written.filter(({ event }) => event.trigger !== "reactive");
        expect(byThemselves.length).toBeLessThanOrEqual(declined);
        expect(written.length).toBeLessThanOrEqual(compactions.length / 2);
      },
    );

    it.runIf(course.headroom === "collapse")(
      "a long run collapses spans into smaller summaries, and compacts only after an overflow",
      async () => {
        const { compactions, loop } = await run();
        const commits = loop.eventsOf("spans-committed");
        expect(commits.length).toBeGreaterThanOrEqual(3);
        for (const { tokensBefore, tokensAfter } of commits) expect(tokensAfter).toBeLessThan(tokensBefore);
        expect(compactions.map(({ event }) => event.trigger)).toEqual(compactions.map(() => "reactive"));
        expect(commits.length).toBeGreaterThan(compactions.length);
      },
    );

    it("each compaction of a long run links to the one before it", async () => {
      const { compactions } = await run();
      const links = compactions.map(({ event: { chain } }) => chain);
      if (links.length > 0)
        expect(links[0]).toMatchObject({ isInChain: false, previousTurnId: undefined, caller: "main" });
      for (const [index, { turn }] of compactions.entries()) {
        const previous = compactions[index - 1];
        if (previous === undefined) continue;
        expect(links[index]).toMatchObject({
          isInChain: true,
          previousTurnId: previous.event.turnId,
          turnsSincePrevious: turn - previous.turn,
        });
      }
    });

    it("every user message of a long run is in the request or in the transcript that the request points to", async () => {
      const { lost, lookedFor, loop } = await run();
      expect(loop.said.length).toBeGreaterThan(5);
      expect(lookedFor).toBeGreaterThan(loop.said.length);
      expect(lost).toEqual([]);
    });

    it("a long run uses no more memory at the end than the conversation needs", async () => {
      const { heldMessages, seenMessages, loop, heapMegabytes } = await run();
      // The old list stays in memory until the host adopts the last rewrite.
      const mostMessages = Math.max(...loop.lengths);
      // A host that creates its messages anew in every turn has two copies of each message. One is its own.
      // The other is the first copy, which the engine keeps with the entry.
      const copies = course.form === "messages with reminders" ? 2 : 1;
      expect(heldMessages).toBeLessThanOrEqual(copies * mostMessages);
      expect(seenMessages).toBeGreaterThan(loop.turns);
      const [early = 0] = heapMegabytes;
      expect(heapMegabytes.at(-1)).toBeLessThan(early + heapTolerance(course.windowTokens));
    });

    it("a long run reports no cache break for its own rewrites, only for a moved clock", async () => {
      const { loop } = await run();
      const causes = loop.eventsOf("cache-break").flatMap((event) => event.causes);
      expect(causes.filter((cause) => cause !== "time gap")).toEqual([]);
      expect(loop.eventsOf("usage-distrusted")).toEqual([]);
      expect(loop.eventsOf("request-repaired")).toEqual([]);
      expect(loop.eventsOf("host-callback-failed")).toEqual([]);
    });
  },
);
