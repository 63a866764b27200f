import { currentConversation } from "@longhaul/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../../../test/support/builders.ts";
import { createCompactor } from "../../../../../test/support/full-compactor.ts";
import type { TranscriptPort } from "../../engine/options.ts";
import { contextTokens } from "../../measure/tokens/context-meter.ts";
import type { Entry } from "../../messages/entry.ts";

const ROUNDS = 6;
const WORDS = "the tide table of the outer harbor, line by line. ";

/** Creates rounds of a read and an answer, each with the usage that a provider would report. */
function rounds(lengths: readonly number[]): readonly Entry[] {
  const c = new ConversationBuilder();
  let input = 1_000;
  for (const [nth, length] of lengths.entries()) {
    c.user(`question ${nth}`);
    c.tool(`toolu_${nth}`, "Read", { file_path: `/project/${nth}.ts` }, WORDS.repeat(length), {
      usage: usage(input, 30),
    });
    input += length * 11 + 40;
    c.assistant(`answer ${nth}`, { usage: usage(input, 5) });
    input += 15;
  }
  return c.entries;
}

const inMemory = (lines: Entry[]): TranscriptPort => ({
  path: "/t.jsonl",
  append: async (entries) => void lines.push(...entries),
});

describe("Compactor.snip", () => {
  it("after a snip, the session file and the conversation have about the same token count", async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: ROUNDS, maxLength: ROUNDS });
    const place = fc.integer({ min: 0, max: ROUNDS - 1 });
    await fc.assert(
      fc.asyncProperty(lengths, place, place, async (sizes, one, other) => {
        const [first, last] = [Math.min(one, other), Math.max(one, other)];
        // If no usage report is left, both token counts are estimates, and there is nothing to compare.
        fc.pre(last - first < ROUNDS - 1);
        const lines: Entry[] = [];
        const entries = rounds(sizes);
        const compactor = createCompactor({ settings: { environment: {} }, transcript: inMemory(lines) });
        const turn = await compactor.snip<Entry>(entries, { from: first * 4, to: last * 4 + 3 });
        const read = currentConversation(lines).entries;

        expect(turn.snipped).toMatchObject({ messages: (last - first + 1) * 4, spared: 0 });
        expect(read.map(({ uuid }) => uuid)).toEqual(turn.messages.map(({ uuid }) => uuid));
        const resumed = await createCompactor({ settings: { environment: {} } }).before<Entry>(read);
        for (const tokens of [contextTokens(read), resumed.tokens]) {
          expect(Math.abs(tokens - turn.tokens)).toBeLessThanOrEqual(0.15 * turn.tokens + 150);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("a snip is in the transcript when its promise resolves, however slow the disk is", async () => {
    const lines: Entry[] = [];
    const append = async (entries: readonly Entry[]): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      lines.push(...entries);
    };
    const compactor = createCompactor({
      settings: { environment: {} },
      transcript: { path: "/t.jsonl", append },
    });
    const { messages } = await compactor.snip<Entry>(rounds([9, 9, 9]), { from: 0, to: 3 });
    const written = new Set(lines.map(({ uuid }) => uuid));
    expect(messages.filter(({ uuid }) => !written.has(uuid))).toEqual([]);
  });

  it("a snip changes nothing when the transcript cannot be written", async () => {
    let isFull = false;
    const append = async (): Promise<void> => {
      if (isFull) throw new Error("no space left");
    };
    const compactor = createCompactor({
      settings: { environment: {} },
      transcript: { path: "/t.jsonl", append },
    });
    const entries = rounds([9, 9, 9]);
    const { tokens } = await compactor.before<Entry>(entries);
    isFull = true;
    const refused = compactor.snip<Entry>(entries, { from: 0, to: 3 });
    await expect(refused).rejects.toMatchObject({ code: "transcript-not-written" });
    isFull = false;
    expect(await compactor.before<Entry>(entries)).toMatchObject({ messages: entries, tokens });
  });

  it("reports to the host which files the agent no longer sees after a snip", async () => {
    const forgotten: string[] = [];
    const compactor = createCompactor({
      settings: { environment: {} },
      host: { onFilesForgotten: (paths) => forgotten.push(...paths) },
    });
    await compactor.snip<Entry>(rounds([9, 9, 9]), { from: 4, to: 7 });
    expect(forgotten).toEqual(["/project/1.ts"]);
  });

  it("snip reports chosen tool calls that stay because their result was not chosen", async () => {
    const compactor = createCompactor({ settings: { environment: {} } });
    // The range includes the call of round 0 but not its result.
    const { snipped } = await compactor.snip<Entry>(rounds([9, 9]), { from: 0, to: 1 });
    expect(snipped).toMatchObject({ messages: 1, added: 0, spared: 1 });
  });
});
