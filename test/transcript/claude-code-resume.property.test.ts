import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import type { Session } from "@longhaul/sessions";
import {
  type CompactSessionOptions,
  clearSession,
  compactSession,
  loadSession,
  resumeSession,
  undoSession,
  writeClearing,
  writeCompaction,
  writeUndo,
} from "@longhaul/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../support/builders.ts";
import { resumedByClaudeCode } from "./resumed-by-claude-code.ts";
import { currentSessionArbitrary } from "./session-generator.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const IN_PLACE = { mode: "in-place" } as const;
const REFUSALS = [
  "not-enough-messages",
  "compaction-ineffective",
  "nothing-to-clear",
  "clearing-ineffective",
  "notes-not-usable",
  "nothing-to-undo",
];
const OPERATIONS = ["whole", "from", "upTo", "notes", "clear", "undo", "redo", "talk", "theirs"] as const;

interface Operation {
  readonly do: (typeof OPERATIONS)[number];
  /** Position in the conversation, as a share of its length. */
  readonly at: number;
  readonly count: number;
}

const operation: fc.Arbitrary<Operation> = fc.record({
  do: fc.constantFrom(...OPERATIONS),
  at: fc.integer({ min: 0, max: 99 }).map((percent) => percent / 100),
  count: fc.integer({ min: 1, max: 3 }),
});

/** A session file of Claude Code that both Claude Code and longhaul write to. */
class SharedFile {
  readonly path: string;
  readonly #version: string;
  #time = Date.UTC(2026, 10, 1);
  readonly #ports = { now: () => new Date(++this.#time), newUuid: randomUUID };
  #talks = 0;

  constructor(name: string, version: string, lines: readonly Entry[]) {
    this.path = join(folder, name);
    this.#version = version;
    writeFileSync(this.path, "");
    this.#append(lines.map(large));
    this.#talk(3);
  }

  /** Runs an operation. Returns true if it changed the session. */
  async carryOut(next: Operation): Promise<boolean> {
    if (next.do === "talk") this.#talk(next.count);
    else if (next.do === "theirs") this.#compactedByClaudeCode(next.at);
    else {
      try {
        await this.#byLonghaul(await loadSession(this.path), next);
      } catch (error) {
        if (!(error instanceof LonghaulError)) throw error;
        expect(REFUSALS).toContain(error.code);
        return false;
      }
    }
    return true;
  }

