import { join } from "node:path";
import { resumeSession } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { thinking } from "../../../../test/support/builders.ts";
import { type Compactor, createCompactor } from "../../../../test/support/full-compactor.ts";
import { openTranscript } from "../../../../test/support/open-transcript.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import type { Entry, RewindMark } from "../messages/entry.ts";
import type { ApiMessage } from "../messages/message.ts";
import { flatten } from "../request/flatten/flatten.ts";
import { prepareEditedLines } from "./edited-lines.ts";
import type { CompactorEvent } from "./events.ts";
import type { Message, TranscriptPort } from "./options.ts";

const folder = temporaryFolder();
let files = 0;

interface Session {
  readonly compactor: Compactor;
  readonly events: CompactorEvent[];
  readonly path: string;
}

/** Opens a session that knows the ids of its written lines, as a resumed session does. */
async function openSession(
  modelName = "claude-haiku-4-5",
  path = join(folder, `edited-${++files}.jsonl`),
  written = new Set<string | undefined>(),
): Promise<Session> {
  const writer = await openTranscript(path);
  const transcript: TranscriptPort = {
    path,
    append: async (entries) => {
      await writer.append(entries);
      for (const { uuid } of entries) written.add(uuid);
    },
    has: (uuid) => written.has(uuid),
    stepBack: (choice) => writer.stepBack(choice),
  };
  const events: CompactorEvent[] = [];
  const host = { onEvent: (event: CompactorEvent) => void events.push(event) };
  return {
    compactor: createCompactor({ model: modelName, settings: { environment: {} }, transcript, host }),
    events,
    path,
  };
}

const asked = (content: string): ApiMessage => ({ role: "user", content });
const said = (text: string): ApiMessage => ({
  role: "assistant",
  content: [thinking(`about ${text}`), { type: "text", text }],
});
const plain: readonly ApiMessage[] = [asked("one"), said("two"), asked("three"), said("four"), asked("five")];
const entries = plain.map((message, at): Entry => {
  const link = {
    uuid: `u${at}`,
    parentUuid: at === 0 ? null : `u${at - 1}`,
    timestamp: "2026-01-01T00:00:00Z",
  };
  return { ...link, type: message.role, message: { ...message, id: `m${at}` } } as unknown as Entry;
});
const edited = (message: Message, isRenamed: boolean): Message =>
  "role" in message
    ? asked("edited")
    : ({ ...message, ...(isRenamed ? { uuid: "renamed" } : {}), message: asked("edited") } as Message);
const textsOf = (messages: readonly ApiMessage[]): readonly string[] =>
  messages.flatMap(({ content }) =>
    typeof content === "string"
      ? [content]
      : content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );

const newMark = (): never => {
  throw new Error("No compaction was left.");
};

const CASES = [
  { form: "messages", list: plain, isRenamed: false },
  { form: "entries with the same id", list: entries, isRenamed: false },
  { form: "entries with a new id", list: entries, isRenamed: true },
] as const;

describe.each(CASES)("a host that replaces an earlier message and passes $form", ({ list, isRenamed }) => {
  const changed = (index: number): readonly Message[] =>
    (list as readonly Message[]).map((message, at) => (at === index ? edited(message, isRenamed) : message));

  it.each([0, 2])(
    "after the host replaces the message at index %i, the resumed session contains the new message",
    async (index) => {
      const { compactor, path } = await openSession();
      await compactor.before(list as readonly Message[]);
      const { request } = await compactor.before(changed(index));
      await compactor.close();
      const texts = textsOf(flatten((await resumeSession(path)).conversation));
      expect(texts).toEqual(plain.map((_, at) => (at === index ? "edited" : textsOf(plain)[at])));
      expect(texts).toEqual(textsOf(request.messages));
    },
  );

  it("sends the thinking before a replaced message, but not the thinking after it", async () => {
    const { compactor, events, path } = await openSession("claude-opus-5-5");
    await compactor.before(list as readonly Message[]);
    const { request } = await compactor.before(changed(2));
    const sent = JSON.stringify(request.messages);
    expect([sent.includes("about two"), sent.includes("about four")]).toEqual([true, false]);
    expect(events).toContainEqual(expect.objectContaining({ type: "thinking-left-out", blocks: 1 }));
    const again = await compactor.before(changed(2));
    expect(again.request.messages).toEqual(request.messages);
    await compactor.close();
    expect(JSON.stringify((await resumeSession(path)).conversation)).not.toContain("about four");
  });
});

