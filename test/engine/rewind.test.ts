import { join } from "node:path";
import type { Entry, TranscriptPort } from "@longhaul/core";
import { withClearedResults } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { resumeSession, rewindPoints, rewindSession } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTranscript } from "../support/open-transcript.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import type { AgentLoop } from "./agent-loop.case.ts";
import { shown } from "./host-conversation.case.ts";
import { hasCompacted, openScene, type Scene, workUntil } from "./scene.case.ts";

const folder = temporaryFolder();
let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ keepBodies: 10 });
});
afterEach(() => scene.simulator.close());

/** Opens a host's transcript. The transcript does not write entries again that the file already contains. */
async function transcriptAt(path: string, known: readonly Entry[] = []): Promise<TranscriptPort> {
  const writer = await openTranscript(path);
  const written = new Set(known.map(({ uuid }) => uuid));
  return {
    path,
    append: async (entries) => {
      await writer.append(entries);
      for (const { uuid } of entries) written.add(uuid);
    },
    has: (uuid) => written.has(uuid),
    stepBack: (choice) => writer.stepBack(choice),
  };
}

const ALARMS = ["usage-distrusted", "cache-break", "compaction-failed", "transcript-failed"];
const alarmsOf = ({ events }: AgentLoop): readonly string[] =>
  events.map(({ type }) => type).filter((type) => ALARMS.includes(type));

/** Returns the ratio of our count of the last call to the provider's count. */
const sizeError = ({ lastTurn }: AgentLoop): number =>
  (lastTurn?.tokens ?? 0) / (scene.simulator.requests.last?.inputTokens ?? 1);

describe.each(["claude-haiku-4-5", "claude-opus-5-5"])(
  "a loop with %s that is rewound to an earlier prompt",
  (modelName) => {
    it("a loop rewound past two compactions continues, compacts, undoes the compaction, and resumes in a new process", async () => {
      const path = join(folder, `${modelName}.jsonl`);
      const transcript = await transcriptAt(path);
      const loop = scene.loop({ form: "entries", modelName, compactor: { transcript } });
      for (const words of ["Look at the quay.", "And at the pier."]) {
        await loop.run(3);
        loop.say(words);
      }
      expect(await workUntil(loop, hasCompacted(loop, 2))).toBe(true);
      await loop.run(2);
      await loop.compactor.close();

      const points = await rewindPoints(path);
      const [target] = points.filter(({ compactionsSince }) => compactionsSince === 2);
      const { conversation, mark } = await rewindSession(path, target?.uuid ?? "");
      expect(target?.text).toContain("And at the pier.");
      expect(JSON.stringify(conversation)).toContain("Look at the quay.");
      await transcript.append([mark]);
      loop.conversation.resumeFrom([...conversation, mark]);
      loop.say("Take another way.");
      await loop.turn();
      expect(JSON.stringify(scene.simulator.requests.last?.body)).not.toContain("And at the pier.");
      expect(sizeError(loop)).toBeGreaterThan(0.75);
      expect(sizeError(loop)).toBeLessThan(1.35);

      const times = loop.eventsOf("compacted").length;
      expect(await workUntil(loop, hasCompacted(loop, times + 1))).toBe(true);
      loop.conversation.resumeFrom((await loop.compactor.undo(loop.conversation.messages)).messages);
      await loop.turn();
      expect(JSON.stringify(scene.simulator.requests.last?.body)).toContain("Take another way.");
      expect([alarmsOf(loop), loop.recoveries, scene.simulator.requests.invalid]).toEqual([[], 0, []]);

      const { request } = await loop.compactor.before(loop.conversation.messages, { caller: "compact" });
      await loop.compactor.close();
      const resumed = await resumeSession(path);
      const entries = withClearedResults(resumed.conversation, resumed.clearedToolUseIds);
      expect(shown(flatten(entries))).toEqual(shown(request.messages));
      const again = scene.loop({
        form: "entries",
        modelName,
        resumed: entries,
        seed: 7,
        compactor: { transcript: await transcriptAt(path, entries) },
      });
      expect(await workUntil(again, hasCompacted(again))).toBe(true);
      await again.run(2);
      expect([alarmsOf(again), again.recoveries, scene.simulator.requests.invalid]).toEqual([[], 0, []]);
    });
  },
);
