import { join } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { sessionWindow, windowEvidence } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../../test/support/builders.ts";
import { countingPorts } from "../../../../test/support/long-session.ts";
import { describeRecorded, realSessionPath } from "../../../../test/support/real-sessions.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { resumeSession } from "../transcript/resume.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { clearSession, writeClearing } from "./clear-session.ts";
import { type CompactSessionOptions, compactSession, writeCompaction } from "./compact-session.ts";
import { undoSession, writeUndo } from "./undo-rewind.ts";
import type { WriteTarget } from "./write-lines.ts";

const folder = temporaryFolder();
let files = 0;
const newPath = (): string => join(folder, `session-${++files}.jsonl`);

interface Part {
  readonly model: string;
  readonly usedTokens: number;
  /** Ends with another agent's automatic compaction. */
  readonly isCompacted?: boolean;
}

function written(parts: readonly Part[], version: string | undefined): readonly Entry[] {
  const c = new ConversationBuilder(`f${++files}`);
  const fields = version === undefined ? {} : { version };
  for (const [at, { model, usedTokens, isCompacted }] of parts.entries()) {
    for (let turn = 0; turn < 4; turn++) {
      c.user(`part ${at} request ${turn}`);
      const id = `${files}-${at}-${turn}`;
      c.tool(id, "Read", { file_path: `/project/${id}.ts` }, "line\n".repeat(900), {
        usage: usage(9_000, 5),
      });
      const reported = turn === 3 ? usedTokens : 9_000;
      c.assistant(`part ${at} answer ${turn}`, { usage: usage(reported, 5) });
    }
    c.entries.forEach((entry, index) => {
      if (entry.type === "assistant" && entry.message.model === "claude-sonnet-5")
        c.entries[index] = { ...entry, message: { ...entry.message, model } };
    });
    if (!isCompacted) continue;
    c.boundary({ trigger: "auto", preTokens: 167_000 });
    c.summary(`summary of part ${at}`);
  }
  return c.entries.map((entry) => ({ ...entry, ...fields }) as Entry);
}

/** Returns the model of a session, and its window with the origin of the figure. */
async function factsOf(path: string): Promise<unknown> {
  const session = await loadSession(path);
  const { model } = session;
  const { windowTokens, windowOrigin } = sessionWindow(session);
  expect((await resumeSession(path)).model).toBe(model);
  return { model, windowTokens, windowOrigin };
}

type Operation = (session: Session, target: WriteTarget) => Promise<unknown>;

const ports = countingPorts();
const compaction =
  (options: CompactSessionOptions): Operation =>
  async (session, target) =>
    writeCompaction(
      await compactSession(session, { force: true, restoreFiles: false, ports, ...options }),
      target,
      ports,
    );

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "keeps nothing": compaction({ keepRecentTokens: 0 }),
  "keeps recent messages": compaction({ keepRecentTokens: 3_000 }),
  "keeps earlier messages": compaction({ from: 8 }),
  "keeps later messages": compaction({ upTo: 8 }),
  clearing: async (session, target) => writeClearing(clearSession(session, { keepNewest: 1 }), target, ports),
  undo: async (session, target) => writeUndo(undoSession(session), target, ports),
};

/**
 * Runs an operation. Returns the path of the resulting session. If there is nothing to do, returns the same
 * path.
 */
async function runOperation(path: string, name: string, isInPlace: boolean): Promise<string> {
  const out = newPath();
  const target: WriteTarget = isInPlace ? { mode: "in-place" } : { mode: "new-session", path: out };
  try {
    await OPERATIONS[name]?.(await loadSession(path), target);
    return isInPlace ? path : out;
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return path;
  }
}

const SONNET = "claude-sonnet-4-5";

describe("model and window of a rewritten session", () => {
  it("a rewritten session keeps the window size that a reported usage proved", async () => {
    const path = newPath();
    await writeNewSession(path, written([{ model: SONNET, usedTokens: 535_000 }], "2.1.45"));
    const before = { model: SONNET, windowTokens: 1_000_000, windowOrigin: "reported-usage" };
    expect(await factsOf(path)).toEqual(before);
    for (const name of ["keeps recent messages", "clearing"])
      expect(await factsOf(await runOperation(path, name, false))).toEqual(before);
  });

  it("a rewritten session keeps a proven window size that is larger than the known size for its model", async () => {
    const path = newPath();
    await writeNewSession(path, written([{ model: "qwen3", usedTokens: 90_000 }], undefined));
    const before = await factsOf(path);
    expect(before).toMatchObject({ windowOrigin: "reported-usage" });
    expect(await factsOf(await runOperation(path, "keeps nothing", false))).toEqual(before);
  });

  it("a compaction that keeps only messages of an earlier model still records the newest model", async () => {
    for (const version of ["2.1.325", "2.1.45", undefined]) {
      const parts = ["claude-haiku-4-5", SONNET, "claude-opus-5"].map((model) => ({
        model,
        usedTokens: 9_000,
      }));
      const path = newPath();
      await writeNewSession(path, written(parts, version));
      for (const isInPlace of [false, true])
        expect(await factsOf(await runOperation(path, "keeps earlier messages", isInPlace))).toMatchObject({
          model: "claude-opus-5",
        });
    }
  });

  it("a session keeps its model, its window size and the origin of that size through any chain of operations", async () => {
    const part = fc.record({
      model: fc.constantFrom(SONNET, "claude-opus-5", "my-model", "qwen3"),
      usedTokens: fc.constantFrom(9_000, 30_000, 190_000, 535_000),
      isCompacted: fc.boolean(),
    });
    const step = fc.tuple(fc.constantFrom(...Object.keys(OPERATIONS)), fc.boolean());
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("2.1.325", "2.1.45", undefined),
        fc.array(step, { minLength: 1, maxLength: 3 }),
        async (parts, version, steps) => {
          let path = newPath();
          await writeNewSession(path, written(parts, version));
          const before = await factsOf(path);
          for (const [name, isInPlace] of steps) {
            path = await runOperation(path, name, isInPlace);
            expect(await factsOf(path)).toEqual(before);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it("a resume that reads only from the newest boundary finds the same window size as before", async () => {
    const path = newPath();
    await writeNewSession(path, written([{ model: SONNET, usedTokens: 535_000 }], "2.1.325"));
    const before = windowEvidence(await loadSession(path));
    expect(before).toEqual({ model: SONNET, windowTokens: 1_000_000, origin: "reported-usage" });
    await runOperation(path, "keeps nothing", true);
    const { conversation: entries, model } = await resumeSession(path);
    expect(windowEvidence({ entries, model })).toEqual(before);
  });
});

describeRecorded("model and window of recorded sessions that are compacted into new ones", () => {
  it.each([
    ["episodic-memory__large-conversation.jsonl", "keeps recent messages"],
    ["oh-my-posh__6c0a282a.jsonl", "keeps nothing"],
  ])("%s keeps its model and its window when a compaction %s", async (file, name) => {
    const original = realSessionPath(file);
    expect(await factsOf(await runOperation(original, name, false))).toEqual(await factsOf(original));
  });
});
