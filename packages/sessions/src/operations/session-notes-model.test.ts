import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { ModelError } from "@longhaul/core/models";
import { type ScriptedAnswer, scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { longSession } from "../../../../test/support/long-session.ts";
import { sessionWriter } from "../../../../test/transcript/written-session.ts";
import type { Session } from "../transcript/load.ts";
import type { NotesProgress } from "./notes-work.ts";
import { sessionHistory } from "./session-history.ts";
import { type BuildNotesOptions, buildNotes } from "./session-notes.ts";

const write = sessionWriter();

const manyTurns = (): Promise<Session> => write(longSession(150).entries);

const note = (nth: number): string => `<note section="Worklog" mode="append">Step ${nth} was noted.</note>`;
const LEARNT = '<note section="Learnings" mode="replace">Tides come twice.</note>';

describe("notes that a model writes", () => {
  it("calls the model in steps, each with the new messages and the notes so far", async () => {
    const session = await manyTurns();
    const model = scriptedModel((_, nth) => ({
      content: note(nth),
      usage: { input_tokens: 10, output_tokens: 1 },
    }));
    const reports: NotesProgress[] = [];
    const built = await buildNotes(session, { model, onProgress: (progress) => reports.push(progress) });
    const { steps = 0 } = reports[0] ?? {};
    expect(steps).toBeGreaterThan(1);
    expect(reports.map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, at) => at + 1));
    expect(built).toMatchObject({ by: "model", calls: steps, edits: steps, refused: 0, isWritten: true });
    expect(built.usage).toMatchObject({ input_tokens: 10 * steps, output_tokens: steps });
    expect(built.notes.coveredUuid).toBe(session.leafUuid);
    const sent = model.requests.map((request) => JSON.stringify(request.messages));
    expect(sent[1]).toContain("Step 0 was noted.");
    const requestsIn = (text: string): readonly string[] => text.match(/request \d+:/g) ?? [];
    // Each message is sent once, regardless of the number of calls.
    expect(sent.flatMap(requestsIn)).toEqual(Array.from({ length: 150 }, (_, at) => `request ${at}:`));
  });

  it("keeps the notes of earlier steps when a later model call fails, and the next run continues from them", async () => {
    const session = await manyTurns();
    const refusal = new ModelError({ kind: "authentication" }, "no key");
    const failing = scriptedModel((_, nth): ScriptedAnswer => (nth === 0 ? note(0) : refusal));
    await expect(buildNotes(session, { model: failing })).rejects.toMatchObject({
      code: "model-authentication",
    });
    const path = session.path.replace(".jsonl", ".notes.md");
    expect(readFileSync(path, "utf8")).toContain("Step 0 was noted.");
    const model = scriptedModel((_, nth) => note(nth + 1));
    const built = await buildNotes(session, { model });
    expect(built).toMatchObject({ outcome: "updated" });
    expect(built.text).toContain("Step 0 was noted.");
    expect(JSON.stringify(model.requests[0]?.messages)).not.toContain("request 0:");
    expect(sessionHistory(session).placeOf(built.notes.coveredUuid ?? "")).toBe(session.entries.length - 1);
  });

  it("keeps the notes of earlier steps when the model hangs, and the built-in writer notes the rest", async () => {
    const session = await manyTurns();
    const hanging: ScriptedAnswer = { content: "", hangs: true };
    const timeLimits = { firstByteMs: 50, totalMs: 50 };
    const late = scriptedModel((_, nth): ScriptedAnswer => (nth === 0 ? LEARNT : hanging));
    const built = await buildNotes(session, { model: late, timeLimits });
    expect(built).toMatchObject({ by: "model", calls: 1, isWritten: true, isComplete: true });
    expect(built.fallback?.reason).toBe("model-timed-out");
    expect(built.fallback?.messages).toBeLessThan(built.messages);
    expect(built.text).toContain("Tides come twice.");
    expect(built.text).toContain("request 149");
    expect(built.notes.coveredUuid).toBe(session.leafUuid);
    expect(readFileSync(built.path, "utf8")).toBe(built.text);

    const dead = scriptedModel(() => hanging);
    const rebuilt = await buildNotes(session, { model: dead, timeLimits, rebuild: true });
    expect(rebuilt).toMatchObject({ by: "built-in", calls: 0, usage: undefined });
    expect(rebuilt.fallback).toEqual({ reason: "model-timed-out", messages: rebuilt.messages });
    expect(dead.requests).toHaveLength(1);
    expect(rebuilt.text).toBe((await buildNotes(session, { rebuild: true })).text);
  });

  it("stops at once on abort, and writes no more notes", async () => {
    const session = await manyTurns();
    const abort = new AbortController();
    const model = scriptedModel((_, nth) => {
      if (nth === 1) abort.abort();
      return note(nth);
    });
    await expect(buildNotes(session, { model, signal: abort.signal })).rejects.toMatchObject({
      code: "model-aborted",
    });
    const text = readFileSync(session.path.replace(".jsonl", ".notes.md"), "utf8");
    expect(text).toContain("Step 0 was noted.");
    expect(text).not.toContain("Step 1 was noted.");
  });

  it("stops when the model's edits for a step stay invalid, and the next run notes the messages of that step", async () => {
    const session = await manyTurns();
    const stubborn = scriptedModel((_, nth) => `${note(nth)}<note section="Nonsense" mode="append">x</note>`);
    const built = await buildNotes(session, { model: stubborn });
    expect(built).toMatchObject({ isComplete: false, isWritten: true, calls: 3 });
    expect(built.notes.coveredUuid).toBe("");
    expect(built.text).toContain("Step 0 was noted.");
    const model = scriptedModel((_, nth) => note(nth));
    const again = await buildNotes(session, { model });
    expect(again).toMatchObject({
      outcome: "updated",
      isComplete: true,
      notes: { coveredUuid: session.leafUuid },
    });
    expect(JSON.stringify(model.requests[0]?.messages)).toContain("request 0:");
  });

  /** Lets a person change the file while the model writes its second answer. */
  async function disturbed(change: (text: string) => string, options: BuildNotesOptions = {}) {
    const session = await manyTurns();
    const path = session.path.replace(".jsonl", ".notes.md");
    await buildNotes(session, { model: scriptedModel((_, nth) => `${LEARNT}${note(nth)}`) });
    if (!options.rebuild) rmSync(path);
    const at = options.rebuild ? 0 : 1;
    const model = scriptedModel((_, nth) => {
      if (nth === at) writeFileSync(path, change(readFileSync(path, "utf8")));
      return note(nth);
    });
    return { session, built: await buildNotes(session, { model, ...options }), model };
  }

  it("stops when a person edits the same section as the model, and the next run notes those messages again", async () => {
    const { session, built, model } = await disturbed((text) => text.replace("Step 0", "My step 0"));
    expect(built.text).toContain("My step 0 was noted.");
    expect(built.text).not.toContain("Step 1");
    expect(built).toMatchObject({ isComplete: false, calls: 2 });
    const next = scriptedModel((_, nth) => note(nth + 1));
    const again = await buildNotes(session, { model: next });
    const firstOf = (sent: unknown): unknown => /request \d+:/.exec(JSON.stringify(sent))?.[0];
    expect(firstOf(next.requests[0]?.messages)).toBe(firstOf(model.requests[1]?.messages));
    expect(again.notes.coveredUuid).toBe(session.leafUuid);
  });

  it("a rebuild does not replace notes that a person edits meanwhile", async () => {
    const change = (text: string): string => text.replace("Step 1", "My step 1");
    const { session, built } = await disturbed(change, { rebuild: true });
    expect(built.text).toContain("My step 1 was noted.");
    expect(built.text).toContain("Tides come twice.");
    expect(built).toMatchObject({ isComplete: false, notes: { coveredUuid: session.leafUuid } });
  });

  it("a dry run returns the model's notes without writing them", async () => {
    const session = await manyTurns();
    const built = await buildNotes(session, { model: scriptedModel((_, nth) => note(nth)), dryRun: true });
    expect(built).toMatchObject({ isWritten: false });
    expect(built.text).toContain("Step 0 was noted.");
  });
});
