import { describe, expect, it } from "vitest";
import { createCompactor } from "../../../../test/support/full-compactor.ts";
import { ESTIMATORS } from "../measure/tokens/estimators.ts";
import { measureRequest } from "../measure/tokens/measure.ts";
import type { ApiMessage } from "../messages/message.ts";
import { type ContentBlock, contentBlocks } from "../messages/message.ts";

const ROUNDS = 70;
const reminderOf = (round: number): ContentBlock => ({
  type: "text",
  text: `<system-reminder>This is turn ${round}.</system-reminder>`,
});

const withLast = (
  messages: readonly ApiMessage[],
  change: (blocks: readonly ContentBlock[]) => readonly ContentBlock[],
): readonly ApiMessage[] =>
  messages.map((message, at) =>
    at === messages.length - 1 ? { ...message, content: change(contentBlocks(message.content)) } : message,
  );

/** Sorts the fields of an object, as some databases do. */
const stored = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, stored(field)] as const);
  return Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1)));
};

const HOSTS: Readonly<
  Record<string, (messages: readonly ApiMessage[], round: number) => readonly ApiMessage[]>
> = {
  "adds a reminder to the newest message": (messages, round) =>
    withLast(messages, (blocks) => [...blocks, reminderOf(round)]),
  "adds a reminder to the first message": ([first, ...others], round) => [
    ...withLast(first === undefined ? [] : [first], (blocks) => [...blocks, reminderOf(round)]),
    ...others,
  ],
  "marks the newest message for the cache": (messages) =>
    withLast(messages, (blocks) =>
      blocks.map((block) => ({ ...block, cache_control: { type: "ephemeral" } }) as ContentBlock),
    ),
  "reads all but the newest messages from a database": (messages) =>
    messages.map((message, at) => (at < messages.length - 2 ? (stored(message) as ApiMessage) : message)),
};

describe.each(Object.entries(HOSTS))("a host that keeps its own list and %s", (_, decorated) => {
  it("the engine keeps its compaction and a correct token count if the host decorates its own list", async () => {
    const compactor = createCompactor({
      model: "claude-haiku-4-5",
      window: { tokens: 32_000 },
      settings: { environment: {} },
    });
    const own: ApiMessage[] = [{ role: "user", content: "the task" }];
    let compactions = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const { request, tokens, compaction } = await compactor.before(decorated(own, round));
      if (compaction !== undefined) compactions += 1;
      const counted = Math.round(measureRequest(request, ESTIMATORS.o200k) * 1.1) + 400;
      expect(Math.abs(tokens - counted)).toBeLessThan(counted * 0.34 + 700);
      expect(counted).toBeLessThan(32_000);
      compactor.after({ id: `m${round}`, usage: { input_tokens: counted, output_tokens: 30 } });
      const id = `call_${round}`;
      own.push(
        { role: "assistant", content: [{ type: "tool_use", id, name: "Look", input: { at: round } }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: id, content: `${id} tide table `.repeat(150) }],
        },
      );
    }
    expect(compactions).toBeGreaterThan(1);
    expect(compactions).toBeLessThan(8);
  });
});
