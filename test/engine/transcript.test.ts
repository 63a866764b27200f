import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { withClearedResults } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { openTranscript, resumeSession, type TranscriptWriter } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultyFile, systemError } from "../transcript/faulty-file.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import type { AgentLoop } from "./agent-loop.case.ts";
import { type Form, shown } from "./host-conversation.case.ts";
import { hasCompacted, openScene, type Scene, workUntil } from "./scene.case.ts";

const folder = temporaryFolder();
let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ keepBodies: 10 });
});
afterEach(() => scene.simulator.close());

const inMemory = (file: FaultyFile): Promise<TranscriptWriter> =>
  openTranscript("/sessions/played.jsonl", {
    openFile: async (path) => ({ file, realPath: path }),
    lock: async () => async () => undefined,
  });

const entriesIn = (lines: string): readonly Entry[] =>
  lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Entry);

const uuidsIn = (entries: readonly Entry[]): readonly string[] => entries.flatMap(({ uuid }) => uuid ?? []);
const boundariesIn = (entries: readonly Entry[]): number =>
  entries.filter((entry) => entry.type === "system" && entry.subtype === "compact_boundary").length;

/** Returns a condition that is true if the window is so full that the engine has tried to compact. */
const isFull = (loop: AgentLoop) => (): boolean => loop.eventsOf("compaction-started").length > 0;

describe("a transcript that the engine cannot write", () => {
  it("no message leaves the conversation while the transcript cannot be written, and the host learns why", async () => {
    const file = new FaultyFile();
    const loop = scene.loop({ compactor: { transcript: await inMemory(file) } });
    await loop.run(5);
    file.room = 0;
    expect(await workUntil(loop, isFull(loop))).toBe(true);
    expect(loop.eventsOf("compaction-failed")).toMatchObject([{ reason: "transcript_failed" }]);
    expect(loop.problems).toEqual(["transcript-not-written"]);
    expect(loop.lastTurn?.problem?.remedy).toContain("/sessions/played.jsonl");
    const text = JSON.stringify(loop.conversation.messages);
    expect(loop.said.every((token) => text.includes(token))).toBe(true);

    file.room = Number.POSITIVE_INFINITY;
    expect(await workUntil(loop, hasCompacted(loop))).toBe(true);
    await loop.run(3);
    const written = entriesIn(file.content.toString());
    const uuids = uuidsIn(written);
    expect(new Set(uuids).size).toBe(uuids.length);
    expect(boundariesIn(written)).toBe(1);
    // The file also has the entries that could not be written at first, each after its parent.
    expect(written.every(({ parentUuid }) => parentUuid == null || uuids.includes(parentUuid))).toBe(true);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("a full conversation compacts as soon as the transcript can be written again", async () => {
    const file = new FaultyFile();
    const loop = scene.loop({ compactor: { transcript: await inMemory(file) } });
    file.room = 0;
    await expect(loop.run(200)).rejects.toMatchObject({ code: "model-too-long" });
    expect(loop.eventsOf("compacted")).toEqual([]);
    expect(loop.eventsOf("recovery-failed")).toMatchObject([{ code: "transcript-not-written" }]);
    file.room = Number.POSITIVE_INFINITY;
    await loop.run(5);
    expect(loop.eventsOf("compacted").length).toBeGreaterThan(0);
    expect(boundariesIn(entriesIn(file.content.toString()))).toBe(loop.eventsOf("compacted").length);
  });

  it("the transcript gets no boundary for a compaction that could not be written", async () => {
    const written: Entry[] = [];
    let refusals = 1;
    const transcript = {
      path: "/sessions/played.jsonl",
      append: async (entries: readonly Entry[]) => {
        if (boundariesIn(entries) > 0 && refusals-- > 0) throw systemError("ENOSPC");
        written.push(...entries);
      },
    };
    const loop = scene.loop({ compactor: { transcript } });
    expect(await workUntil(loop, () => loop.eventsOf("compaction-failed").length > 0)).toBe(true);
    expect(loop.lastTurn?.compaction).toBeUndefined();
    expect(boundariesIn(written)).toBe(0);
    expect(await workUntil(loop, hasCompacted(loop))).toBe(true);
    await loop.run(2);
    expect(boundariesIn(written)).toBe(1);
    const uuids = uuidsIn(written);
    expect(new Set(uuids).size).toBe(uuids.length);
  });
});

const COURSES: readonly (readonly [Form, string, "off" | "auto"])[] = [
  ["messages", "claude-haiku-4-5", "off"],
  ["entries", "claude-haiku-4-5", "off"],
  ["messages", "claude-haiku-4-5", "auto"],
  ["entries", "claude-opus-5-5", "auto"],
  ["messages", "claude-opus-5-5", "off"],
];

describe.each(COURSES)(
  "the session file of a loop that keeps %s with %s, clearing %s",
  (form, modelName, clearing) => {
    it("the session file reads back as the current conversation after compactions and clearing", async () => {
      const path = join(folder, `${form}-${modelName}-${clearing}.jsonl`);
      const transcript = await openTranscript(path);
      const loop = scene.loop({ form, modelName, compactor: { transcript, clearing: { form: clearing } } });
      for (const times of [1, 2, 3]) {
        expect(await workUntil(loop, hasCompacted(loop, times))).toBe(true);
        await loop.run(times);
        // A caller with this name never compacts automatically.
        const { request, messages } = await loop.compactor.before(loop.conversation.messages, {
          caller: "collapse",
        });
        loop.conversation.resumeFrom(messages);
        await written(path, loop);
        const { conversation, clearedToolUseIds } = await resumeSession(path);
        expect(shown(flatten(withClearedResults(conversation, clearedToolUseIds)))).toEqual(
          shown(request.messages),
        );
      }
      await transcript.close();
      const entries = entriesIn(readFileSync(path, "utf8"));
      expect(boundariesIn(entries)).toBe(loop.eventsOf("compacted").length);
      const uuids = uuidsIn(entries);
      expect(new Set(uuids).size).toBe(uuids.length);
    });
  },
);

/** Waits until the newest message is in the file, because writing continues in the background. */
async function written(path: string, loop: AgentLoop): Promise<void> {
  const [mark = ""] =
    /"tool_use_id":"\w+"|wish-\d+-\w+/.exec(JSON.stringify(loop.conversation.messages.at(-1))) ?? [];
  for (let look = 0; look < 500; look++) {
    if (readFileSync(path, "utf8").includes(mark)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("The newest message was never written");
}
