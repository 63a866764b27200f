import type { ApiMessage, Entry, ManualOptions, Message } from "@longhaul/core";
import { flatten } from "@longhaul/core/request";
import { describe, expect, it } from "vitest";
import { EngineOnFile } from "./engine-on-file.case.ts";

const session = new EngineOnFile();

const entry = (text: string, at: number): Entry =>
  ({
    uuid: `u${at}`,
    parentUuid: at === 0 ? null : `u${at - 1}`,
    timestamp: "2026-01-01T00:00:00Z",
    type: at % 2 === 0 ? "user" : "assistant",
    message: { role: at % 2 === 0 ? "user" : "assistant", content: [{ type: "text", text }] },
  }) as unknown as Entry;
const words = ["one", "two", "three", "four", "five", "six", "seven"];
const entries = words.map(entry);

function textsOf(messages: readonly Message[]): readonly string[] {
  const sent: readonly ApiMessage[] = flatten(messages as readonly Entry[]);
  return sent
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .flatMap((block) => (block.type === "text" && block.text.length < 20 ? [block.text] : []));
}

/** Edits the message with this text, under the same id. */
const edited = (messages: readonly Message[], text: string): readonly Message[] =>
  messages.map((message) =>
    textsOf([message]).includes(text)
      ? ({ ...message, message: { role: "user", content: [{ type: "text", text: `${text}!` }] } } as Message)
      : message,
  );

async function compact(messages: readonly Message[], options: ManualOptions): Promise<readonly Message[]> {
  return (await session.engine.compact(messages, { force: true, ...options })).messages;
}

/** Returns all words after the host has edited this message. */
const editedWords = (text: string): readonly string[] =>
  [...words, "eight", "nine"].map((word) => (word === text ? `${text}!` : word));

describe.each(["one", "three"])("edits of the message %s, which compactions kept in place", (text) => {
  it("the resumed session has all messages that a compaction kept, with the host's edit", async () => {
    const kept = await compact(entries, { from: 4 });
    const { messages } = await session.engine.before(edited(kept, text));
    expect(textsOf(messages)).toEqual(editedWords(text).slice(0, 4));
    expect(textsOf(await session.resumed())).toEqual(textsOf(messages));
  });

  it("an undo of a later snip keeps all messages that a compaction kept, with the host's edit", async () => {
    const more = [
      ...(await compact(entries, { from: 4 })),
      ...["eight", "nine", "ten"].map((word, at) => entry(word, at + 7)),
    ];
    const { messages } = await session.engine.before(edited(more, text));
    const { messages: removed } = await session.engine.snip(messages, { ids: ["u8"] });
    expect(textsOf(removed)).not.toContain("nine");
    const undone = await session.engine.undo(removed);
    expect(textsOf(undone.messages)).toEqual(textsOf(messages));
  });

  it("the resumed session has all messages with the host's edit after the undo of two compactions", async () => {
    const more = [...(await compact(entries, { from: 5 })), entry("eight", 7), entry("nine", 8)];
    await session.engine.before(edited(await compact(more, { from: 4 }), text));
    const conversation = await session.resumed();
    const once = await session.engine.undo(conversation);
    expect(textsOf(once.messages).slice(0, 5)).toEqual(editedWords(text).slice(0, 5));
    const between = await session.resumed();
    const twice = await session.engine.undo(between);
    expect(textsOf(twice.messages)).toEqual(editedWords(text));
    expect(textsOf(await session.resumed())).toEqual(editedWords(text));
  });
});

const isSummary = (message: Message): boolean => "isCompactSummary" in message;
const added = (text: string, parentUuid: string): Entry =>
  ({ ...entry(text, 10), uuid: `new-${text}`, parentUuid }) as Entry;

describe.each([
  {
    change: "cuts the summary off and continues",
    changed: (list: readonly Message[]) => [...list.slice(0, -1), added("new", "u3")],
    without: [],
  },
  {
    change: "puts a message before the summary",
    changed: (list: readonly Message[]) =>
      list.flatMap((message) => (isSummary(message) ? [added("new", "u3"), message] : [message])),
    without: [],
  },
  {
    change: "replaces the first kept message under a new id",
    changed: (list: readonly Message[]) =>
      list.map((message) =>
        textsOf([message]).includes("one") ? { ...message, ...added("new", "") } : message,
      ),
    without: ["one"],
  },
])("kept messages whose lines are written again because the host $change", ({ changed, without }) => {
  const wanted = words.slice(0, 4).filter((word) => !without.includes(word));

  async function change(): Promise<readonly Message[]> {
    const { messages } = await session.engine.before(changed(await compact(entries, { from: 4 })));
    expect(textsOf(messages).toSorted()).toEqual([...wanted, "new"].toSorted());
    return messages;
  }

  it("the resumed session equals the host's own list after the host's change", async () => {
    const messages = await change();
    expect(textsOf(await session.resumed())).toEqual(textsOf(messages));
  });

  it("an undo after the host's change restores all messages and leaves nothing else to undo", async () => {
    const undone = await session.engine.undo(await change());
    expect(textsOf(undone.messages)).toEqual([...words, "new"]);
    expect(undone.messages.some(isSummary)).toBe(false);
    await expect(session.engine.undo(undone.messages)).rejects.toMatchObject({ code: "nothing-to-undo" });
    const conversation = await session.resumed();
    expect(textsOf(conversation)).toEqual([...words, "new"]);
    await expect(session.engine.undo(conversation)).rejects.toMatchObject({ code: "nothing-to-undo" });
  });

  it("a redo restores the host's own list after the host's change", async () => {
    const messages = await change();
    await session.engine.undo(messages);
    const conversation = await session.resumed();
    const redone = await session.engine.redo(conversation);
    expect(textsOf(redone.messages)).toEqual(textsOf(messages));
    expect(textsOf(await session.resumed())).toEqual(textsOf(messages));
  });
});

