import { isNotesCall } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FRAME } from "../../../test/engine/agent-loop.case.ts";
import { asCandidate, isSummaryCall } from "../../../test/engine/faults.case.ts";
import { HeldNotes } from "../../../test/engine/notes-file.case.ts";
import {
  cacheRead,
  cacheWritten,
  hasCompacted,
  hasHappened,
  openScene,
  type Scene,
  workUntil,
} from "../../../test/engine/scene.case.ts";
import { parseNotes } from "./notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "./template.ts";

const template = parseTemplate(NOTES_TEMPLATE);
let scene: Scene;
let file: HeldNotes;
beforeEach(async () => {
  scene = await openScene();
  file = new HeldNotes();
});
afterEach(() => scene.simulator.close());

const noteCalls = (): typeof scene.simulator.requests.all =>
  scene.simulator.requests.all.filter((request) => isNotesCall(asCandidate(request)));

const hasNotes = hasHappened("notes-updated");

describe("notes during a long session", () => {
  it("the notes call shares the cached prefix of the conversation and writes nothing to the cache", async () => {
    const loop = scene.loop({ compactor: { notes: { file } } });
    expect(await workUntil(loop, hasNotes(loop, 3))).toBe(true);
    const [, ...later] = noteCalls();
    for (const call of later) {
      expect(cacheRead(call)).toBeGreaterThan(0);
      expect(cacheWritten(call)).toBe(0);
    }
    expect(loop.eventsOf("notes-updated").every(({ by }) => by === "fork")).toBe(true);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("never delays a turn while the model for notes is silent, and makes only one notes call at a time", async () => {
    scene.simulator.fail({ kind: "silence" }, { when: isNotesCall });
    const loop = scene.loop({ compactor: { notes: { file } } });
    expect(await workUntil(loop, () => noteCalls().length > 0)).toBe(true);
    await loop.run(6);
    expect(loop.eventsOf("compacted")).toEqual([]);
    expect(noteCalls()).toHaveLength(1);
    expect(loop.eventsOf("notes-updated")).toEqual([]);
    expect(file.writes).toBe(0);
  });

  it("compacts from notes several times without a summary call, and each compaction is effective", async () => {
    const loop = scene.loop({ compactor: { notes: { file } } });
    expect(await workUntil(loop, hasCompacted(loop, 3))).toBe(true);
    await loop.run(2);
    expect(scene.simulator.requests.all.filter((request) => isSummaryCall(asCandidate(request)))).toEqual([]);
    const compacted = loop.eventsOf("compacted");
    expect(compacted.map(({ tier, usage }) => [tier, usage])).toEqual(Array(3).fill(["memory", undefined]));
    expect(compacted.every(({ attempts }) => attempts.every(({ step }) => step === "notes"))).toBe(true);
    expect(loop.eventsOf("compaction-judged").map(({ verdict }) => verdict)).toEqual(
      Array(3).fill("effective"),
    );
    expect(loop.eventsOf("cache-break")).toEqual([]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("compacts from notes of the built-in writer without any model call for notes", async () => {
    const loop = scene.loop({ compactor: { notes: { file, writer: "built-in" } } });
    expect(await workUntil(loop, hasCompacted(loop, 2))).toBe(true);
    expect(noteCalls()).toEqual([]);
    expect(loop.eventsOf("compacted").map(({ tier }) => tier)).toEqual(["memory", "memory"]);
    expect(loop.eventsOf("notes-updated").every(({ by, calls }) => by === "built-in" && calls === 0)).toBe(
      true,
    );
  });

  it("stores the id of the newest noted message in the notes file", async () => {
    const loop = scene.loop({ form: "entries", compactor: { notes: { file } } });
    expect(await workUntil(loop, hasNotes(loop))).toBe(true);
    const { coveredUuid } = parseNotes(file.text ?? "", template);
    expect(JSON.stringify(loop.conversation.messages)).toContain(String(coveredUuid));
  });

  it("keeps text that a person adds to the notes file during the session", async () => {
    const loop = scene.loop({ compactor: { notes: { file } } });
    expect(await workUntil(loop, hasNotes(loop))).toBe(true);
    file.text = `${file.text}\n- remember the lighthouse\n`;
    expect(await workUntil(loop, hasNotes(loop, 3))).toBe(true);
    expect(file.text).toContain("remember the lighthouse");
  });

  it("a subagent makes no calls for notes", async () => {
    const loop = scene.loop({ compactor: { notes: { file } } });
    await loop.run(2);
    const child = scene.loop({
      use: loop.compactor.child({ model: loop.model, request: FRAME, window: { tokens: 32_000 } }),
    });
    const before = noteCalls().length;
    await child.run(20);
    expect(noteCalls()).toHaveLength(before);
  });

  it("close() of the compactor waits until a running notes update has been written", async () => {
    const loop = scene.loop({ compactor: { notes: { file } } });
    expect(await workUntil(loop, () => noteCalls().length > 0)).toBe(true);
    await loop.compactor.close();
    expect(file.writes).toBe(1);
  });
});