describe("a host that resumes a session and then replaces a message under a new id", () => {
  it.each([true, false])(
    "a second resume returns the new message, not the replaced one (transcript knows the line ids: %s)",
    async (hasIds) => {
      const first = await openSession();
      await first.compactor.before(entries);
      await first.compactor.close();
      const { conversation } = await resumeSession(first.path);
      const changed = conversation.map((entry, at) => (at === 2 ? (edited(entry, true) as Entry) : entry));
      const written = new Set(hasIds ? entries.map(({ uuid }) => uuid) : []);
      const second = await openSession("claude-haiku-4-5", first.path, written);
      await second.compactor.before(changed);
      await second.compactor.close();
      const texts = textsOf(flatten((await resumeSession(first.path)).conversation));
      expect(texts).toEqual(["one", "two", "edited", "four", "five"]);
    },
  );

  it("rewrites no line of a session if the host changed no message", async () => {
    const torn = entries.map(
      (entry, at) => (at === 3 ? { ...entry, parentUuid: "progress" } : entry) as Entry,
    );
    const edit = {
      before: [],
      fresh: new Set<Entry>(),
      bindsThinking: true,
      known: new Set<string>(),
      newMark,
    };
    const lines = prepareEditedLines({ ...edit, given: torn, isWritten: () => true });
    expect(lines).toEqual({ entries: torn, rewrittenLines: new Map(), thinkingBlocks: 0 });
  });
});

describe("a message that the host replaces under a new id in a resumed, compacted session", () => {
  it.each([
    { replaced: "four", upTo: 3 },
    { replaced: "five", upTo: 3 },
    { replaced: "five", upTo: 4 },
    { replaced: "seven", upTo: 3 },
  ])(
    'after a compaction up to $upTo, a second resume returns the new message in place of "$replaced"',
    async ({ replaced, upTo }) => {
      const first = await openSession();
      await first.compactor.before(plain);
      await first.compactor.compact(plain, { force: true, upTo });
      const more = [...plain, said("six"), asked("seven"), said("eight"), asked("nine")];
      await first.compactor.before(more);
      await first.compactor.close();
      const { conversation } = await resumeSession(first.path);
      const changed = conversation.map((entry) =>
        "message" in entry && textsOf([entry.message as ApiMessage]).includes(replaced)
          ? (edited(entry, true) as Entry)
          : entry,
      );
      const written = new Set(conversation.map(({ uuid }) => uuid));
      const second = await openSession("claude-haiku-4-5", first.path, written);
      await second.compactor.before(changed);
      await second.compactor.close();
      const [summary, ...texts] = textsOf(flatten((await resumeSession(first.path)).conversation));
      expect(summary).toContain("Summary:");
      const kept = textsOf(more).slice(upTo);
      expect(texts).toEqual(kept.map((text) => (text === replaced ? "edited" : text)));
    },
  );
});

describe("a kept message that the host replaces under a new id after a compaction", () => {
  it.each([
    { replaced: 3, upTo: 3 },
    { replaced: 4, upTo: 3 },
    { replaced: 4, upTo: 4 },
  ])(
    "after a compaction up to $upTo, a resume returns the new message in place of message $replaced",
    async ({ replaced, upTo }) => {
      const { compactor, path } = await openSession();
      await compactor.before(entries);
      const { messages } = await compactor.compact(entries, { force: true, upTo });
      const changed = messages.map((message) =>
        "uuid" in message && message.uuid === `u${replaced}` ? edited(message, true) : message,
      );
      const { request } = await compactor.before(changed);
      await compactor.close();
      const [, ...texts] = textsOf(flatten((await resumeSession(path)).conversation));
      expect(texts).toEqual(textsOf(request.messages).slice(1));
      expect(texts).toHaveLength(plain.length - upTo);
      expect(texts).toContain("edited");
    },
  );
});

describe("a host that copies all its messages and replaces the first one", () => {
  it("after the host replaces its first message, no thinking is sent and a resume returns each message once", async () => {
    const { compactor, path } = await openSession("claude-opus-5-5");
    await compactor.before(plain);
    const { request } = await compactor.before([asked("edited"), ...structuredClone(plain.slice(1))]);
    expect(JSON.stringify(request.messages)).not.toContain("about");
    await compactor.close();
    const texts = textsOf(flatten((await resumeSession(path)).conversation));
    expect(texts).toEqual(["edited", "two", "three", "four", "five"]);
  });
});

