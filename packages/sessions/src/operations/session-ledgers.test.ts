import type { Entry, Ledger } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { describeRecorded, realSessionPath } from "../../../../test/support/real-sessions.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { countFates, isInContext } from "../../../core/src/messages/fact-ledger.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { sessionLedgers } from "./session-ledgers.ts";

const folder = temporaryFolder();
let count = 0;

async function sessionOf(entries: readonly Entry[]): Promise<Session> {
  const path = `${folder}/session-${++count}.jsonl`;
  await writeNewSession(path, entries);
  return loadSession(path);
}

const KNOWN: Ledger = {
  facts: [
    { id: "d1", kind: "directive", text: "Never push.", status: "active", entryIds: ["e-1"], fate: "quoted" },
  ],
  summarized: { messages: 2, tokens: 30, from: "e-1", to: "e-2" },
  kept: { messages: 0, tokens: 0 },
  restored: [],
  skipped: [],
  quotedTokens: 9,
};

/** Adds work, and the compaction of this work by another agent. The summary omits one of the two files. */
function workCompacted(c: ConversationBuilder): void {
  c.user("Never use tabs in this project.");
  c.tool("t1", "Edit", { file_path: "/project/src/tide.ts", old_string: "a", new_string: "b" }, "edited");
  c.tool("t2", "Edit", { file_path: "/project/src/moon.ts", old_string: "a", new_string: "b" }, "edited");
  c.assistant("Both are changed.");
  c.boundary();
  c.user("The user said: Never use tabs in this project. src/tide.ts was changed.", {
    isCompactSummary: true,
  });
}

const fateOf = (ledger: Ledger | undefined, word: string): string | undefined =>
  ledger?.facts.find(({ text }) => text.includes(word))?.fate;

