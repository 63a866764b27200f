import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { deriveExam, sessionStream } from "@longhaul/lab";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { queueSessionArbitrary } from "../../../../test/transcript/queue-session.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { Journal } from "../../../agent/src/loop/journal.ts";
import { isCompactBoundary, isSummaryEntry, rawContent } from "../../../core/src/messages/entry.ts";
import { contentText } from "../../../core/src/messages/untrusted.ts";
import { loadSession } from "../transcript/load.ts";
import { promptIn } from "../transcript/prompts.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { openTranscript } from "../transcript/writer.ts";
import { compactSession, writeCompaction } from "./compact-session.ts";
import { rewindLoaded, undoSession, writeUndo } from "./undo-rewind.ts";

const folder = temporaryFolder();
let files = 0;
const newPath = (): string => join(folder, `session-${++files}.jsonl`);

const TYPED = "Always use spaces in the parser, never tabs.";

/**
 * Writes a session of ten rounds. The user types a text in the round `during`. Only the queue contains this
 * text.
 */
async function sessionWith(during: number, version: string): Promise<string> {
  const b = new ConversationBuilder();
  const lines: Entry[] = [];
  const queue = (operation: string, fields: object): void =>
    void lines.push({ type: "queue-operation", operation, ...fields } as unknown as Entry);
  lines.push(b.user("Build the parser."));
  for (let round = 0; round < 10; round++) {
    lines.push(
      b.assistant([toolUse(`t${round}`, "Bash", { command: `make ${round}` })], { id: `m${round}` }),
    );
    if (round === during) queue("enqueue", { content: TYPED, timestamp: "2026-01-01T00:30:00.000Z" });
    lines.push(b.user([toolResult(`t${round}`, `made ${round} ${"word ".repeat(400)}`)]));
    lines.push(b.attachment({ type: "prompt_snapshot", systemPrompt: ["You are an agent."] }));
    if (round === during) queue("remove", { timestamp: "2026-01-01T00:31:00.000Z" });
  }
  lines.push(b.assistant("Done."));
  const path = newPath();
  await writeNewSession(
    path,
    lines.map((line) => (line.uuid === undefined ? line : ({ ...line, version } as Entry))),
  );
  return path;
}

const prompts = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap((entry) => promptIn(entry)?.replace("\n[image]", "") ?? []);

const summaryOf = (entries: readonly Entry[]): string =>
  entries
    .filter(isSummaryEntry)
    .map((entry) => contentText(rawContent(entry)))
    .join("\n");

const rawLines = (path: string): readonly Entry[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry);

async function compactInPlace(path: string, keepRecentTokens: number): Promise<void> {
  const result = await compactSession(await loadSession(path), { keepRecentTokens });
  await writeCompaction(result, { mode: "in-place" });
}

/**
 * Checks that every parent exists. Claude Code follows parents, so a missing parent would cut off the
 * conversation.
 */
function expectSoundLines(path: string): void {
  const lines = rawLines(path);
  const uuids = new Set(lines.map(({ uuid }) => uuid));
  const dangling = lines.filter(({ parentUuid }) => typeof parentUuid === "string" && !uuids.has(parentUuid));
  expect(dangling).toEqual([]);
  expect(lines.filter((line) => "fromQueue" in line)).toEqual([]);
}

describe.each(["2.1.39", "2.1.219"])(
  "a message that only the queue contains, in a session of version %s",
  (version) => {
    it("a compaction that keeps a queued message writes the message as a line of the file", async () => {
      const path = await sessionWith(8, version);
      await compactInPlace(path, 2_000);
      expectSoundLines(path);
      const { conversation } = await loadSession(path);
      expect(prompts(conversation)).toEqual([TYPED]);
      expect(apiRuleViolations(flatten(conversation))).toEqual([]);
      const lines = rawLines(path);
      const boundary = lines.findIndex(isCompactBoundary);
      expect(lines.slice(boundary).filter((line) => promptIn(line) === TYPED)).toHaveLength(1);
      const empty = lines.filter((line) => line.type === "user" && line.message.content.length === 0);
      expect(empty).toEqual([]);
    });

    it("carries a queued message over into the summary and the ledger when a compaction summarizes it", async () => {
      const path = await sessionWith(2, version);
      const { conversation } = await loadSession(path);
      const id = conversation.find((entry) => promptIn(entry) === TYPED)?.uuid;
      await compactInPlace(path, 2_000);
      const after = (await loadSession(path)).conversation;
      expect(summaryOf(after)).toContain(TYPED);
      expect(prompts(after)).toEqual([]);
      const [boundary] = after;
      const ledger =
        boundary && isCompactBoundary(boundary) ? boundary.compactMetadata.longhaul?.ledger : undefined;
      const fact = ledger?.facts.find(({ text }) => text.includes("Always use spaces"));
      expect(fact).toMatchObject({ kind: "directive", entryIds: [id] });
    });

    it("restores a queued message once after an undo, and can rewind to a point before that message", async () => {
      const path = await sessionWith(8, version);
      const before = prompts((await loadSession(path)).conversation);
      await compactInPlace(path, 2_000);
      await writeUndo(undoSession(await loadSession(path)), { mode: "in-place" });
      expectSoundLines(path);
      const session = await loadSession(path);
      expect(prompts(session.conversation)).toEqual(before);
      const message = session.conversation.find((entry) => promptIn(entry) === TYPED);
      const ports = { now: () => new Date(0), newUuid: () => "mark" };
      const rewind = rewindLoaded(session, message?.uuid ?? "", ports);
      expect(prompts(rewind.conversation)).toEqual(["Build the parser."]);
    });

    it("derives test questions about a compaction from a queued message", async () => {
      const { probes } = deriveExam(sessionStream(await loadSession(await sessionWith(2, version))));
      expect(probes.some(({ text }) => text.includes("Always use spaces"))).toBe(true);
    });
  },
);

