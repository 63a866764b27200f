import { currentConversation } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentLoop, connect } from "../../../../../test/engine/agent-loop.case.ts";
import { type Form, shown } from "../../../../../test/engine/host-conversation.case.ts";
import { hasCommitted, openScene, type Scene, workUntil } from "../../../../../test/engine/scene.case.ts";
import type { CompactorOptions } from "../../../../../test/support/full-compactor.ts";
import type { Turn } from "../../engine/options.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ImageBlock } from "../../messages/message.ts";
import { CLEARED_RESULT_TEXT, withClearedResults } from "../../messages/stand-ins.ts";
import { listField } from "../../messages/untrusted.ts";
import { ModelError } from "../../models/model-error.ts";
import { flatten } from "../../request/flatten/flatten.ts";

const WINDOW_TOKENS = 80_000;
const MINUTE_MS = 60_000;
/** Size of a large image: more than a third of the bytes that all images together may have. */
const LARGE_PICTURE_BYTES = 8_200_000;

let scene: Scene;
let lines: Entry[];
beforeEach(async () => {
  lines = [];
  scene = await openScene({
    windowTokens: WINDOW_TOKENS,
    switches: { cacheEdits: true },
    keepBodies: 5,
    // Exclude these two tools, because their results cannot be cleared.
    play: { seed: 3, uses: (name) => name !== "Task" && name !== "TodoWrite" },
  });
});
afterEach(() => scene.simulator.close());

const newLoop = (form: Form, modelName: string, options: CompactorOptions = {}): AgentLoop =>
  new AgentLoop({
    simulator: scene.simulator,
    model: connect(scene.simulator, modelName, { cacheEdits: true }),
    form,
    resultTokens: 2_000,
    compactor: {
      clearing: { form: "cached" },
      compaction: { background: false },
      transcript: {
        path: "/t.jsonl",
        append: async (entries) => void lines.push(...entries),
        read: async (uuids) => lines.filter(({ uuid }) => uuid !== undefined && uuids.includes(uuid)),
      },
      ...options,
      window: { tokens: WINDOW_TOKENS, ...options.window },
    },
  });

const picture = (bytes: number): ImageBlock => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "A".repeat(bytes) },
});

const edits = (): number => listField(scene.simulator.requests.last?.body, "cache_edits").length;
const deletedTokens = (): number =>
  Number(scene.simulator.requests.last?.usage?.cache_deleted_input_tokens ?? 0);

/** Runs the loop until the cache edits hide more tokens than the window has. */
const workUntilEditsHideMuch = (loop: AgentLoop): Promise<boolean> =>
  workUntil(loop, () => deletedTokens() > WINDOW_TOKENS);

/** Prepares a turn with a caller for which the engine never collapses or compacts. */
const unchangedTurn = ({ compactor, conversation }: AgentLoop): Promise<Turn> =>
  compactor.before(conversation.messages, { caller: "compact" });

const continueWith = ({ conversation }: AgentLoop, { messages }: Turn): void =>
  conversation.resumeFrom(messages);

/**
 * Makes a call after the conversation was rewritten. Checks that the call fits the window and has the
 * expected size, and that the messages now contain the hidden results as cleared results.
 */
async function checkCall(loop: AgentLoop): Promise<void> {
  const recoveries = loop.recoveries;
  await loop.turn();
  expect(loop.recoveries).toBe(recoveries);
  expect(loop.eventsOf("compacted")).toEqual([]);
  expect(edits()).toBe(0);
  const sent = scene.simulator.requests.last?.inputTokens ?? 0;
  expect(sent).toBeLessThan(WINDOW_TOKENS);
  expect((loop.lastTurn?.tokens ?? 0) / sent).toBeGreaterThan(0.9);
  expect((loop.lastTurn?.tokens ?? 0) / sent).toBeLessThan(1.25);
  expect(JSON.stringify(loop.conversation.messages).split(CLEARED_RESULT_TEXT).length).toBeGreaterThan(15);
  expect(scene.simulator.requests.invalid).toEqual([]);
  expect(loop.eventsOf("usage-distrusted")).toEqual([]);
  expect(loop.eventsOf("cache-break")).toEqual([]);
}

async function checkReadBack(loop: AgentLoop): Promise<void> {
  const { request, messages } = await unchangedTurn(loop);
  loop.conversation.resumeFrom(messages);
  const { entries, clearedToolUseIds } = currentConversation(lines);
  expect(shown(flatten(withClearedResults(entries, clearedToolUseIds)))).toEqual(shown(request.messages));
}

const CASES: readonly (readonly [Form, string])[] = [
  ["messages", "claude-haiku-4-5"],
  ["entries", "claude-haiku-4-5"],
  ["messages", "claude-opus-5-5"],
];

