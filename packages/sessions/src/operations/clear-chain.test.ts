import { randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { CompactionPorts } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import { contextTokens } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import {
  ConversationBuilder,
  thinking,
  toolResult,
  toolUse,
  usage,
} from "../../../../test/support/builders.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { rebuild } from "../../../core/src/compaction/compact.ts";
import { loadSession } from "../transcript/load.ts";
import { resumeSession } from "../transcript/resume.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { openTranscript } from "../transcript/writer.ts";
import { clearSession, writeClearing } from "./clear-session.ts";
import { compactSession, writeCompaction } from "./compact-session.ts";
import type { WriteTarget } from "./write-lines.ts";

const folder = temporaryFolder();
let files = 0;
const newPath = (): string => join(folder, `session-${++files}.jsonl`);

/**
 * Current time of the test. It is later than all times that the builders write, and advances with each call
 * of `now`.
 */
let time = Date.UTC(2026, 6, 1);
const ports: CompactionPorts = { now: () => new Date(++time), newUuid: randomUUID };

interface Step {
  readonly what: "clear" | "from" | "upTo" | "whole";
  /** Position of the cut of a partial step, as a share of the conversation. */
  readonly at: number;
  readonly keepNewest: number;
  readonly asNew: boolean;
  readonly addsTurns: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom("clear", "from", "upTo", "whole"),
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  keepNewest: fc.integer({ min: 1, max: 6 }),
  asNew: fc.boolean(),
  addsTurns: fc.boolean(),
});

/** Creates turns with thinking and parallel calls. The parent of each result is its own call. */
function turns(prefix: string, count: number, context: number): readonly Entry[] {
  const c = new ConversationBuilder(prefix);
  for (let turn = 0; turn < count; turn++) {
    c.user(`${prefix} request ${turn} ${"word ".repeat(20)}`);
    const id = `${prefix}-m${turn}`;
    c.assistant([thinking(`${prefix} thought ${turn}`)], { id });
    const first = c.assistant([toolUse(`${prefix}-a${turn}`, "Read", { file_path: "/x" })], { id });
    const second = c.assistant([toolUse(`${prefix}-b${turn}`, "Bash", { command: "ls" })], {
      id,
      usage: usage(context + turn * 900, 50),
    });
    c.user([toolResult(`${prefix}-a${turn}`, `result a${turn} ${"word ".repeat(300)}`)], {
      parentUuid: first.uuid,
    });
    c.user([toolResult(`${prefix}-b${turn}`, `result b${turn} ${"word ".repeat(40)}`)], {
      parentUuid: second.uuid,
    });
    c.assistant([{ type: "text", text: `${prefix} done ${turn}` }]);
  }
  return c.entries;
}

const written = (entries: readonly Entry[], version: string | undefined, model: string): readonly Entry[] =>
  entries.map((entry) => {
    const fields = version === undefined ? {} : { version };
    const message = entry.type === "assistant" ? { message: { ...entry.message, model } } : {};
    return { ...entry, ...fields, ...message } as Entry;
  });

async function appendTurns(path: string, entries: readonly Entry[]): Promise<void> {
  const { leafUuid = null } = await loadSession(path);
  const [first, ...rest] = entries.map(
    (entry) => ({ ...entry, timestamp: ports.now().toISOString() }) as Entry,
  );
  const writer = await openTranscript(path);
  await writer.append([{ ...first, parentUuid: leafUuid } as Entry, ...rest]);
  await writer.close();
}

interface Done {
  readonly path: string;
  readonly tokensAfter: number;
}

/**
 * Runs a step. Checks that reading the file returns the same conversation as the step. Returns undefined if
 * there was nothing to do.
 */
async function runStep(path: string, { what, at, keepNewest, asNew }: Step): Promise<Done | undefined> {
  const session = await loadSession(path);
  const target: WriteTarget = asNew ? { mode: "new-session", path: newPath() } : { mode: "in-place" };
  const before = readFileSync(path);
  try {
    const { expected, tokensAfter, outPath } = what === "clear" ? await clear() : await compact(what);
    const loaded = await loadSession(outPath);
    expect(flatten(loaded.conversation)).toEqual(flatten(expected));
    expect(apiRuleViolations(flatten(loaded.conversation))).toEqual([]);
    expect((await resumeSession(outPath)).conversation).toEqual(loaded.conversation);
    expect(contextTokens(loaded.conversation)).toBeLessThan(contextTokens(session.conversation));
    expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
    return { path: outPath, tokensAfter };
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    expect(["not-enough-messages", "compaction-ineffective", "nothing-to-clear"]).toContain(error.code);
    expect(readFileSync(path).equals(before)).toBe(true);
    return undefined;
  }

  async function clear() {
    const result = clearSession(session, { keepNewest });
    const { path: outPath } = await writeClearing(result, target, ports);
    return { expected: result.entries, tokensAfter: result.tokensAfter, outPath };
  }
  async function compact(part: "from" | "upTo" | "whole") {
    const cut = Math.floor(at * session.conversation.length);
    const where = part === "whole" ? { keepRecentTokens: 2_000 } : { [part]: cut };
    const result = await compactSession(session, { ...where, force: true, ports });
    if (result.compaction.saving.tokens <= 0)
      throw new LonghaulError("compaction-ineffective", "No smaller.");
    const { path: outPath } = await writeCompaction(result, target, ports);
    return { expected: rebuild(result.compaction), tokensAfter: result.compaction.tokensAfter, outPath };
  }
}

describe.each(["2.1.219", "2.1.45", undefined])(
  "chains of clearings and compactions in a session of version %s",
  (version) => {
    it("a session reads back as written after every step of any chain of clearings and compactions", async () => {
      const model = fc.constantFrom("claude-sonnet-4-5", "claude-opus-5-5");
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), model, async (steps, name) => {
          let path = newPath();
          await writeNewSession(path, written(turns("first", 14, 20_000), version, name));
          for (const [index, next] of steps.entries()) {
            path = (await runStep(path, next))?.path ?? path;
            if (next.addsTurns)
              await appendTurns(path, written(turns(`later${index}`, 5, 15_000), version, name));
          }
        }),
        { numRuns: 15 },
      );
    }, 60_000);
  },
);

describeRecorded("every recorded session", () => {
  const chain: readonly Pick<Step, "what" | "at">[] = [
    { what: "clear", at: 0 },
    { what: "upTo", at: 0.4 },
    { what: "clear", at: 0 },
    { what: "from", at: 0.6 },
    { what: "whole", at: 0 },
  ];
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "%s reads back as written after each of these: clear, --up-to, clear, --from, a whole compaction",
    async (_, source) => {
      let path = newPath();
      copyFileSync(source, path);
      chmodSync(path, 0o600);
      for (const [index, next] of chain.entries()) {
        // Keeps fewer results each time, so that there is something to clear again.
        const keepNewest = Math.max(1, 8 - 3 * index);
        const done = await runStep(path, { ...next, keepNewest, asNew: index === 3, addsTurns: false });
        path = done?.path ?? path;
        if (done === undefined) continue;
        const tokens = contextTokens((await loadSession(path)).conversation);
        expect(Math.abs(tokens / done.tokensAfter - 1)).toBeLessThan(0.02);
      }
    },
    60_000,
  );
});
