import { appendFileSync } from "node:fs";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { countingPorts, longSession } from "../../../../test/support/long-session.ts";
import { describeRecorded, realSessionPath } from "../../../../test/support/real-sessions.ts";
import { sessionWriter } from "../../../../test/transcript/written-session.ts";
import { rawContent } from "../../../core/src/messages/entry.ts";
import { contentText } from "../../../core/src/messages/untrusted.ts";
import { linesOf as collapseLines, commitSpans } from "../../../core/src/modules/collapse/commit.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { linesOf } from "../transcript/whole-file.ts";
import { clearSession, writeClearing } from "./clear-session.ts";
import { compactSession, writeCompaction } from "./compact-session.ts";
import { historySegmentsOf, messagesOfSpan, type SessionHistory, sessionHistory } from "./session-history.ts";

const write = sessionWriter();

async function append(session: Session, entries: readonly Entry[]): Promise<Session> {
  appendFileSync(session.path, linesOf(entries));
  return loadSession(session.path);
}

/** Returns the texts in order, without repetitions. */
function said({ entries, isRepeated }: SessionHistory): readonly string[] {
  return entries.flatMap((entry) => {
    if (isRepeated(entry) || (entry.type !== "user" && entry.type !== "assistant")) return [];
    const text = contentText(rawContent(entry));
    return text === "" ? [] : [text];
  });
}

const texts = (entries: readonly Entry[]): readonly string[] =>
  said({ entries, isRepeated: () => false, placeOf: () => undefined });

/** Returns more work of the same agent, to append below the last line of the session. */
function more(session: Session, name: string): readonly Entry[] {
  const c = new ConversationBuilder(name);
  c.user(`question ${name}`);
  c.tool(`tool-${name}`, "Read", { file_path: `/project/${name}.ts` }, `text of ${name}\n`.repeat(300));
  c.assistant(`answer ${name}`);
  const [first, ...rest] = c.entries;
  return [{ ...first, parentUuid: session.leafUuid ?? null } as Entry, ...rest];
}