describe("messages replaced under a new id after the undo of a compaction", () => {
  it("the resumed session equals the host's list when a message gets a new id after an undo", async () => {
    const undone = await session.engine.undo(await compact(entries, { upTo: 1 }));
    const changed = undone.messages.map((message) =>
      textsOf([message]).includes("three") ? { ...message, ...added("new", "u1") } : message,
    );
    const { messages } = await session.engine.before(changed);
    expect(textsOf(messages)).toEqual(words.map((word) => (word === "three" ? "new" : word)));
    expect(textsOf(await session.resumed())).toEqual(textsOf(messages));
  });
});

describe("edits of plain messages without ids", () => {
  const plain = words.map(
    (text, at): ApiMessage => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: [{ type: "text", text }],
    }),
  );
  const textsOfPlain = (messages: readonly Message[]): readonly string[] =>
    (messages as readonly ApiMessage[])
      .flatMap(({ content }) => (typeof content === "string" ? [] : content))
      .flatMap((block) => (block.type === "text" && block.text.length < 20 ? [block.text] : []));
  const editedPlain = (messages: readonly Message[], text: string): readonly Message[] =>
    messages.map((message) =>
      textsOfPlain([message]).includes(text)
        ? ({ role: "user", content: [{ type: "text", text: `${text}!` }] } as Message)
        : message,
    );

  it.each(["one", "three"])(
    "an undo restores all plain messages after the host edited the message %j",
    async (text) => {
      const kept = await compact(plain, { from: 4 });
      const { messages } = await session.engine.before(editedPlain(kept, text));
      const undone = await session.engine.undo(messages);
      expect(textsOfPlain(undone.messages)).toEqual(editedWords(text).slice(0, words.length));
      expect(textsOf(await session.resumed())).toEqual(textsOfPlain(undone.messages));
    },
  );

  it("if the host edited the copy of a message that a compaction kept, an undo restores the original with that edit", async () => {
    const restored = await session.engine.undo(await compact(plain, { keepRecentTokens: 0 }));
    const kept = await compact(restored.messages, { from: 4 });
    const { messages } = await session.engine.before(editedPlain(kept, "one"));
    const undone = await session.engine.undo(messages);
    expect(textsOfPlain(undone.messages)).toEqual(editedWords("one").slice(0, words.length));
  });

  it.each(["copies of the newest messages", "an edit"])(
    "the resumed session equals the host's list after an undo and then %s",
    async (change) => {
      const undone = await session.engine.undo(await compact(plain, { upTo: 1 }));
      const more: readonly ApiMessage[] = [
        { role: "assistant", content: [{ type: "text", text: "more" }] },
        { role: "user", content: [{ type: "text", text: "and more" }] },
      ];
      const { messages: all } = await session.engine.before([...undone.messages, ...more]);
      const changed =
        change === "an edit"
          ? editedPlain(all, "one")
          : [...all.slice(0, words.length), ...more.map((message) => ({ ...message }))];
      const { messages } = await session.engine.before(changed);
      expect(textsOfPlain(messages)).toHaveLength(words.length + 2);
      expect(textsOf(await session.resumed())).toEqual(textsOfPlain(messages));
    },
  );

  it("the marker of a snip survives the undo of an earlier compaction after the host removed messages", async () => {
    const talk = ["eight", "nine", "ten", "eleven", "twelve", "thirteen"].map(
      (text, at): ApiMessage => ({
        role: at % 2 === 0 ? "assistant" : "user",
        content: [{ type: "text", text }],
      }),
    );
    const { messages: all } = await session.engine.before([...(await compact(plain, { upTo: 5 })), ...talk]);
    const first = all.findIndex((message) => textsOfPlain([message]).includes("eight"));
    const snipped = await session.engine.snip(all, { from: first, to: first + 1 });
    const { messages } = await session.engine.before(snipped.messages.slice(0, -2));
    const undone = await session.engine.undo(messages);
    expect(textsOfPlain(undone.messages)).toEqual([...words, "ten", "eleven"]);
    expect(JSON.stringify(undone.messages)).toContain("2 messages were removed here");
    expect(JSON.stringify(await session.resumed())).toContain("2 messages were removed here");
  });
});
