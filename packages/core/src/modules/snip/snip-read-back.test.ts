import { currentConversation } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { createCompactor } from "../../../../../test/support/full-compactor.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ApiMessage } from "../../messages/message.ts";
import { ModelError } from "../../models/model-error.ts";
import { flatten } from "../../request/flatten/flatten.ts";

const PICTURE = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "AAAA" },
} as const;

/** Creates a conversation with bound thinking and with images. */
const conversation = (pictures: number): readonly ApiMessage[] => [
  { role: "user", content: [{ type: "text", text: "go" }, ...Array(pictures).fill(PICTURE)] },
  ...[0, 1, 2, 3, 4].flatMap((nth): readonly ApiMessage[] => [
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: `s${nth}` },
        { type: "text", text: `answer ${nth}` },
      ],
    },
    { role: "user", content: `question ${nth}` },
  ]),
];

const REMOVED = "removed here";

describe("reading a session back after a snip", () => {
  it.each([
    ["thinking is left out", 0],
    ["old images are replaced", 700],
  ])("a session that is read back contains no snipped messages after %s", async (_, pictures) => {
    const lines: Entry[] = [];
    const compactor = createCompactor({
      settings: { environment: {} },
      model: "claude-opus-5-5",
      transcript: { path: "/t.jsonl", append: async (entries) => void lines.push(...entries) },
    });
    let { messages } = await compactor.snip(conversation(pictures), { from: 7, to: 8 });
    ({ messages } = await compactor.before(messages));
    if (pictures === 0) {
      const again = await compactor.recover<ApiMessage>(new ModelError({ kind: "thinking-mismatch" }, "no"));
      messages = again?.messages ?? [];
    }
    const { request } = await compactor.before([...messages, { role: "user", content: "on" }]);
    await compactor.close();
    const read = flatten(currentConversation(lines).entries);
    expect(JSON.stringify(request.messages)).toContain(REMOVED);
    expect(JSON.stringify(read)).toContain(REMOVED);
    expect(JSON.stringify(read)).not.toContain("answer 3");
  });

  it("a read-back session omits snipped messages if the host's next entry links to the last returned entry", async () => {
    const lines: Entry[] = [];
    const compactor = createCompactor({
      settings: { environment: {} },
      transcript: { path: "/t.jsonl", append: async (entries) => void lines.push(...entries) },
    });
    const c = new ConversationBuilder();
    for (const nth of [0, 1, 2]) {
      c.user(`question ${nth}`);
      c.assistant(`answer ${nth}`);
    }
    const { messages } = await compactor.snip<Entry>(c.entries, { from: 2, to: 3 });
    const parentUuid = messages.at(-1)?.uuid ?? null;
    const next = { ...c.user("on"), parentUuid } as Entry;
    const { request } = await compactor.before<Entry>([...messages, next]);
    await compactor.close();
    const read = flatten(currentConversation(lines).entries);
    expect(JSON.stringify(read)).toContain(REMOVED);
    expect(JSON.stringify(read)).not.toContain("answer 1");
    expect(read).toHaveLength(request.messages.length);
  });
});
