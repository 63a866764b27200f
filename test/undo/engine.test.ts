import { join } from "node:path";
import type { ApiMessage, CompactorEvent, Entry, TranscriptPort } from "@longhaul/core";
import { withClearedResults } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { loadSession, openTranscript, resumeSession, type TranscriptWriter } from "@longhaul/sessions";
import { beforeEach, describe, expect, it } from "vitest";
import { collapsedUuids, isCollapsedSpan } from "../../packages/core/src/messages/stand-ins.ts";
import { type Compactor, type CompactorOptions, createCompactor } from "../support/full-compactor.ts";
import { codeOf } from "../support/long-session.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const folder = temporaryFolder();
let files = 0;
let path: string;
let events: CompactorEvent[];
beforeEach(() => {
  path = join(folder, `session-${++files}.jsonl`);
  events = [];
});

const open = (): Promise<TranscriptWriter> =>
  openTranscript(path, { lock: async () => async () => undefined });

function compactor(transcript: TranscriptPort | undefined, more: CompactorOptions = {}): Compactor {
  const host = { onEvent: (event: CompactorEvent) => void events.push(event) };
  return createCompactor({
    transcript,
    host,
    clearing: { form: "off" },
    ...more,
    settings: { environment: {}, ...more.settings },
    window: { tokens: 12_000, ...more.window },
  });
}

/** Builds rounds of about 220 tokens each. */
const rounds = (count: number, name = "round"): readonly ApiMessage[] =>
  Array.from({ length: count }, (_, nth): readonly ApiMessage[] => [
    { role: "assistant", content: [{ type: "text", text: `${name} ${nth} ${"word ".repeat(200)}` }] },
    { role: "user", content: `and then ${name} ${nth}` },
  ]).flat();

const task = (count: number): readonly ApiMessage[] => [
  { role: "user", content: "the task" },
  ...rounds(count),
];

const typesOf = (): readonly string[] => events.map(({ type }) => type);

