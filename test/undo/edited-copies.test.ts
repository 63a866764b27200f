import type { ApiMessage, Entry, Message } from "@longhaul/core";
import { flatten } from "@longhaul/core/request";
import { loadSession, resumeSession, undoSession, writeUndo } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { EngineOnFile } from "./engine-on-file.case.ts";

const TODOS = [{ content: "Check the books", status: "pending", activeForm: "Checking the books" }] as const;

const session = new EngineOnFile({ state: { todos: () => TODOS } });

const asked = (content: string): ApiMessage => ({ role: "user", content });
const said = (text: string): ApiMessage => ({ role: "assistant", content: [{ type: "text", text }] });
const plain = [asked("one"), said("two"), asked("three"), said("four"), asked("five")];
const entries = plain.map(
  (message, at) =>
    ({
      uuid: `u${at}`,
      parentUuid: at === 0 ? null : `u${at - 1}`,
      timestamp: "2026-01-01T00:00:00Z",
      type: message.role,
      message,
    }) as unknown as Entry,
);

function textsOf(messages: readonly Message[]): readonly string[] {
  const sent = flatten(messages.filter((message): message is Entry => "type" in message));
  const all = sent.length > 0 ? sent : (messages as readonly ApiMessage[]);
  return all.flatMap(({ content }) =>
    typeof content === "string"
      ? [content]
      : content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );
}

/** Replaces the message that has the text `text` with the text `other`, under the same id. */
const edited = (messages: readonly Message[], text: string, other: string): readonly Message[] =>
  messages.map((message) => {
    if (!textsOf([message]).includes(text)) return message;
    const changed = {
      role: "user",
      content: [{ type: "text", text: other }],
    };
    return ("role" in message ? changed : { ...message, message: changed }) as Message;
  });

/** Compacts, undoes and compacts again. After the undo, the second compaction copies the kept messages. */
async function compactedAfterUndo(): Promise<readonly Message[]> {
  const { messages } = await session.engine.compact(entries, { force: true, keepRecentTokens: 10 });
  return await compact((await session.engine.undo<Message>(messages)).messages);
}

async function compact(list: readonly Message[]): Promise<readonly Message[]> {
  const { messages } = await session.engine.compact(list, { force: true, keepRecentTokens: 10 });
  const copy = messages.find((message) => textsOf([message]).includes("five"));
  expect(copy).toMatchObject({ copyOf: expect.arrayContaining(["u4"]) });
  return messages;
}

describe("a host that edits a kept message that a compaction copied", () => {
  const wanted = ["one", "two", "three", "four", "edited"];

  it("an undo applies the host's edit of a copied message to the original, also in the resumed session", async () => {
    const kept = await compactedAfterUndo();
    expect(textsOf(kept)).toContain("five");
    const { messages } = await session.engine.before(edited(kept, "five", "edited"));
    const undone = await session.engine.undo(messages);
    expect(textsOf(undone.messages)).toEqual(wanted);
    expect(textsOf(await session.resumed())).toEqual(wanted);
  });

  it("an undo in another process applies the host's edit of a copied message to the original", async () => {
    await session.engine.before(edited(await compactedAfterUndo(), "five", "edited"));
    const conversation = await session.resumed();
    const undone = await session.engine.undo(conversation);
    expect(textsOf(undone.messages)).toEqual(wanted);
    expect(textsOf(await session.resumed())).toEqual(wanted);
  });

  it("an undo of the session file alone applies the host's edit of a copied message to the original", async () => {
    await session.engine.before(edited(await compactedAfterUndo(), "five", "edited"));
    await session.close();
    await writeUndo(undoSession(await loadSession(session.path)), { mode: "in-place" });
    const { conversation } = await resumeSession(session.path);
    await session.open();
    expect(textsOf(conversation)).toEqual(wanted);
  });

  it("an undo of two compactions applies the host's edit of a copied message to the original", async () => {
    const once = await compactedAfterUndo();
    const twice = await compact(once);
    expect(textsOf(twice)).toContain("five");
    const { messages } = await session.engine.before(edited(twice, "five", "edited"));
    const undone = await session.engine.undo((await session.engine.undo(messages)).messages);
    expect(textsOf(undone.messages)).toEqual(wanted);
    expect(textsOf(await session.resumed())).toEqual(wanted);
  });

  it("the host's edit of a message that an undo restored survives a redo", async () => {
    const undone = await session.engine.undo(await compactedAfterUndo());
    const redone = await session.engine.redo(edited(undone.messages, "five", "edited"));
    expect(textsOf(redone.messages)).toContain("edited");
    expect(textsOf(redone.messages)).not.toContain("five");
    expect(textsOf(await session.resumed())).toContain("edited");
  });
});

