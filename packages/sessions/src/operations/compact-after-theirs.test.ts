import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { sessionWriter } from "../../../../test/transcript/written-session.ts";
import { isSummaryEntry, rawContent } from "../../../core/src/messages/entry.ts";
import { contentText } from "../../../core/src/messages/untrusted.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { openTranscript } from "../transcript/writer.ts";
import { type CompactSessionOptions, compactSession, writeCompaction } from "./compact-session.ts";

const written = sessionWriter();

/** One remark for each section of a Claude Code summary. */
const remarks = (name: string): readonly string[] => [
  `${name} wants a tide table`,
  `${name}-concept`,
  `/project/${name}.ts`,
  `${name} overflow was fixed`,
  `${name} was solved by rounding`,
  `${name} said hello`,
  `${name} remains to be documented`,
  `${name} is being tested`,
];

/** Returns a summary in the form of Claude Code 2.1.325, with its closing text. */
function summaryOf(name: string): string {
  const [intent, concept, file, error, solved, said, pending, work] = remarks(name);
  return `This session is being continued from a previous conversation that ran out of context.

Summary:
1. Primary Request and Intent:
   ${intent}

2. Key Technical Concepts:
   - ${concept}

3. Files and Code Sections:
   - ${file}

4. Errors and fixes:
   - ${error}

5. Problem Solving:
   ${solved}

6. All user messages:
   - ${said}

7. Pending Tasks:
   - ${pending}

8. Current Work:
   ${work}

If you need specific details from before compaction, read the full transcript at: /t.jsonl
Continue the conversation from where it left off without asking the user any further questions.

The messages after this summary are the most recent messages from before compaction, kept verbatim.`;
}

function turns(c: ConversationBuilder, name: string, count = 3): void {
  for (let turn = 0; turn < count; turn++) {
    const id = `${name}-${turn}`;
    c.user(`request ${id}`);
    const first = c.assistant([toolUse(`a-${id}`, "Read", { file_path: "/x" })], { id });
    c.assistant([toolUse(`b-${id}`, "Read", { file_path: "/y" })], { id });
    c.user([toolResult(`b-${id}`, `b ${"word ".repeat(900)}`)]);
    c.user([toolResult(`a-${id}`, `a ${"word ".repeat(900)}`)], { parentUuid: first.uuid });
    c.assistant(`done ${id}`);
  }
}

type Keeps = "nothing" | "listed" | "ends";

/** Adds an automatic compaction of Claude Code: boundary, attachments, summary, attachments. */
function compactedByThem(c: ConversationBuilder, name: string, keeps: Keeps): void {
  const from = c.entries.findLastIndex(
    (entry) => entry.type === "user" && typeof entry.message.content === "string",
  );
  const uuids = c.entries.slice(from).map(({ uuid }) => uuid ?? "");
  const at = c.entries.length;
  const boundary = c.boundary();
  c.attachment({ type: "session_context", rendered: [] });
  c.attachment({ type: "date", rendered: [] });
  const anchorUuid = c.summary(summaryOf(name)).uuid;
  c.attachment({ type: "date", rendered: [] });
  const [headUuid = "", tailUuid = ""] = [uuids[0], uuids.at(-1)];
  const preservedSegment = { headUuid, anchorUuid, tailUuid };
  const preservedMessages = { anchorUuid, uuids, allUuids: uuids };
  const fields = { nothing: {}, ends: { preservedSegment }, listed: { preservedSegment, preservedMessages } };
  const compactMetadata = { ...boundary.compactMetadata, ...fields[keeps] };
  c.entries[at] = { ...boundary, compactMetadata };
}

const withVersion = (entry: Entry): Entry => ({ ...entry, version: "2.1.325" }) as Entry;

async function compactedByUs(session: Session, options: CompactSessionOptions): Promise<string> {
  const result = await compactSession(session, { restoreFiles: false, ...options });
  await writeCompaction(result, { mode: "in-place" });
  const { conversation } = await loadSession(session.path);
  return conversation
    .filter(isSummaryEntry)
    .map((entry) => contentText(rawContent(entry)))
    .join("\n");
}

function expectAllOf(name: string, summary: string): void {
  for (const remark of remarks(name)) expect(summary).toContain(remark);
}

describe("a longhaul compaction after a Claude Code compaction", () => {
  it.each(["nothing", "listed", "ends"] as const)(
    "carries over the whole summary of a Claude Code compaction (record of kept messages: %s)",
    async (keeps) => {
      const c = new ConversationBuilder();
      turns(c, "before");
      compactedByThem(c, "theirs", keeps);
      turns(c, "after");
      const summary = await compactedByUs(await written(c.entries.map(withVersion)), { keepRecentTokens: 0 });
      expectAllOf("theirs", summary);
      expect(summary).not.toContain("kept verbatim");
    },
  );

  it("carries over Claude Code's summary when Claude Code and longhaul compact alternately", async () => {
    const start = new ConversationBuilder();
    turns(start, "start");
    let session = await written(start.entries.map(withVersion));
    for (const [round, keeps] of (["listed", "nothing", "ends", "listed"] as const).entries()) {
      const c = new ConversationBuilder(`round-${round}`);
      turns(c, `before-${round}`);
      compactedByThem(c, `theirs-${round}`, keeps);
      turns(c, `after-${round}`);
      session = await appended(session, c.entries);
      const options = round % 2 === 0 ? { keepRecentTokens: 3_000 } : { keepRecentTokens: 0 };
      expectAllOf(`theirs-${round}`, await compactedByUs(session, options));
      expectAllOf(`theirs-${round}`, await again(session, `more-${round}`));
    }
  });

  it("carries over the requests in an earlier summary, even if that summary comes after kept messages", async () => {
    const c = new ConversationBuilder();
    turns(c, "start", 5);
    const session = await written(c.entries.map(withVersion));
    const cut = session.conversation.find((entry) => JSON.stringify(entry).includes("request start-2"))?.uuid;
    await compactedByUs(session, { from: cut ?? "" });
    const summary = await compactedByUs(await loadSession(session.path), { keepRecentTokens: 0 });
    const requests = summary.slice(summary.indexOf("All User Messages"), summary.indexOf("Pending Tasks"));
    for (let turn = 0; turn < 5; turn++) expect(requests).toContain(`request start-${turn}`);
  });
});

/** Appends the lines below the newest line of the session. */
async function appended({ path }: Session, entries: readonly Entry[]): Promise<Session> {
  const { leafUuid } = await loadSession(path);
  const [first, ...rest] = entries;
  const writer = await openTranscript(path);
  await writer.append([{ ...first, parentUuid: leafUuid ?? null } as Entry, ...rest].map(withVersion));
  await writer.close();
  return loadSession(path);
}

/** Continues the conversation and compacts it again with longhaul. */
async function again(session: Session, name: string): Promise<string> {
  const c = new ConversationBuilder(name);
  turns(c, name);
  return compactedByUs(await appended(session, c.entries), { keepRecentTokens: 0 });
}
