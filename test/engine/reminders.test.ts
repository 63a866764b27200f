import type { Entry } from "@longhaul/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HeldNotes } from "./notes-file.case.ts";
import { hasCommitted, hasCompacted, openScene, type Scene, workUntil } from "./scene.case.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.simulator.close());

describe("a host that removes a reminder from its newest message in every turn", () => {
  it.each(["model", "built-in"] as const)(
    "the engine compacts from notes when the host changes its newest message each turn (writer: %s)",
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

  it("the engine trusts reported usage when the host changes its newest message each turn", async () => {
    const loop = scene.loop({ form: "messages with reminders", compactor: { collapse: {} } });
    expect(await workUntil(loop, hasCommitted(loop, 2))).toBe(true);
    await loop.run(2);
    const [, ...checks] = loop.eventsOf("window-checked");
    expect(checks.filter(({ source }) => source === "estimate")).toEqual([]);
    expect(loop.problems).toEqual([]);
  });

  it("the engine writes each reply once, and each user message again after its reminder is removed", async () => {
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
