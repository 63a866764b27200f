import { access } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@longhaul/agent";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GAUGE_LOG, levelIn, tourFiles } from "../../packages/longhaul/src/chat/tour/project.ts";
import {
  FIX_PROMPT,
  OVERVIEW_PROMPT,
  RECALL_PROMPT,
  RESERVE_METRES,
  RESOURCES_PROMPT,
} from "../../packages/longhaul/src/chat/tour/scenes.ts";
import { type Driven, driveTour } from "./tour-drive.case.ts";

const SEED = 7;
/**
 * Number of turns. 120 turns are enough for some compactions of each kind. A long test run plays the full
 * length.
 */
const TURNS = process.env.LONGHAUL_LONG_RUN === "1" ? 300 : 120;

let driven: Driven;
beforeAll(async () => {
  driven = await driveTour({ seed: SEED });
});
afterAll(() => driven.close());

/** Returns short names of the events that concern the context. */
const eventNames = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) => {
    if (event.type === "agent") return ["subagent"];
    if (event.type === "call-ended") return event.tool === "recall" ? ["recall"] : [];
    if (event.type === "window") return event.window.isAboveWarningThreshold ? ["yellow"] : [];
    if (event.type !== "compactor") return [];
    const { event: inner } = event;
    if (inner.type === "compacted") return [`compacted ${inner.tier} ${inner.trigger}`];
    if (inner.type === "background-ended") return [`background ${inner.outcome}`];
    if (inner.type === "undone") return [inner.direction];
    return ["results-cleared", "notes-updated", "background-started"].includes(inner.type)
      ? [inner.type]
      : [];
  });

/**
 * Returns the name of each kind of event once, in the order of its first occurrence. Skips updates of notes.
 * They run in parallel, so their time does not depend on the seed.
 */
const storyOf = (events: readonly AgentEvent[]): readonly string[] => [
  ...new Set(eventNames(events).filter((name) => name !== "notes-updated")),
];

describe("the guided tour", () => {
  it("the tour shows everything it promises in order, and no request is refused", () => {
    const { events, answers, report, steps, tour } = driven;
    expect(storyOf(events)).toEqual([
      "subagent",
      "yellow",
      "results-cleared",
      "compacted memory manual",
      "background-started",
      "background ready",
      "compacted full auto",
      "recall",
      "undo",
      "redo",
    ]);
    const notes = eventNames(events).indexOf("notes-updated");
    expect(notes).toBeGreaterThanOrEqual(0);
    expect(notes).toBeLessThan(eventNames(events).indexOf("compacted memory manual"));
    expect(tour.requests.invalid).toEqual([]);
    expect(report).toMatchObject({ refused: 0, isSound: true, fromBackground: 1, said: { lost: [] } });
    expect([...answers.values()].filter((answer) => answer !== "")).toHaveLength(4);
    // Each of these texts appears only if the tour has really shown the event that the text describes.
    const words = steps.map((step) => step.words).join("\n");
    for (const pattern of [
      /bar is yellow/,
      /old tool results of/,
      /The notes replaced the conversation, without a model call/,
      /without a wait/,
      /found the exact line/,
    ]) {
      expect(words).toMatch(pattern);
    }
    expect(words.split("\n").every((line) => line.length < 420)).toBe(true);
  });

  it("recall finds a text that left the context and whose file was deleted", async () => {
    const { answers, tour, agent } = driven;
    const level = levelIn(tourFiles(SEED).get(GAUGE_LOG) ?? "") ?? "";
    expect(answers.get(RECALL_PROMPT)).toContain(`${level} m`);
    expect(answers.get(RECALL_PROMPT)).toContain(`${RESERVE_METRES} m`);
    await expect(access(join(agent.cwd, GAUGE_LOG))).rejects.toThrow();
    const sent = tour.requests.messages.map(({ body }) => JSON.stringify(body));
    const asked = sent.find((body) => body.includes(RECALL_PROMPT)) ?? "";
    expect(asked).toContain(RESERVE_METRES);
    expect(asked).not.toContain(level);
    expect(sent.some((body) => !body.includes(RECALL_PROMPT) && body.includes(level))).toBe(true);
  });

  it("the tour fixes a real bug: its test fails before the fix and passes after it", () => {
    const runs = driven.events.flatMap((event) =>
      event.type === "call-ended" && event.tool === "Bash" ? [event] : [],
    );
    expect(runs.map(({ isError }) => isError)).toEqual([true, false]);
    const failed = driven.events.flatMap((event) =>
      event.type === "call-ended" && event.isError ? [event.tool] : [],
    );
    expect(failed).toEqual(["Bash", "Read"]);
    const answers = [OVERVIEW_PROMPT, RESOURCES_PROMPT, FIX_PROMPT].map((prompt) =>
      driven.answers.get(prompt),
    );
    expect(answers.every((answer) => answer !== undefined && !answer.includes("not found"))).toBe(true);
  });
});

describe("tours by seed and length", () => {
  it("the same seed gives the same tour", async () => {
    const again = await driveTour({ seed: SEED });
    try {
      expect([...again.answers]).toEqual([...driven.answers]);
      expect(storyOf(again.events)).toEqual(storyOf(driven.events));
      expect(eventNames(again.events)).toContain("notes-updated");
    } finally {
      await again.close();
    }
  });

  it(`the tour runs ${TURNS} turns unattended without a refused request or a lost message`, async () => {
    const long = await driveTour({ turns: TURNS });
    try {
      expect(long.tour.requests.invalid).toEqual([]);
      const { compactions, ...report } = long.report;
      expect(report).toMatchObject({ refused: 0, failures: [], isSound: true, windowTokens: 32_000 });
      expect(report.turns).toBeGreaterThanOrEqual(TURNS);
      expect(report.peakTokens).toBeLessThan(32_000);
      expect(report.said.total).toBeGreaterThan(TURNS / 20);
      expect(compactions.memory).toBeGreaterThan(0);
      expect(compactions.full).toBeGreaterThan(0);
      expect(compactions.memory + compactions.full).toBeGreaterThan(TURNS / 40);
      expect(report.resultsCleared).toBeGreaterThan(0);
      expect(report.notesUpdates).toBeGreaterThan(5);
      expect(report.recalls).toBeGreaterThan(1);
    } finally {
      await long.close();
    }
  });
});