describe("sessionLedgers", () => {
  it("reads the ledgers that the boundaries of a session contain", async () => {
    const c = new ConversationBuilder();
    c.user("Never push.");
    c.assistant("I will not.");
    const boundary = c.boundary({ longhaul: { overheadTokens: 0, tokenRatio: 1, ledger: KNOWN } });
    c.user("A summary.", { isCompactSummary: true });
    const [only, ...others] = sessionLedgers(await sessionOf(c.entries));
    expect(others).toEqual([]);
    expect(only).toMatchObject({ source: "file", ledger: KNOWN, isCurrent: true, isInChain: true });
    expect(only?.boundary.uuid).toBe(boundary.uuid);
  });

  it("computes a missing ledger, and marks facts that the summary omits as recoverable", async () => {
    const c = new ConversationBuilder();
    workCompacted(c);
    const session = await sessionOf(c.entries);
    const [only] = sessionLedgers(session);
    expect(only).toMatchObject({ source: "computed", isCurrent: true });
    expect(fateOf(only?.ledger, "Never use tabs")).toBe("summary");
    expect(fateOf(only?.ledger, "tide.ts")).toBe("summary");
    expect(fateOf(only?.ledger, "moon.ts")).toBe("recoverable");
    const uuids = new Set(session.entries.map(({ uuid }) => uuid));
    const moon = only?.ledger?.facts.find(({ text }) => text.includes("moon.ts"));
    expect(moon?.entryIds.length).toBeGreaterThan(0);
    expect(moon?.entryIds.every((id) => uuids.has(id))).toBe(true);
  });

  it("counts attachments right after a compaction as restored, but not later ones", async () => {
    const c = new ConversationBuilder();
    workCompacted(c);
    c.attachment({
      type: "file",
      filename: "/project/src/moon.ts",
      displayPath: "src/moon.ts",
      content: { type: "text", file: { content: "new moon" } },
    });
    c.user("Now the sun.");
    c.attachment({
      type: "file",
      filename: "/project/src/sun.ts",
      displayPath: "src/sun.ts",
      content: { type: "text", file: { content: "" } },
    });
    c.assistant("Yes.");
    const [only] = sessionLedgers(await sessionOf(c.entries));
    expect(only?.ledger?.restored.map(({ kind, name }) => [kind, name])).toEqual([["files", "src/moon.ts"]]);
    expect(fateOf(only?.ledger, "moon.ts")).toBe("restored");
  });

  it("carries facts over from compactions that wrote no ledger", async () => {
    const c = new ConversationBuilder();
    workCompacted(c);
    c.user("Go on with the sun.");
    c.assistant("It shines.");
    c.boundary();
    c.user("A summary that forgot everything.", { isCompactSummary: true });
    const [newest, oldest] = sessionLedgers(await sessionOf(c.entries));
    expect([newest?.isCurrent, oldest?.isCurrent]).toEqual([true, false]);
    expect(fateOf(oldest?.ledger, "Never use tabs")).toBe("summary");
    expect(fateOf(newest?.ledger, "Never use tabs")).toBe("recoverable");
    expect(newest?.ledger?.facts.find(({ text }) => text.includes("tide.ts"))?.id).toBe(
      oldest?.ledger?.facts.find(({ text }) => text.includes("tide.ts"))?.id,
    );
  });

  it("if a compaction kept an earlier summary, counts that summary as kept, not as the new summary", async () => {
    const c = new ConversationBuilder();
    workCompacted(c);
    const from = c.entries.length - 1;
    c.user("Go on with the sun.");
    c.assistant("It shines.");
    const uuids = c.entries.slice(from).map(({ uuid }) => uuid ?? "");
    c.user("Now the stars.");
    c.assistant("They shine too.");
    const next = c.boundary();
    const compactMetadata = {
      ...next.compactMetadata,
      preservedMessages: { anchorUuid: next.uuid, uuids, allUuids: uuids },
    };
    c.entries[c.entries.length - 1] = { ...next, compactMetadata };
    c.user("A summary of the stars.", { isCompactSummary: true });
    const [newest] = sessionLedgers(await sessionOf(c.entries));
    // The kept summary and the user's text after it count as one message. The answer is the second message.
    expect(newest?.ledger?.kept.messages).toBe(2);
    expect(fateOf(newest?.ledger, "Never use tabs")).toBe("kept");
    expect(fateOf(newest?.ledger, "tide.ts")).toBe("kept");
  });

  it("returns no ledger for a boundary that has no messages before it", async () => {
    const c = new ConversationBuilder();
    c.boundary();
    c.user("A summary.", { isCompactSummary: true });
    c.assistant("Going on.");
    expect(sessionLedgers(await sessionOf(c.entries))).toMatchObject([{ source: "none", ledger: undefined }]);
  });

  it("returns no ledgers for a session that was never compacted", async () => {
    const c = new ConversationBuilder();
    c.user("Hello");
    expect(sessionLedgers(await sessionOf(c.entries))).toEqual([]);
  });
});

describeRecorded("the ledgers of recorded sessions", () => {
  it.each([
    ["entireio-cli__70d782f7.jsonl", 2],
    ["entireio-cli__fdd24234.jsonl", 1],
    ["oh-my-posh__6c0a282a.jsonl", 1],
    ["context-evaluator__8209f1c2.jsonl", 1],
    ["spotter__4d5611e5.jsonl", 1],
  ])(
    "in %s every compaction has facts, no fact is lost, and each fact outside the context is in the file",
    async (name, compactions) => {
      const session = await loadSession(realSessionPath(name));
      const uuids = new Set(session.entries.map(({ uuid }) => uuid));
      const ledgers = sessionLedgers(session);
      expect(ledgers).toHaveLength(compactions);
      for (const { source, ledger } of ledgers) {
        expect(source).toBe("computed");
        const facts = ledger?.facts ?? [];
        const counts = countFates(facts);
        expect(counts.gone).toBe(0);
        expect(counts.summary).toBeGreaterThan(5);
        const absent = facts.filter(
          (fact) => !isInContext(fact) && fact.kind !== "todo" && fact.kind !== "question",
        );
        for (const { entryIds } of absent) expect(entryIds.some((id) => uuids.has(id))).toBe(true);
      }
    },
  );

  it("counts the kept message and the restored files of a recorded compaction", async () => {
    const [only] = sessionLedgers(await loadSession(realSessionPath("oh-my-posh__6c0a282a.jsonl")));
    expect(only?.ledger?.kept.messages).toBe(1);
    expect(only?.ledger?.restored.filter(({ kind }) => kind === "files")).toHaveLength(5);
  });
});
