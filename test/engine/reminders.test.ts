import type { Entry } from "@longhaul/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HeldNotes } from "./notes-file.case.ts";
import { hasCommitted, hasCompacted, openScene, type Scene, workUntil } from "./scene.case.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.simulator.close());

describe("a host that takes a reminder out of its newest message with every turn", () => {
  it.each(["model", "built-in"] as const)(
    "has notes by the %s that compactions can go on from",
    async (writer) => {
      const file = new HeldNotes();
      const loop = scene.loop({ form: "messages with reminders", compactor: { notes: { file, writer } } });
      expect(await workUntil(loop, hasCompacted(loop, 3))).toBe(true);
      expect(loop.eventsOf("compacted").map(({ tier }) => tier)).toEqual(Array(3).fill("memory"));
      expect(loop.eventsOf("notes-declined")).toEqual([]);
      expect(loop.eventsOf("notes-failed")).toEqual([]);
      expect(loop.eventsOf("notes-updated").length).toBeGreaterThan(3);
    },
  );

  it("is measured by what the provider reports, also after its messages were rewritten", async () => {
    const loop = scene.loop({ form: "messages with reminders", compactor: { collapse: {} } });
    expect(await workUntil(loop, hasCommitted(loop, 2))).toBe(true);
    await loop.run(2);
    const [, ...checks] = loop.eventsOf("window-checked");
    expect(checks.filter(({ source }) => source === "estimate")).toEqual([]);
    expect(loop.problems).toEqual([]);
  });

  it("has every message in its transcript once, but for the newest, which is there with the reminder too", async () => {
    const lines: Entry[] = [];
    const transcript = {
      path: "/sessions/reminded.jsonl",
      append: async (entries: readonly Entry[]) => void lines.push(...entries),
    };
    const loop = scene.loop({ form: "messages with reminders", compactor: { transcript } });
    await loop.run(12);
    await loop.compactor.close();
    const answers = lines.filter(({ type }) => type === "assistant");
    expect(answers).toHaveLength(11);
    expect(lines.filter(({ type }) => type === "user")).toHaveLength(12 + 11);
  });
});
