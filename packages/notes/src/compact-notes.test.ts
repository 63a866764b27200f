import type { SummaryProgress } from "@longhaul/core/compaction";
import {
  type Compaction,
  type CompactionPlan,
  type CompactOptions,
  compact,
  planCompaction,
} from "@longhaul/core/compaction";
import type { HookInput, HookRun, HookRunner } from "@longhaul/core/hooks";
import { SECTION_NAMES } from "@longhaul/core/summary";
import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { codeOf, countingPorts, longSession } from "../../../test/support/long-session.ts";
import { tierOf } from "../../core/src/compaction/apply/assemble.ts";
import { rebuild } from "../../core/src/compaction/compact.ts";
import { notesSource, planFromNotes } from "./plan-from-notes.ts";

const GOOD = `<summary>\n${SECTION_NAMES.map((name, at) => `${at + 1}. ${name}: some`).join("\n")}\n</summary>`;
const TEXT =
  "# Current State\n_what goes on_\n\nThe harbour is being dredged.\n\n(The whole notes: /notes/s.md)";
const { entries } = longSession();

function planned(trigger: "manual" | "auto" = "auto"): CompactionPlan {
  const made = planFromNotes({ entries }, { coveredUuid: entries.at(-20)?.uuid, text: TEXT, trigger });
  if ("declined" in made) throw new Error(made.declined);
  return made.plan;
}

const compacted = (options: CompactOptions = {}): Promise<Compaction> =>
  compact(planned(), countingPorts(), { source: notesSource({ text: TEXT }), ...options });

const words = ({ summary }: Compaction): string => summary.message.content as string;

const saying = (output: string): HookRunner => ({
  run: async ({ hook_event_name }: HookInput): Promise<HookRun> => ({
    outcomes: [],
    output: hook_event_name === "PreCompact" ? output : "",
  }),
});

describe("a compaction from notes", () => {
  it("a compaction from notes uses the notes as the summary and calls no model", async () => {
    const model = scriptedModel([GOOD]);
    const fork = { model, frame: {}, messagesFor: () => [], cachedMessages: 0 };
    const compaction = await compacted({ model, fork, summarizer: "provider" });
    expect(compaction.written).toMatchObject({ source: "notes", step: "notes", text: TEXT });
    expect(compaction.attempts).toEqual([{ step: "notes", outcome: "written", cuts: 0 }]);
    expect(compaction.usage).toBeUndefined();
    expect(model.requests).toEqual([]);
    expect(words(compaction)).toContain(TEXT);
  });

  it('a compaction from notes reports the step "notes" to onProgress', async () => {
    const reported: SummaryProgress[] = [];
    await compacted({ onProgress: (progress) => reported.push(progress) });
    expect(reported).toEqual([{ phase: "step", step: "notes" }]);
  });

  it("puts the same text around notes as around a summary, but calls them notes instead of a summary", async () => {
    const transcriptPath = "/t/session.jsonl";
    const text = words(await compacted({ transcriptPath, autonomous: true }));
    expect(text).toMatch(
      /^This conversation continues an earlier one .* The notes below, which were written during/,
    );
    expect(text).toMatch(
      /transcript: \/t\/session.jsonl\n\nThe most recent messages follow.*a recap.*not a first start/s,
    );
    const other = words(await compact(planned(), countingPorts(), {}));
    expect(other).toContain("The summary below replaces its earlier part.");
  });

  it('writes the tier "memory" into the boundary of a compaction from notes, and of no other compaction', async () => {
    const { boundary } = await compacted();
    expect(boundary.compactMetadata.longhaul).toMatchObject({
      tier: "memory",
      tokenRatio: expect.anything(),
    });
    const other = await compact(planned(), countingPorts(), {});
    expect(other.boundary.compactMetadata.longhaul).not.toHaveProperty("tier");
  });

  it("restores state, runs the hooks, and keeps the entry order in a compaction from notes", async () => {
    const files = {
      read: async (path: string) => ({ state: "read" as const, text: "now", displayPath: path }),
    };
    const events: string[] = [];
    const hooks: HookRunner = {
      run: async ({ hook_event_name, compact_summary }) => {
        events.push(hook_event_name, ...(compact_summary === undefined ? [] : [compact_summary]));
        return { outcomes: [], output: "" };
      },
    };
    const compaction = await compacted({ state: { files }, hooks });
    expect(events.slice(0, 3)).toEqual(["PreCompact", "SessionStart", "PostCompact"]);
    expect(events[3]).toBe(`${TEXT}\n\n${compaction.quotation}`);
    const kinds = rebuild(compaction).map(({ type }) => type);
    expect(kinds.slice(0, 2)).toEqual(["system", "user"]);
    expect(kinds.slice(2 + compaction.kept.length)).toEqual(Array(5).fill("attachment"));
    expect(compaction.accounting.tool_result_Read_tokens).toBeGreaterThan(10_000);
  });

  it("falls back to a model's summary with the reason hook-instructions when hooks return instructions", async () => {
    const model = scriptedModel([GOOD]);
    const compaction = await compacted({ model, hooks: saying("mind the tides") });
    expect(compaction.written).toMatchObject({ source: "model", step: "direct" });
    expect(compaction.attempts).toMatchObject([
      { step: "notes", outcome: "unavailable", reason: "hook-instructions", cuts: 0 },
      { step: "fork", outcome: "unavailable" },
      { step: "direct", outcome: "written" },
    ]);
    expect(JSON.stringify(model.requests)).toContain("mind the tides");
    expect(words(compaction)).not.toContain("dredged");
    expect(compaction.boundary.compactMetadata.longhaul).not.toHaveProperty("tier");
  });

  it('falls back to a summary with the reason "instructions" when the caller passes instructions', async () => {
    const asked = await compacted({ instructions: "mind the tides", hooks: saying("and the wind") });
    expect(asked.attempts).toMatchObject([
      { step: "notes", outcome: "unavailable", reason: "instructions" },
      { step: "built-in", outcome: "written" },
    ]);
    const blank = await compacted({ instructions: " \n", hooks: saying(" ") });
    expect(blank.written.source).toBe("notes");
  });

  it("falls back to the built-in summarizer with the reason only-template when the notes are empty", async () => {
    const { attempts } = await compacted({ source: notesSource({ text: "\n " }) });
    expect(attempts[0]).toMatchObject({ step: "notes", outcome: "unavailable", reason: "only-template" });
    expect(attempts.at(-1)).toMatchObject({ step: "built-in", outcome: "written" });
  });

  it("refuses a compaction from notes that would make the conversation larger", async () => {
    const text = "The harbour is being dredged. ".repeat(20_000);
    expect(await codeOf(() => compacted({ source: notesSource({ text }) }))).toBe("compaction-ineffective");
  });
});

describe("tierOf", () => {
  it("tierOf returns `memory` for compactions from notes, otherwise `full` or `partial` by the summarized range", async () => {
    expect(tierOf(await compacted())).toBe("memory");
    expect(tierOf(await compacted({ instructions: "mind the tides" }))).toBe("full");
    const partly = planCompaction({ entries }, { variant: "up-to", at: 40 });
    expect(tierOf(await compact(partly, countingPorts(), { leastSaving: "some" }))).toBe("partial");
  });
});