describe("sessionHistory", () => {
  it("the history spans all compactions, contains each message once, and leaves out summaries", async () => {
    const c = new ConversationBuilder();
    c.user("one");
    c.assistant("two");
    c.boundary();
    c.summary("a summary of one and two");
    c.user("three");
    c.assistant("four");
    c.boundary();
    c.summary("a summary of all");
    c.user("five");
    const history = sessionHistory(await write(c.entries));
    expect(said(history)).toEqual(["one", "two", "three", "four", "five"]);
  });

  it("the history of a session begins with the summary when the file has no earlier messages", async () => {
    const c = new ConversationBuilder();
    c.boundary();
    c.summary("what came before");
    c.user("next");
    expect(said(sessionHistory(await write(c.entries)))).toEqual(["what came before", "next"]);
  });

  it("the history does not repeat messages that a compaction or a clearing rewrote", async () => {
    const operations = fc.array(fc.constantFrom("compact", "clear", "work"), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(operations, fc.constantFrom("2.1.20", "2.1.217"), async (steps, version) => {
        const start = longSession(8).entries.map((entry) => ({ ...entry, version }) as Entry);
        let session = await write(start);
        const expected = [...texts(session.conversation)];
        for (const [at, step] of ["work", ...steps].entries()) {
          if (step === "compact") {
            const options = { keepRecentTokens: 3_000, restoreFiles: false };
            const compaction = await compactSession(session, options).catch(() => undefined);
            if (compaction !== undefined) await writeCompaction(compaction, { mode: "in-place" });
          } else if (step === "clear") {
            const clearing = orUndefined(() => clearSession(session, { keepNewest: 1 }));
            if (clearing !== undefined) await writeClearing(clearing, { mode: "in-place" });
          } else {
            const added = more(session, `m${at}`).map((entry) => ({ ...entry, version }) as Entry);
            session = await append(session, added);
            expected.push(...texts(added));
          }
          session = await loadSession(session.path);
          expect(said(sessionHistory(session))).toEqual(expected);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("the history contains the messages of a collapsed span instead of the text that replaces them", async () => {
    const session = await write(longSession(6).entries);
    const expected = said(sessionHistory(session));
    const uuids = session.conversation.slice(0, 8).map(({ uuid }) => uuid ?? "");
    const staged = [{ spanId: "span-1", uuids, messages: 8, text: "[eight messages]" }];
    const options = { ports: countingPorts(), tokensOf: () => 10, leafUuid: session.leafUuid };
    const collapsed = await append(
      session,
      collapseLines(commitSpans(session.conversation, staged, options)),
    );
    expect(texts(collapsed.conversation)).toContain("[eight messages]");
    const history = sessionHistory(collapsed);
    expect(said(history)).toEqual(expected);
    expect(history.placeOf(uuids[3] ?? "")).toBe(3);
    const span = collapsed.conversation[0]?.uuid ?? "";
    expect(history.placeOf(span)).toBe(7);
  });

  it("building the history ends even if collapsed spans refer to each other in a loop", async () => {
    const c = new ConversationBuilder();
    const first = c.user("the only message");
    for (let depth = 1; depth <= 60; depth++) {
      const inside = c.entries.at(-1)?.uuid ?? "";
      const collapsed = {
        spanId: `span-${depth}`,
        messages: 1,
        isSettled: true,
        uuids: [inside, inside, `span-${61 - depth}`],
      };
      c.push({ ...first, uuid: `span-${depth}`, parentUuid: inside, collapsed } as Entry);
    }
    const session = await write(c.entries);
    const [newest = first] = session.entries.slice(-1);
    expect(newest.uuid).toBe("span-60");
    expect(messagesOfSpan(newest, session)).toEqual([first]);
    expect(sessionHistory(session).entries).toContainEqual(first);
  });
});

describe("the position of a message in the history", () => {
  it("finds the position of a message in the history, even if the message is before a compaction", async () => {
    const c = new ConversationBuilder();
    const old = c.user("old");
    c.boundary();
    c.summary("summary");
    const now = c.user("now");
    const history = sessionHistory(await write(c.entries));
    expect(history.entries[history.placeOf(old.uuid) ?? -1]).toEqual(old);
    expect(history.entries[history.placeOf(now.uuid) ?? -1]).toEqual(now);
    expect(history.placeOf("nobody's")).toBeUndefined();
  });

  it("maps a message of an abandoned branch to the position where the branch began", async () => {
    const c = new ConversationBuilder();
    const asked = c.user("asked");
    c.assistant("first answer");
    const left = c.user("and on");
    c.push({ ...c.user("asked otherwise"), uuid: "other", parentUuid: asked.uuid });
    c.entries.splice(-2, 1);
    const history = sessionHistory(await write(c.entries));
    expect(said(history)).toEqual(["asked", "asked otherwise"]);
    expect(history.placeOf(left.uuid)).toBe(0);
  });
});

describeRecorded("the history of recorded sessions", () => {
  it("the history contains every message of a recorded file once", async () => {
    const session = await loadSession(realSessionPath("entireio-cli__70d782f7.jsonl"));
    const history = sessionHistory(session);
    const isMessage = ({ type }: Entry): boolean => type === "user" || type === "assistant";
    expect(history.entries.filter(isMessage)).toHaveLength(session.entries.filter(isMessage).length);
    expect(history.entries.filter(history.isRepeated)).toHaveLength(4);
  });
});

function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

describe("historySegmentsOf", () => {
  /**
   * Splits a session with this many compactions into segments. Returns the number of lines that are read for
   * this.
   */
  async function countReads(compactions: number, keeps: boolean): Promise<number> {
    const c = new ConversationBuilder();
    for (let nth = 0; nth < compactions; nth++) {
      for (let line = 0; line < 5; line++) c.tool(`t${nth}-${line}`, "Read", {}, "text");
      const { uuid } = c.assistant(`answer ${nth}`);
      const segment = { headUuid: uuid, tailUuid: uuid, anchorUuid: `e-${c.entries.length + 2}` };
      c.boundary(keeps ? { preservedSegment: segment } : {});
      c.summary(`summary ${nth}`);
    }
    c.user("the next task");
    const session = await write(c.entries);
    let count = 0;
    const entries = new Proxy(session.entries, {
      get: (target, key, receiver) => {
        count++;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    expect(historySegmentsOf({ ...session, entries })).toHaveLength(compactions + 1);
    return count;
  }

  it.each([false, true])(
    "splitting a session at its compactions takes linear, not quadratic, time (kept messages: %s)",
    async (keeps) => {
      const [few, many] = [await countReads(40, keeps), await countReads(160, keeps)];
      expect(many / few).toBeLessThan(4.5);
    },
  );
});
