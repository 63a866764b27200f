import type { ContentBlock } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { BETAS } from "../wording/betas.ts";
import {
  asked,
  edited,
  failing,
  newTalk,
  reparsed,
  said,
  started,
  type Talk,
  TestProvider,
  TOOL,
  thought,
  withMessages,
  withoutThinking,
  withTurns,
} from "./talk.case.ts";

describe("changes of a request that keep earlier thinking valid", () => {
  it("earlier thinking stays valid when the same conversation is parsed and sent again", () => {
    const { provider, talk } = started();
    expect(failing(provider, reparsed(talk))).toEqual([]);
    expect(provider.call(talk).conversation.messages).toBe(talk.messages);
  });

  it("earlier thinking stays valid after messages are appended", () => {
    const { provider, talk } = started();
    const longer = withTurns(provider, talk, 2);
    expect(failing(provider, longer)).toEqual([]);
  });

  it("earlier thinking stays valid when cache marks are added", () => {
    const { provider, talk } = started();
    const mark = { cache_control: { type: "ephemeral" } } as const;
    const marked = edited(talk, 2, (message) => ({
      ...message,
      content: (message.content as readonly ContentBlock[]).map(
        (block) => ({ ...block, ...mark }) as ContentBlock,
      ),
    }));
    const system = [{ type: "text", text: talk.system, ...mark }];
    expect(
      failing(provider, { ...marked, system, tools: [{ ...TOOL, ...mark }] } as unknown as Talk),
    ).toEqual([]);
  });

  it("earlier thinking stays valid when an unused deferred tool is added", () => {
    const { provider, talk } = started();
    const deferred = { name: "later", input_schema: { type: "object" }, defer_loading: true };
    expect(failing(provider, { ...talk, tools: [...talk.tools, deferred] })).toEqual([]);
  });

  it("earlier thinking stays valid when fields other than system, tools and messages change", () => {
    const { provider, talk } = started();
    const changed = { ...talk, max_tokens: 7, output_config: { effort: "low" }, metadata: { user_id: "u" } };
    expect(failing(provider, changed)).toEqual([]);
  });

  it("earlier thinking stays valid when other thinking is removed from the start or the end, or completely", () => {
    const { provider, talk } = started();
    for (let count = 1; count <= 6; count++) {
      expect(
        failing(
          provider,
          withoutThinking(talk, (number) => number < count),
        ),
      ).toEqual([]);
      expect(
        failing(
          provider,
          withoutThinking(talk, (number) => number >= 6 - count),
        ),
      ).toEqual([]);
    }
  });

  it("new thinking stays valid if thinking blocks were removed before it was written and stay removed", () => {
    const { provider, talk } = started();
    const trimmed = withoutThinking(talk, (number) => number < 3);
    expect(failing(provider, withTurns(provider, trimmed, 1))).toEqual([]);
  });

  it("earlier thinking stays valid when a string becomes a text block and each block becomes a message", () => {
    const { provider, talk } = started();
    const messages = talk.messages.flatMap((message) =>
      message.role === "assistant" && typeof message.content !== "string"
        ? message.content.map((block) => ({ role: message.role, content: [block] }) as const)
        : [typeof message.content === "string" ? { ...message, content: [said(message.content)] } : message],
    );
    expect(failing(provider, withMessages(talk, messages))).toHaveLength(0);
  });

  it("earlier thinking is valid in another simulator with the same secret", () => {
    const { talk } = started();
    expect(failing(new TestProvider(), talk)).toEqual([]);
  });

  it("earlier thinking stays valid when only the query of an image URL changes", () => {
    const provider = new TestProvider();
    const picture = (url: string): Talk =>
      withMessages(newTalk(), [{ role: "user", content: [{ type: "image", source: { type: "url", url } }] }]);
    const first = picture("https://example.test/a.png?signature=1");
    const content = provider.reply(first, [thought("a picture"), said("I see")]);
    const next = (talk: Talk): Talk =>
      withMessages(talk, [...talk.messages, { role: "assistant", content }, asked("next")]);
    expect(failing(provider, next(picture("https://example.test/a.png?signature=2")))).toEqual([]);
    expect(failing(provider, next(picture("https://example.test/b.png?signature=1")))).not.toEqual([]);
  });
});