describe("a host that replaces a copied message with one that has a new id", () => {
  const replaced = (messages: readonly Message[], text = "five"): readonly Message[] =>
    edited(messages, text, "edited").map((message) =>
      textsOf([message]).includes("edited") ? ({ ...message, uuid: "renamed" } as Message) : message,
    );

  it("an undo gives the original the text of a message that replaced its copy under a new id", async () => {
    const { messages } = await session.engine.before(replaced(await compactedAfterUndo()));
    const undone = await session.engine.undo(messages);
    expect(textsOf(undone.messages)).toEqual(["one", "two", "three", "four", "edited"]);
    expect(textsOf(await session.resumed())).toEqual(textsOf(undone.messages));
  });

  it("an undo of two compactions gives the original the text of a message that replaced its second copy", async () => {
    const compacted = await session.engine.compact(entries, { force: true, keepRecentTokens: 10 });
    const { messages: restored } = await session.engine.undo(compacted.messages);
    const { messages: once } = await session.engine.compact(restored, { force: true, from: 1 });
    const { messages: twice } = await session.engine.compact(once, { force: true, from: once.length - 1 });
    const { messages } = await session.engine.before(replaced(twice, "one"));
    expect(textsOf(messages)).toContain("edited");
    const undone = await session.engine.undo((await session.engine.undo(messages)).messages);
    expect(textsOf(undone.messages)).toEqual(["edited", "two", "three", "four", "five"]);
    expect(textsOf(await session.resumed())).toEqual(textsOf(undone.messages));
  });

  it("an undo after a resume gives the original the text of a message that replaced its copy", async () => {
    await compactedAfterUndo();
    const conversation = await session.resumed();
    const undone = await session.engine.undo(replaced(conversation));
    expect(textsOf(undone.messages)).toEqual(["one", "two", "three", "four", "edited"]);
  });
});

describe("a host that resumes a session and edits a copied message before the first turn", () => {
  it("an undo as the first call after a resume applies the host's edit of a copied message to the original", async () => {
    await compactedAfterUndo();
    const conversation = await session.resumed();
    const undone = await session.engine.undo(edited(conversation, "five", "edited"));
    expect(textsOf(undone.messages)).toEqual(["one", "two", "three", "four", "edited"]);
  });
});

describe("a host that edits a message before the summary", () => {
  // A long text, so that the summary saves more than restored to-dos cost.
  const long = "three ".repeat(2_000).trim();
  const heads = (list: readonly Message[]): readonly string[] =>
    textsOf(list).map((text) => text.slice(0, 9));

  it.each([undefined, "renamed"])(
    "an undo removes the summary after the host edited a message before it (new id: %s)",
    async (uuid) => {
      const { messages: list } = await session.engine.compact(edited(entries, "three", long), {
        force: true,
      });
      const { messages } = await session.engine.compact((await session.engine.undo(list)).messages, {
        force: true,
        from: 2,
      });
      expect(heads(messages)).toEqual(["one", "two", "The messa", "<system-r"]);
      const changed = edited(messages, "one", "edited").map((message, at) =>
        at === 1 && uuid !== undefined ? { ...message, uuid } : message,
      );
      const undone = await session.engine.undo((await session.engine.before(changed)).messages);
      const wanted = ["edited", "two", long.slice(0, 9), "four", "five"];
      expect(heads(undone.messages)).toEqual(wanted);
      expect(heads(await session.resumed())).toEqual(wanted);
    },
  );
});