describe("a session that ends with a message that only the queue contains", () => {
  const endingSession = async (): Promise<string> => {
    const b = new ConversationBuilder();
    b.user("Build the parser.");
    for (let round = 0; round < 6; round++)
      b.tool(`t${round}`, "Bash", { command: "make" }, "word ".repeat(400));
    const queue = (operation: string, content?: string): Entry =>
      ({
        type: "queue-operation",
        operation,
        content,
        timestamp: "2026-02-01T00:00:00.000Z",
      }) as unknown as Entry;
    const path = newPath();
    await writeNewSession(path, [...b.entries, queue("enqueue", TYPED), queue("remove")]);
    return path;
  };

  it("links new lines to a line of the file when the last message is only in the queue", async () => {
    const path = await endingSession();
    const { conversation } = await loadSession(path);
    expect(promptIn(conversation.at(-1) as Entry)).toBe(TYPED);
    const writer = await openTranscript(path);
    const ports = { now: () => new Date(0), newUuid: () => crypto.randomUUID() };
    const options = { writer, entries: conversation, ports, fields: {}, emit: () => undefined };
    await new Journal(options).say("go on");
    await writer.close();
    expectSoundLines(path);
    expect(prompts((await loadSession(path)).conversation)).toEqual(["Build the parser.", TYPED, "go on"]);
  });

  it("a boundary names a line of the file as its parent when the last message is only in the queue", async () => {
    const path = await endingSession();
    await compactInPlace(path, 500);
    expectSoundLines(path);
    const lines = rawLines(path);
    const boundary = lines.find(isCompactBoundary);
    expect(lines.map(({ uuid }) => uuid)).toContain(boundary?.logicalParentUuid);
    expect(prompts((await loadSession(path)).conversation)).toEqual([TYPED]);
  });
});

/** Makes results as long as in real sessions. Otherwise a compaction would save nothing. */
function withLongResults(entry: Entry): Entry {
  if (entry.type !== "user" || typeof entry.message.content === "string") return entry;
  const content = entry.message.content.map((block) =>
    block.type === "tool_result" ? { ...block, content: "word ".repeat(600) } : block,
  );
  return { ...entry, message: { ...entry.message, content } };
}

describe("in-place compactions of generated sessions with a message queue", () => {
  it("an in-place compaction keeps or summarizes every typed message, and keeps none twice", async () => {
    let compacted = 0;
    await fc.assert(
      fc.asyncProperty(queueSessionArbitrary, fc.nat(3_000), async ({ lines, current }, keepRecentTokens) => {
        const path = newPath();
        await writeNewSession(path, lines.map(withLongResults));
        const result = await compactSession(await loadSession(path), { keepRecentTokens }).catch(
          () => undefined,
        );
        if (result === undefined) return;
        compacted++;
        await writeCompaction(result, { mode: "in-place" });
        const { conversation } = await loadSession(path);
        const kept = prompts(conversation).filter((text) => !text.startsWith("/"));
        expect(kept).toEqual(current.slice(current.length - kept.length));
        const summary = summaryOf(conversation);
        for (const text of current.slice(0, current.length - kept.length)) expect(summary).toContain(text);
        expectSoundLines(path);
      }),
      { numRuns: 100 },
    );
    expect(compacted).toBeGreaterThan(20);
  });
});