  async #byLonghaul(session: Session, { do: kind, at, count }: Operation): Promise<void> {
    const ports = this.#ports;
    if (kind === "undo" || kind === "redo") {
      await writeUndo(undoSession(session), IN_PLACE, ports);
      if (kind === "undo") return;
      await writeUndo(undoSession(await loadSession(this.path), { redo: true }), IN_PLACE, ports);
      return;
    }
    if (kind === "clear") {
      await writeClearing(clearSession(session, { keepNewest: count }), IN_PLACE, ports);
      return;
    }
    const cut = Math.floor(at * session.conversation.length);
    const parts: Readonly<Record<string, CompactSessionOptions>> = {
      whole: { keepRecentTokens: Math.floor(at * 9_000) },
      from: { from: cut },
      upTo: { upTo: cut },
      notes: { fromNotes: { text: "# State\nfine", keep: { leastTokens: 500, leastMessages: 2 } } },
    };
    await writeCompaction(await compactSession(session, { ...parts[kind], ports }), IN_PLACE, ports);
  }

  /** Appends turns with parallel calls after the line from which Claude Code would resume. */
  #talk(turns: number): void {
    const c = new ConversationBuilder(randomUUID().slice(0, 8));
    for (let turn = 0; turn < turns; turn++) {
      const name = `${++this.#talks}-${randomUUID().slice(0, 4)}`;
      c.user(`request ${name}`);
      const id = `msg-${name}`;
      const first = c.assistant([toolUse(`a-${name}`, "Read", { file_path: "/x" })], { id });
      const second = c.assistant([toolUse(`b-${name}`, "Read", { file_path: "/y" })], { id });
      c.user([toolResult(`b-${name}`, `b ${name}`)], { parentUuid: second.uuid });
      c.user([toolResult(`a-${name}`, `a ${name}`)], { parentUuid: first.uuid });
      c.attachment({ type: "task_reminder" });
      c.assistant(`done ${name}`);
    }
    const leaf = resumedByClaudeCode(this.text()).leaf?.uuid ?? null;
    this.#append(
      c.entries.map((entry, nth) => large(nth === 0 ? ({ ...entry, parentUuid: leaf } as Entry) : entry)),
    );
  }

  /**
   * Writes an automatic compaction as Claude Code orders its lines: boundary, attachments, summary,
   * attachments.
   */
  #compactedByClaudeCode(at: number): void {
    const { all, chain } = resumedByClaudeCode(this.text());
    const byUuid = new Map(this.#lines().map((line) => [line.uuid, line]));
    const isPrompt = (uuid: string): boolean => {
      const line = byUuid.get(uuid);
      return line?.type === "user" && typeof line.message.content === "string" && !line.isCompactSummary;
    };
    const prompts = chain.filter(isPrompt);
    const head = prompts[Math.floor(at * prompts.length)];
    const inOrder = [...byUuid.keys()].filter((uuid) => uuid !== undefined && all.has(uuid)) as string[];
    // Lines that an earlier compaction kept are earlier in the file than in the conversation.
    const isSorted = chain.every(
      (uuid, nth) => inOrder.indexOf(uuid) >= inOrder.indexOf(chain[nth - 1] ?? ""),
    );
    const uuids = head === undefined || !isSorted ? [] : inOrder.slice(inOrder.indexOf(head));
    const c = new ConversationBuilder(randomUUID().slice(0, 8));
    const boundary = c.boundary();
    c.attachment({ type: "session_context" });
    c.attachment({ type: "date" });
    const summary = c.summary(`summary of Claude Code ${boundary.uuid}`);
    c.attachment({ type: "file", filename: "/x", content: "x" });
    const anchorUuid = summary.uuid;
    const metadata = {
      preservedSegment: { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) },
      preservedMessages: { anchorUuid, uuids, allUuids: uuids },
    };
    const compactMetadata = { ...boundary.compactMetadata, ...(uuids.length === 0 ? {} : metadata) };
    this.#append(
      c.entries.map((entry) => (entry === boundary ? ({ ...entry, compactMetadata } as Entry) : entry)),
    );
  }

  text(): string {
    return readFileSync(this.path, "utf8");
  }

  #lines(): readonly Entry[] {
    return this.text()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Entry);
  }

  #append(entries: readonly Entry[]): void {
    const fields = (): object => ({ version: this.#version, timestamp: this.#ports.now().toISOString() });
    const isLinked = (entry: Entry): boolean => entry.uuid !== undefined;
    const lines = entries.map((entry) => JSON.stringify(isLinked(entry) ? { ...entry, ...fields() } : entry));
    appendFileSync(this.path, lines.map((line) => `${line}\n`).join(""));
  }
}

/** Makes an entry so long that a summary is shorter than the entries it replaces. */
function large(entry: Entry): Entry {
  if (entry.type !== "user" || entry.isCompactSummary === true || !Array.isArray(entry.message.content))
    return entry;
  const content = entry.message.content.map((block) =>
    block.type === "tool_result"
      ? { ...block, content: `${String(block.content)} ${"word ".repeat(1_000)}` }
      : block,
  );
  return { ...entry, message: { ...entry.message, content } };
}

const isMessage = ({ type }: Entry): boolean =>
  type === "user" || type === "assistant" || type === "attachment";

/** Checks that both readers find the same lines in the same order, and that every call has its result. */
async function expectSameReading(file: SharedFile): Promise<void> {
  const { chain, all, unpaired } = resumedByClaudeCode(file.text());
  const { conversation } = await loadSession(file.path);
  const ours = conversation.filter(isMessage).map(({ uuid }) => uuid as string);
  expect(new Set(ours)).toEqual(all);
  expect(ours).toHaveLength(all.size);
  const onChain = new Set(chain);
  expect(ours.filter((uuid) => onChain.has(uuid))).toEqual(chain);
  expect(unpaired).toEqual([]);
  expect((await resumeSession(file.path)).conversation).toEqual(conversation);
}

describe("sessions of Claude Code after any chain of compactions", () => {
  it.each(["2.1.325", "2.1.197"])(
    "Claude Code %s resumes with the same messages that longhaul reads, each call with its result",
    async (version) => {
      let files = 0;
      const changed = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(
          currentSessionArbitrary,
          fc.array(operation, { minLength: 1, maxLength: 8 }),
          async ({ lines }, operations) => {
            const file = new SharedFile(`${version}-${++files}.jsonl`, version, lines);
            await expectSameReading(file);
            for (const next of operations) {
              if (!(await file.carryOut(next))) continue;
              changed.set(next.do, (changed.get(next.do) ?? 0) + 1);
              await expectSameReading(file);
            }
          },
        ),
        { numRuns: 60 },
      );
      for (const name of new Set(OPERATIONS)) expect(changed.get(name) ?? 0, name).toBeGreaterThan(0);
    },
    120_000,
  );
});