describe("changes of a request that make earlier thinking invalid", () => {
  it("editing a message makes all later thinking invalid", () => {
    const { provider, talk } = started();
    const changed = edited(talk, 4, () => asked("another question"));
    expect(failing(provider, changed)).toEqual([5, 7, 9, 11].map((index) => `messages.${index}.content.0`));
  });

  it("shortening a tool result makes all later thinking invalid", () => {
    const { provider, talk } = started();
    const changed = edited(talk, 2, (message) => ({
      ...message,
      content: (message.content as readonly ContentBlock[]).map((block) =>
        block.type === "tool_result" ? { ...block, content: "short" } : block,
      ),
    }));
    expect(failing(provider, changed)).toHaveLength(5);
  });

  it("deleting or reordering messages makes later thinking invalid", () => {
    const { provider, talk } = started();
    expect(failing(provider, withMessages(talk, talk.messages.slice(4)))).toHaveLength(4);
    const [a, b, c, d, ...rest] = talk.messages;
    const [e, f, g, h, ...end] = rest;
    const swapped = [e, f, g, h, a, b, c, d, ...end].filter((message) => message !== undefined);
    expect(failing(provider, withMessages(talk, swapped))).toHaveLength(6);
  });

  it("changing the system prompt or the tools makes all thinking invalid", () => {
    const { provider, talk } = started();
    expect(failing(provider, { ...talk, system: "Be long." })).toHaveLength(6);
    expect(failing(provider, { ...talk, tools: [{ ...TOOL, description: "reads" }] })).toHaveLength(6);
    expect(failing(provider, { ...talk, tools: [...talk.tools, { ...TOOL, name: "write" }] })).toHaveLength(
      6,
    );
  });

  it("removing a thinking block from the middle makes all later thinking invalid", () => {
    const { provider, talk } = started();
    const gap = withoutThinking(talk, (number) => number === 2);
    expect(failing(provider, gap)).toEqual([7, 9, 11].map((index) => `messages.${index}.content.0`));
  });

  it("restoring removed thinking blocks makes the thinking invalid that was written after their removal", () => {
    const { provider, talk } = started();
    const trimmed = withoutThinking(talk, (number) => number < 3);
    const longer = withTurns(provider, trimmed, 1);
    const restored = withMessages(longer, [...talk.messages, ...longer.messages.slice(talk.messages.length)]);
    expect(failing(provider, restored)).toEqual([
      `messages.${talk.messages.length + 1}.content.0`,
      `messages.${talk.messages.length + 3}.content.0`,
    ]);
  });

  it("replacing the beginning with the client's own summary makes thinking in the kept messages invalid", () => {
    const { provider, talk } = started();
    const tail = talk.messages.slice(8);
    expect(
      failing(
        provider,
        withMessages(talk, [asked("summary"), { role: "assistant", content: [said("ok")] }, ...tail]),
      ),
    ).toHaveLength(2);
  });

  it("changing a deferred tool that the conversation uses makes later thinking invalid", () => {
    const provider = new TestProvider();
    const deferred = (description: string): Talk => ({
      ...newTalk(),
      tools: [TOOL, { name: "later", description, input_schema: { type: "object" }, defer_loading: true }],
    });
    const betas = [BETAS.toolChanges];
    const addition = { type: "tool_addition", tool: { type: "tool_reference", name: "later" } };
    const opening = [asked("hello"), { role: "system", content: [addition] }];
    const talk = { ...deferred("one"), messages: opening } as unknown as Talk;
    const content = provider.reply(talk, [thought("a new tool"), said("thanks")], { betas });
    const messages = [...talk.messages, { role: "assistant", content }, asked("next")] as const;
    expect(failing(provider, withMessages(deferred("one"), messages), betas)).toEqual([]);
    expect(failing(provider, withMessages(deferred("two"), messages), betas)).toHaveLength(1);
  });
});