describe("a host that removes a message that compactions have summarized", () => {
  it.each(["claude-haiku-4-5", "claude-mythos-5-2"])(
    "after the host removes a summarized message, a resume returns the host's list without a summary, with %s",
    async (model) => {
      const { compactor, path } = await openSession(model);
      const own: ApiMessage[] = [];
      for (const name of ["a", "b"]) {
        own.push(asked(`question ${name}`), said(`answer ${name}`), asked(`thanks ${name}`));
        await compactor.before([...own]);
        await compactor.compact([...own], { force: true, keepRecentTokens: 10 });
        own.push(said(`welcome ${name}`));
      }
      const changed = [...own.slice(0, 1), ...own.slice(2, 5), said("other"), asked("more")];
      const { request } = await compactor.before(changed);
      expect(textsOf(request.messages)).toEqual(textsOf(changed));
      await compactor.close();
      expect(textsOf(flatten((await resumeSession(path)).conversation))).toEqual(textsOf(changed));
    },
  );
});

describe("a host that replaces its only message under a new id before it passes the reply", () => {
  it("a resume returns the new message if the host replaces its only message before it passes the reply", async () => {
    const { compactor, path } = await openSession();
    await compactor.before(entries.slice(0, 1));
    await compactor.before(entries.map((entry, at) => (at === 0 ? edited(entry, true) : entry)));
    await compactor.close();
    const texts = textsOf(flatten((await resumeSession(path)).conversation));
    expect(texts).toEqual(["edited", "two", "three", "four", "five"]);
  });
});

describe("a host that replaces a message of its own list after the undo of a compaction", () => {
  it("a resume returns the list as the host edited it after an undo", async () => {
    const { compactor, path } = await openSession();
    await compactor.before(plain);
    await compactor.compact(plain, { force: true, keepRecentTokens: 10 });
    const more = [...plain, said("six"), asked("seven")];
    await compactor.before(more);
    await compactor.undo(more);
    const changed = more.map((message, at) => (at === 2 ? asked("edited") : message));
    await expect(compactor.undo(changed)).rejects.toMatchObject({ code: "nothing-to-undo" });
    await compactor.close();
    expect(textsOf(flatten((await resumeSession(path)).conversation))).toEqual(textsOf(changed));
  });
});

describe("a host that replaces a message in an older list, not in the list that it passed last", () => {
  it("after the host edits and passes an older message list, a resume returns the messages of the new request", async () => {
    const { compactor, path } = await openSession();
    await compactor.before(entries.slice(0, 3));
    const { messages } = await compactor.compact(entries.slice(0, 3), { force: true, keepRecentTokens: 0 });
    await compactor.before([...messages, ...entries.slice(3)]);
    const reply = { ...entries[3], uuid: "u5", parentUuid: "u4", message: said("six") } as unknown as Entry;
    const own = [...entries.map((entry, at) => (at === 4 ? edited(entry, true) : entry)), reply];
    const { request } = await compactor.before(own);
    expect(textsOf(request.messages)).toContain("edited");
    await compactor.close();
    const texts = textsOf(flatten((await resumeSession(path)).conversation));
    expect(texts).toEqual(textsOf(request.messages));
  });
});

describe("a host that removes an earlier message", () => {
  it("the resumed session lacks a message that the host removed", async () => {
    const { compactor, path } = await openSession();
    await compactor.before(plain);
    await compactor.before(plain.filter((_, at) => at !== 1 && at !== 2));
    await compactor.close();
    expect(textsOf(flatten((await resumeSession(path)).conversation))).toEqual(["one", "four", "five"]);
  });
});

describe("a host that changes a message in place", () => {
  it("a message that the host changes in place is sent and resumed with the new content", async () => {
    for (const form of ["messages", "entries"]) {
      const own = structuredClone(form === "messages" ? plain : entries) as readonly Message[];
      const { compactor, path } = await openSession();
      await compactor.before(own);
      const body = (form === "messages" ? own[2] : (own[2] as { message: unknown }).message) as {
        content: string;
      };
      body.content += " and more";
      const { request, messages } = await compactor.before(own);
      expect(messages).toBe(own);
      expect(textsOf(request.messages)).toContain("three and more");
      await compactor.close();
      expect(textsOf(flatten((await resumeSession(path)).conversation))).toEqual(textsOf(request.messages));
    }
  });
});