describe("undo in an agent loop", () => {
  it("an undo restores automatically compacted messages, and the next turns do not compact them again", async () => {
    const transcript = await open();
    const engine = compactor(transcript);
    // Adds rounds until the conversation is just over the threshold, so that one turn compacts.
    let given = task(10);
    let turn = await engine.before(given);
    while (turn.compaction === undefined) {
      given = [...turn.messages, ...rounds(1, `more${given.length}`)];
      turn = await engine.before(given);
    }
    const undone = await engine.undo(turn.messages);
    expect(JSON.stringify(undone.messages)).toBe(JSON.stringify(given));
    const next = await engine.before([...undone.messages, ...rounds(1, "next")]);
    expect([next.compaction, next.skipped]).toEqual([undefined, "just-undone"]);
    const manual = await engine.compact(next.messages);
    expect(manual.compaction).toBeDefined();
    await engine.close();
    await transcript.close();
  });

  it("the engine compacts again after an undo once enough messages arrived or the window is full", async () => {
    const transcript = await open();
    const engine = compactor(transcript);
    const { messages } = await engine.compact(task(12));
    let turn = await engine.undo(messages);
    let isCompacted = false;
    for (let nth = 0; nth < 40 && !isCompacted; nth++) {
      turn = await engine.before([...turn.messages, ...rounds(1, `later${nth}`)]);
      isCompacted = turn.compaction !== undefined;
      if (turn.skipped === "just-undone") expect(turn.window.isAtBlockingLimit).toBe(false);
    }
    expect(isCompacted).toBe(true);
    await transcript.close();
  });

  it("a process undoes the compactions of an earlier process", async () => {
    const first = await open();
    const engine = compactor(first);
    const before = await engine.before(task(12));
    const compacted = await engine.compact(before.messages);
    const more = await engine.before([...compacted.messages, ...rounds(2, "since")]);
    await engine.close();
    await first.close();

    const { conversation, clearedToolUseIds } = await resumeSession(path);
    const resumed = withClearedResults(conversation, clearedToolUseIds);
    const known = new Set(resumed.map(({ uuid }) => uuid));
    const second = await open();
    const later = compactor({
      path,
      append: (entries) => second.append(entries),
      stepBack: (choice) => second.stepBack(choice),
      has: (uuid) => known.has(uuid),
    });
    const undone = await later.undo<Entry>(resumed);
    const sent = JSON.stringify(undone.request.messages);
    expect(sent.startsWith(JSON.stringify(flatten(await wrapped(before.messages))).slice(0, -1))).toBe(true);
    expect(sent).toContain("since 1");
    const redone = await later.redo<Entry>(undone.messages);
    expect(JSON.stringify(redone.request.messages)).toBe(JSON.stringify(flatten(resumed)));
    expect(more.messages.length).toBeLessThan(before.messages.length + 4);
    await later.close();
    await second.close();
  });

  it("the event of an undo states how many messages were restored and how many newer ones stayed", async () => {
    const transcript = await open();
    const engine = compactor(transcript);
    const { messages } = await engine.compact(task(12));
    await engine.undo([...messages, ...rounds(1, "since")]);
    expect(events.at(-1)).toMatchObject({
      type: "undone",
      direction: "undo",
      step: "compaction",
      messagesRestored: 25,
      messagesCarried: 2,
    });
    await transcript.close();
  });

  it("the engine collapses all other spans before it again collapses spans that an undo expanded", async () => {
    const transcript = await open();
    const engine = compactor(transcript, { collapse: { summarizer: "built-in" } });
    const workUntilCommitted = async (given: readonly ApiMessage[], name: string) => {
      const { length } = events.filter(({ type }) => type === "spans-committed");
      let turn = await engine.before(given);
      for (let nth = 0; events.filter(({ type }) => type === "spans-committed").length === length; nth++) {
        engine.after({});
        await new Promise((resolve) => setImmediate(resolve));
        turn = await engine.before([...turn.messages, ...rounds(1, `${name}${nth}`)]);
      }
      return turn.messages;
    };
    const spansIn = async (): Promise<readonly (readonly string[])[]> =>
      (await loadSession(path)).conversation.filter(isCollapsedSpan).map(collapsedUuids);
    const messages = await workUntilCommitted(task(8), "more");
    const undone = await spansIn();
    expect(undone.length).toBeGreaterThan(1);
    const back = await engine.undo([...messages, ...rounds(4, "since")]);
    await workUntilCommitted(back.messages, "later");
    const others = (await spansIn()).filter((uuids) => !uuids.some((uuid) => undone.flat().includes(uuid)));
    // The engine first collapses everything new except the newest round. After that it collapses only as much
    // as needed.
    expect(others.length).toBe(2);
    await engine.close();
    await transcript.close();
  });

  it("undo and redo fail with a remedy without a transcript or without a step to undo or redo", async () => {
    const without = compactor(undefined);
    const { messages } = await without.compact(task(12));
    await expect(without.undo(messages)).rejects.toMatchObject({
      code: "transcript-required",
      message: expect.stringContaining("stepBack"),
    });
    const transcript = await open();
    const engine = compactor(transcript);
    const turn = await engine.before(task(3));
    expect(await codeOf(() => engine.undo(turn.messages))).toBe("nothing-to-undo");
    expect(await codeOf(() => engine.redo(turn.messages))).toBe("nothing-to-redo");
    await transcript.close();
  });

  it("an undo changes nothing when the transcript cannot be written or the undo is aborted", async () => {
    const file = await open();
    let isBroken = false;
    const transcript: TranscriptPort = {
      path,
      append: (entries) => (isBroken ? Promise.reject(new Error("disk full")) : file.append(entries)),
      stepBack: (choice) => file.stepBack(choice),
    };
    const engine = compactor(transcript);
    const { messages, tokens } = await engine.compact(task(12));
    isBroken = true;
    expect(await codeOf(() => engine.undo(messages))).toBe("transcript-not-written");
    isBroken = false;
    expect(await codeOf(() => engine.undo(messages, { signal: AbortSignal.abort() }))).toBe("model-aborted");
    const after = await engine.before(messages);
    expect([after.messages, after.tokens]).toEqual([messages, tokens]);
    expect(typesOf()).not.toContain("undone");
    await engine.undo(messages);
    expect(typesOf()).toContain("undone");
    await file.close();
  });

  it.each(["undo", "redo"] as const)(
    "the engine throws a typed error when %s cannot read the transcript",
    async (step) => {
      const file = await open();
      const cause = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      const transcript: TranscriptPort = {
        path,
        append: (entries) => file.append(entries),
        stepBack: () => Promise.reject(cause),
      };
      const engine = compactor(transcript);
      const { messages, tokens } = await engine.compact(task(12));
      await expect(engine[step](messages)).rejects.toMatchObject({ code: "transcript-unreadable", cause });
      const after = await engine.before(messages);
      expect([after.messages, after.tokens]).toEqual([messages, tokens]);
      await file.close();
    },
  );

  it("an undo restores a system message between other messages unchanged", async () => {
    const transcript = await open();
    const engine = compactor(transcript);
    const given: readonly ApiMessage[] = [
      ...task(6),
      { role: "system", content: "mind the gap" } as ApiMessage,
      ...rounds(6, "after it"),
    ];
    const { messages } = await engine.compact(given);
    const undone = await engine.undo(messages);
    expect(JSON.stringify(undone.messages)).toBe(JSON.stringify(given));
    await transcript.close();
  });
});

/** Converts plain messages to entries, so that they can be flattened like those of a session. */
async function wrapped(messages: readonly ApiMessage[]): Promise<readonly Entry[]> {
  return messages.map(
    (message, nth) =>
      ({ type: message.role, uuid: `w${nth}`, parentUuid: null, timestamp: "", message }) as unknown as Entry,
  );
}