describe.each(CASES)(
  "results deleted by cache edits, for a host that passes %s and the model %s",
  (form, modelName) => {
    it("tool results deleted by cache edits stay deleted when messages are snipped", async () => {
      const loop = newLoop(form, modelName);
      expect(await workUntilEditsHideMuch(loop)).toBe(true);
      continueWith(loop, await loop.compactor.snip(loop.conversation.messages, { from: 3, to: 10 }));
      expect(loop.eventsOf("snipped")).toHaveLength(1);
      await checkCall(loop);
      await checkReadBack(loop);
    });

    it("tool results deleted by cache edits stay deleted when collapsed spans are expanded", async () => {
      const loop = newLoop(form, modelName, { collapse: {} });
      expect(await workUntil(loop, hasCommitted(loop))).toBe(true);
      await loop.run(1);
      expect(await workUntil(loop, () => deletedTokens() > WINDOW_TOKENS / 2)).toBe(true);
      const { length } = loop.conversation.messages;
      continueWith(loop, await loop.compactor.expand(loop.conversation.messages));
      expect(loop.conversation.messages.length).toBeGreaterThan(length);
      await checkCall(loop);
      await checkReadBack(loop);
    });

    it("tool results deleted by cache edits stay deleted when old images are replaced", async () => {
      const loop = newLoop(form, modelName);
      // The first image of a conversation breaks the cache.
      loop.conversation.addUser([picture(100)]);
      expect(await workUntilEditsHideMuch(loop)).toBe(true);
      loop.conversation.addUser([picture(LARGE_PICTURE_BYTES), picture(LARGE_PICTURE_BYTES)]);
      await loop.turn();
      expect(edits()).toBeGreaterThan(10);
      loop.conversation.addUser([picture(LARGE_PICTURE_BYTES)]);
      await checkCall(loop);
      expect(loop.eventsOf("media-replaced")).toMatchObject([{ replaced: 2, left: 2 }]);
    });

    it("tool results deleted by cache edits stay deleted after a manual clearing of one more result", async () => {
      const loop = newLoop(form, modelName);
      expect(await workUntilEditsHideMuch(loop)).toBe(true);
      const { messages } = loop.conversation;
      const left = JSON.stringify(messages).split('"tool_result"').length - 1 - edits();
      await expect(loop.compactor.clear(messages, { keep: left })).rejects.toMatchObject({
        code: "nothing-to-clear",
      });
      continueWith(loop, await loop.compactor.clear(messages, { keep: left - 1 }));
      await checkCall(loop);
      await checkReadBack(loop);
    });

    it("tool results deleted by cache edits stay deleted after a long pause", async () => {
      const loop = newLoop(form, modelName);
      expect(await workUntilEditsHideMuch(loop)).toBe(true);
      scene.simulator.clock.advance(61 * MINUTE_MS);
      await checkCall(loop);
      await checkReadBack(loop);
    });
  },
);

describe("results deleted by cache edits", () => {
  it("tool results deleted by cache edits stay deleted when the provider refuses thinking", async () => {
    const loop = newLoop("messages", "claude-opus-5-5");
    expect(await workUntilEditsHideMuch(loop)).toBe(true);
    continueWith(loop, await unchangedTurn(loop));
    const turn = await loop.compactor.recover(new ModelError({ kind: "thinking-mismatch" }, "refused"));
    expect(turn?.tokens).toBeLessThan(WINDOW_TOKENS);
    expect(loop.eventsOf("thinking-left-out")).toMatchObject([{ reason: "mismatch" }]);
    continueWith(loop, turn as Turn);
    await checkCall(loop);
  });

  it.each(["from", "upTo"])(
    "the token count stays correct when a part of the conversation is compacted after cache edits: %s",
    async (which) => {
      const loop = newLoop("messages", "claude-haiku-4-5");
      expect(await workUntilEditsHideMuch(loop)).toBe(true);
      const { messages } = loop.conversation;
      const half = Math.floor(messages.length / 2);
      continueWith(loop, await loop.compactor.compact(messages, { [which]: half, force: true }));
      await loop.turn();
      expect(loop.recoveries).toBe(0);
      const sent = scene.simulator.requests.last?.inputTokens ?? 0;
      expect((loop.lastTurn?.tokens ?? 0) / sent).toBeGreaterThan(0.9);
      expect((loop.lastTurn?.tokens ?? 0) / sent).toBeLessThan(1.25);
      expect(scene.simulator.requests.invalid).toEqual([]);
    },
  );
});

describe("cache edits while the messages stay unchanged", () => {
  it("compacts a full window instead of clearing results that cache edits already delete", async () => {
    const loop = newLoop("messages", "claude-haiku-4-5", { clearing: { form: "auto" } });
    expect(await workUntilEditsHideMuch(loop)).toBe(true);
    loop.say("tide ".repeat(35_000));
    await loop.turn();
    expect(loop.eventsOf("results-cleared").filter(({ form }) => form !== "cached")).toEqual([]);
    expect(loop.eventsOf("compacted")).toHaveLength(1);
    expect(loop.recoveries).toBe(0);
  });

  it("keeps the cache edits when snip and expand find nothing to change", async () => {
    const loop = newLoop("messages", "claude-haiku-4-5", { collapse: {} });
    expect(await workUntil(loop, () => edits() > 10)).toBe(true);
    const { messages } = loop.conversation;
    const [pinned, written] = [edits(), lines.length];
    const { compactor } = loop;
    expect((await compactor.snip(messages, { keepLastTurns: 1_000 })).messages).toBe(messages);
    expect((await compactor.expand(messages)).messages).toBe(messages);
    await expect(compactor.expand(messages, ["no such span"])).rejects.toMatchObject({
      code: "span-not-found",
    });
    expect(lines.slice(written).filter(({ type }) => type === "system")).toEqual([]);
    await loop.turn();
    expect(edits()).toBeGreaterThanOrEqual(pinned);
    expect(JSON.stringify(loop.conversation.messages)).not.toContain(CLEARED_RESULT_TEXT);
    expect(loop.eventsOf("cache-break")).toEqual([]);
  });
});
