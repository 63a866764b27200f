import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoggedRequest } from "@longhaul/simulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FROM_SOURCE } from "../support/from-source.ts";
import { lostMessages, type Plant, unseenResults } from "./exam.ts";
import { Journal } from "./journal.ts";
import { runSchedule } from "./schedule.ts";
import type { SessionView } from "./session-view.ts";

const PROGRAM = join(import.meta.dirname, "run.ts");
/** Seeds with different models, list modes and faults. `npm run soak` runs many more. */
const SEEDS = [3, 5, 12, 15, 18, 49];
/** Seed of a schedule without violations, for planted faults. */
const SOUND_SEED = 3;

const soak = (...args: readonly string[]): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [...FROM_SOURCE, PROGRAM, ...args], { encoding: "utf8" });

describe("the command npm run soak", () => {
  let folder: string;
  const kindsOf = async (seed: number, plant?: Plant): Promise<readonly string[]> => {
    const { violations } = await runSchedule(seed, { folder, plant });
    return [...new Set(violations.map(({ kind }) => kind))];
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "longhaul-soak-test-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(SEEDS)("the soak run finds no violation in the schedule with seed %i", async (seed) => {
    expect(await kindsOf(seed)).toEqual([]);
  });

  it("the soak run repeats the same schedule for the same seed", async () => {
    const first = await runSchedule(SOUND_SEED, { folder });
    const second = await runSchedule(SOUND_SEED, { folder });
    expect(second).toEqual(first);
  });

  it("the soak run reports a message that a request neither contains nor points to", async () => {
    expect(await kindsOf(SOUND_SEED, "drop-message")).toContain("assistant without a pointer");
  });

  it("the soak run reports a request that the API refuses", async () => {
    expect((await kindsOf(SOUND_SEED, "break-pairing")).join()).toMatch(/refused host request/);
  });

  it("the soak run reports a call that never settles", async () => {
    expect(await kindsOf(SOUND_SEED, "never-settle")).toEqual(["hang: before"]);
  });

  it("the soak run prints its options for --help", () => {
    const { status, stdout } = soak("--help");
    expect(status).toBe(0);
    expect(stdout).toContain("--schedules N");
  });

  it("the soak run exits with 2 for an unknown option", () => {
    const { status, stderr } = soak("--schedules", "many");
    expect(status).toBe(2);
    expect(stderr).toContain('--schedules takes a whole number of at least 1, not "many".');
  });

  it("the soak run exits with 1 and names the seed when a schedule has a violation", () => {
    const { status, stdout } = soak(
      "--seed",
      String(SOUND_SEED),
      "--schedules",
      "1",
      "--plant",
      "drop-message",
      "--json",
    );
    expect(status).toBe(1);
    expect(JSON.parse(String(stdout))).toMatchObject({ schedules: 1, failed: 1, seed: SOUND_SEED });
  });
});

describe("the check for texts that are only in the session file", () => {
  const marker = "mk-1-abcdef";
  const view = (isHeld: boolean): SessionView =>
    ({ shownPath: "/s.jsonl", holds: () => isHeld }) as unknown as SessionView;
  const request = (content: string): LoggedRequest =>
    ({ body: { messages: [{ role: "user", content }] } }) as unknown as LoggedRequest;
  const kinds = (journal: Journal, content: string, isHeld = true): readonly string[] =>
    lostMessages(request(content), journal, view(isHeld)).map(({ kind }) => kind);

  it("a text in the file needs no pointer after the host removed it, until a request contains the text again", () => {
    const journal = new Journal();
    journal.add("user", `${marker}: words`);
    journal.giveAll();
    expect(kinds(journal, "other")).toEqual(["user without a pointer"]);
    expect(kinds(journal, "see /s.jsonl")).toEqual([]);
    journal.removePointer(new Set());
    expect(kinds(journal, "other")).toEqual([]);
    expect(kinds(journal, "other", false)).toEqual(["lost user"]);
    expect(kinds(journal, `${marker}: words`)).toEqual([]);
    expect(kinds(journal, "other")).toEqual(["user without a pointer"]);
  });
});

describe("the check for shortened results that the model has not seen", () => {
  const WINDOW_TOKENS = 20_000;
  /** Returns a text of about 9,000 characters without a repetition. */
  const text = (id: string): string =>
    `mk-${id}-abcdef: ${Array.from({ length: 1_500 }, (_, at) => 10_000 + at).join(" ")}`;
  /**
   * Returns the kinds of findings for a request in which each result has only this many characters. One
   * character is one token.
   */
  const kinds = (
    kept: Readonly<Record<string, number>>,
    countedTokens: number,
    statedFactor = 1,
  ): readonly string[] => {
    const journal = new Journal();
    const content = Object.entries(kept).map(([id, characters]) => {
      journal.add("result", text(id), id);
      return { type: "tool_result", tool_use_id: id, content: text(id).slice(0, characters) };
    });
    journal.giveAll();
    const request = { body: { messages: [{ role: "user", content }] } } as unknown as LoggedRequest;
    const figures = { countedTokens, statedFactor, windowTokens: WINDOW_TOKENS, tokensPerCharacter: 1 };
    return unseenResults(request, journal, figures).map(({ kind }) => kind);
  };

  it("the check accepts a shortened unseen result with at least 1,600 tokens in a request that is not full", () => {
    expect(kinds({ 1: 1_700, 2: 10_000 }, 5_000)).toEqual([]);
    expect(kinds({ 1: 1_500, 2: 10_000 }, 5_000)).toEqual(["unseen result cut short"]);
  });

  it("the check accepts shortened unseen results in a full request if each is at least half of the longest", () => {
    expect(kinds({ 1: 700, 2: 1_200 }, 15_000)).toEqual([]);
    expect(kinds({ 1: 700, 2: 1_200 }, 5_000, 3)).toEqual([]);
    expect(kinds({ 1: 500, 2: 1_200 }, 15_000)).toEqual(["unseen result cut short"]);
    expect(kinds({ 1: 200, 2: 200 }, 15_000)).toHaveLength(2);
  });
});