describe("prepareEditedLines", () => {
  const edit = (given: readonly Entry[]) =>
    prepareEditedLines({
      before: entries,
      given,
      fresh: new Set(),
      bindsThinking: true,
      newMark,
      known: new Set(["known", ...entries.map(({ uuid }) => uuid ?? "")]),
    });

  it("leaves all lines unchanged if they belong to another session or contain a new rewind mark", () => {
    const other = entries.map((entry, at) => {
      const parentUuid = at === 0 ? null : `other-u${at - 1}`;
      return { ...entry, uuid: `other-${entry.uuid}`, parentUuid } as Entry;
    });
    const mark = { type: "system", subtype: "longhaul_rewind", uuid: "mark", rewind: { before: "u2" } };
    for (const given of [other, [...entries.slice(1), mark as unknown as Entry]])
      expect(edit(given)).toEqual({ entries: given, rewrittenLines: new Map(), thinkingBlocks: 0 });
  });

  it("after the host replaces a message that follows a known boundary, links each line to the line before it", () => {
    const boundary = { type: "system", subtype: "compact_boundary", compactMetadata: {} };
    const mark = { ...boundary, uuid: "known", parentUuid: null, content: "" } as unknown as Entry;
    const replaced = { ...entries[1], uuid: "renamed", parentUuid: "known" } as Entry;
    const given = [mark, replaced, ...entries.slice(2)];
    const parents = edit(given).entries.map(({ parentUuid }) => parentUuid);
    expect(parents).toEqual([null, "known", "renamed", "u2", "u3"]);
  });

  it.each([
    { type: "system", subtype: "compact_boundary", content: "", compactMetadata: {} },
    { type: "user", isCompactSummary: true, message: asked("summary") },
  ])(
    "links lines to a rewind mark if the host returns to an older compaction and drops the newest one: %o",
    (top) => {
      const preservedMessages = { anchorUuid: "known", uuids: ["u3", "u4"] };
      const boundary = { type: "system", subtype: "compact_boundary", parentUuid: null, content: "" };
      const kept = { ...boundary, uuid: "known", compactMetadata: { preservedMessages } } as unknown as Entry;
      const left = { ...top, uuid: "left", parentUuid: null } as unknown as Entry;
      const mark = { type: "system", subtype: "longhaul_rewind", uuid: "mark", parentUuid: "known" };
      const edited = prepareEditedLines({
        before: [left, ...entries.slice(0, 2)],
        given: [kept, ...entries.slice(3)],
        fresh: new Set(),
        bindsThinking: false,
        newMark: () => mark as unknown as RewindMark,
        known: new Set(["known", "left", ...entries.map(({ uuid }) => uuid ?? "")]),
      });
      expect(edited.mark).toBe(mark);
      expect(edited.entries.map(({ parentUuid }) => parentUuid)).toEqual([null, "mark", "u3"]);
      expect(edited.entries[0]).not.toHaveProperty("compactMetadata.preservedMessages");
    },
  );

  it("links a line to the message that the host inserts before that line", () => {
    const added = { ...entries[0], uuid: "new", parentUuid: "u1" } as Entry;
    const given = [...entries.slice(0, 2), added, ...entries.slice(2)];
    const { entries: linked, rewrittenLines: again } = edit(given);
    expect(linked.map(({ parentUuid }) => parentUuid)).toEqual([null, "u0", "u1", "new", "u2", "u3"]);
    expect([...again.keys()].map(({ uuid }) => uuid)).toEqual(["u2", "u3", "u4"]);
  });

  it("after the host replaces a line that the engine had relinked, links each line to the line before it", () => {
    const between = { ...entries[0], uuid: "known", parentUuid: "u1" } as Entry;
    const { entries: before } = edit([...entries.slice(0, 2), between, ...entries.slice(2)]);
    const replaced = { ...entries[2], uuid: "renamed" } as Entry;
    const given = [...entries.slice(0, 2), between, replaced, ...entries.slice(3)];
    const known = new Set(before.map(({ uuid }) => uuid ?? ""));
    const lines = prepareEditedLines({
      before,
      given,
      fresh: new Set(),
      bindsThinking: false,
      newMark,
      known,
    });
    const parents = lines.entries.map(({ parentUuid }) => parentUuid);
    expect(parents).toEqual([null, "u0", "u1", "known", "renamed", "u3"]);
  });

  it("keeps the links that the engine changed if the host passes lines with their original links", () => {
    const between = { ...entries[0], uuid: "new", parentUuid: "u1" } as Entry;
    const own = [...entries.slice(0, 2), between, ...entries.slice(2)];
    const { entries: before } = edit(own);
    const given = own.map((entry) => (entry.uuid === "u4" ? (edited(entry, false) as Entry) : entry));
    const known = new Set(before.map(({ uuid }) => uuid ?? ""));
    const lines = prepareEditedLines({
      before,
      given,
      fresh: new Set(),
      bindsThinking: false,
      newMark,
      known,
    });
    expect(lines.entries.map(({ parentUuid }) => parentUuid)).toEqual([null, "u0", "u1", "new", "u2", "u3"]);
  });

  it("rewrites no line if the host only removes messages from the end", () => {
    expect(edit(entries.slice(0, 3)).rewrittenLines.size).toBe(0);
  });
});
