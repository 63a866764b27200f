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
/** Enough for some compactions of each kind; the whole length is for when there is time. */
const TURNS = process.env.LONGHAUL_LONG_RUN === "1" ? 300 : 120;

let driven: Driven;
beforeAll(async () => {
  driven = await driveTour({ seed: SEED });
});
afterAll(() => driven.close());

/** What happened to the context, in short. */
const happenings = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) => {
    if (event.type === "agent") return ["subagent"];
    if (event.type === "call-ended") return event.tool === "recall" ? ["recall"] : [];
    if (event.type === "window") return event.window.isAboveWarningThreshold ? ["yellow"] : [];
    if (event.type !== "compactor") return [];
    const { event: told } = event;
    if (told.type === "compacted") return [`compacted ${told.tier} ${told.trigger}`];
    if (told.type === "background-ended") return [`background ${told.outcome}`];
    if (told.type === "undone") return [told.direction];
    return ["results-cleared", "notes-updated", "background-started"].includes(told.type) ? [told.type] : [];
  });

/**
 * Each kind of happening once, in the order of its first time.
 * The notes are left out: they are written beside the conversation, so the seed does not fix their moment.
 */
const storyOf = (events: readonly AgentEvent[]): readonly string[] => [
  ...new Set(happenings(events).filter((name) => name !== "notes-updated")),
];

describe("the guided tour", () => {
  it("shows all that it promises, in its order, and no request is refused", () => {
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
    const notes = happenings(events).indexOf("notes-updated");
    expect(notes).toBeGreaterThanOrEqual(0);
    expect(notes).toBeLessThan(happenings(events).indexOf("compacted memory manual"));
    expect(tour.requests.invalid).toEqual([]);
    expect(report).toMatchObject({ refused: 0, isSound: true, fromBackground: 1, said: { lost: [] } });
    expect([...answers.values()].filter((answer) => answer !== "")).toHaveLength(4);
    // Words for what did not happen would be told otherwise.
    const words = steps.map((step) => step.words).join("\n");
    for (const told of [
      /bar is yellow/,
      /old results of/,
      /no model was called/,
      /nobody waited/,
      /word for word/,
    ]) {
      expect(words).toMatch(told);
    }
    expect(words.split("\n").every((line) => line.length < 420)).toBe(true);
  });

  it("recall brings back what is neither on the disk nor in the context; the person's words never left it", async () => {
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

  it("does real work: the test fails before the fix and passes after it", () => {
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

describe("a tour", () => {
  it("is the same again with the same seed", async () => {
    const again = await driveTour({ seed: SEED });
    try {
      expect([...again.answers]).toEqual([...driven.answers]);
      expect(storyOf(again.events)).toEqual(storyOf(driven.events));
      expect(happenings(again.events)).toContain("notes-updated");
    } finally {
      await again.close();
    }
  });

  it(`goes on by itself for ${TURNS} turns: nothing is refused, nothing that was said is lost`, async () => {
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
