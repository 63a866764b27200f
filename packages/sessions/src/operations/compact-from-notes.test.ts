import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { flatten } from "@longhaul/core/request";
import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import { longSession } from "../../../../test/support/long-session.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { sessionWriter } from "../../../../test/transcript/written-session.ts";
import { rebuild } from "../../../core/src/compaction/compact.ts";
import type { NotesDecline } from "../../../notes/src/plan-from-notes.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import {
  type CompactSessionOptions,
  compactSession,
  notesNotUsable,
  type SessionCompaction,
  writeCompaction,
} from "./compact-session.ts";

const write = sessionWriter();

const TEXT = "# Current State\n_what goes on_\n\nThe harbour is being dredged.";
const { entries } = longSession();
const COVERED = entries.at(-20)?.uuid;

const session = (): Promise<Session> => write(entries);

async function failureOf(options: CompactSessionOptions, loaded?: Session): Promise<unknown> {
  try {
    await compactSession(loaded ?? (await session()), options);
    return undefined;
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return { code: error.code, reason: error.facts.reason };
  }
}

const refused = (reason: NotesDecline): unknown => ({ code: "notes-not-usable", reason });

describe("compacting a session from its notes", () => {
  it("replaces the messages that the notes cover, keeps all other messages, and calls no model", async () => {
    const model = scriptedModel([]);
    const result = await compactSession(await session(), {
      fromNotes: { text: TEXT, coveredUuid: COVERED },
      model,
    });
    expect(result.compaction.written).toMatchObject({ source: "notes", text: TEXT });
    expect(result.plan.kept.map(({ uuid }) => uuid)).toContain(entries.at(-19)?.uuid);
    expect(model.requests).toEqual([]);
  });

  it("a compaction from notes reads back as written, is marked as from notes, and keeps every byte of the file", async () => {
    const loaded = await session();
    const before = readFileSync(loaded.path);
    const result = await compactSession(loaded, { fromNotes: { text: TEXT, coveredUuid: COVERED } });
    await writeCompaction(result, { mode: "in-place" });
    const again = await loadSession(loaded.path);
    expect(flatten(again.conversation)).toEqual(flatten(rebuild(result.compaction)));
    expect(apiRuleViolations(flatten(again.conversation))).toEqual([]);
    expect(again.boundaries.at(-1)?.boundary.compactMetadata.longhaul?.tier).toBe("memory");
    expect(readFileSync(loaded.path).subarray(0, before.length).equals(before)).toBe(true);
  });

  it("keeps at least the requested number of messages when the notes name no covered message", async () => {
    const keep = { leastTokens: 1, leastMessages: 3 };
    const { plan } = await compactSession(await session(), { fromNotes: { text: TEXT, keep } });
    expect(plan.kept).toHaveLength(5);
  });

  it("puts the transcript path into the summary, and counts the tokens of the path against the target", async () => {
    // A fixed path, because a random one has a different number of tokens each time.
    const loaded = { ...(await session()), path: "/project/session.jsonl" };
    const fromNotes = { text: TEXT, coveredUuid: COVERED, keep: { leastTokens: 1, leastMessages: 1 } };
    const { compaction } = await compactSession(loaded, { fromNotes, restoreFiles: false, facts: "off" });
    expect(compaction.summary.message.content).toContain(loaded.path);
    const targetTokens = compaction.tokensAfter;
    expect(await failureOf({ fromNotes, targetTokens, restoreFiles: false }, loaded)).toEqual(
      refused("above-threshold"),
    );
    const higher = { fromNotes, targetTokens: targetTokens + 1, restoreFiles: false };
    expect(await failureOf(higher, loaded)).toBeUndefined();
  });
});

describe("notes that a compaction cannot use", () => {
  it("a compaction from notes fails with a reason when the notes save nothing or cannot replace messages", async () => {
    expect(await failureOf({ fromNotes: { text: TEXT, coveredUuid: "gone" } })).toEqual(
      refused("message-not-found"),
    );
    expect(await failureOf({ fromNotes: { text: " " } })).toEqual(refused("only-template"));
    const all = { leastTokens: 1_000_000, leastMessages: 1_000, mostTokens: 1_000_000 };
    expect(await failureOf({ fromNotes: { text: TEXT, keep: all } })).toEqual(refused("nothing-new-noted"));
    const long = "The harbour is being dredged. ".repeat(30_000);
    expect(await failureOf({ fromNotes: { text: long, coveredUuid: COVERED } })).toEqual({
      code: "compaction-ineffective",
      reason: undefined,
    });
  });

  it("a compaction from notes fails when instructions are given, because notes cannot follow them", async () => {
    const fromNotes = { text: TEXT, coveredUuid: COVERED };
    expect(await failureOf({ fromNotes, instructions: "mind the tides" })).toEqual(refused("instructions"));
    expect(await failureOf({ fromNotes, instructions: " " })).toBeUndefined();
  });

  it("every reason for declining notes has a message and a remedy", () => {
    const reasons: readonly NotesDecline[] = [
      "disabled",
      "no-file",
      "unreadable",
      "only-template",
      "message-not-found",
      "nothing-new-noted",
      "instructions",
      "hook-instructions",
      "partial-compaction",
      "keep-recent-tokens",
      "above-threshold",
      "does-not-pay",
    ];
    for (const reason of reasons) {
      const error = notesNotUsable(reason);
      expect(error).toMatchObject({ code: "notes-not-usable", facts: { reason } });
      expect(error.message).toMatch(/\.$/);
      expect(error.remedy).toMatch(/without the notes\.$/);
    }
  });
});

/** Positions of the last message that the notes cover, as shares of a conversation. */
const SHARES = [0.3, 0.6, 0.9, 1];

describeRecorded("every recorded session", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "%s is valid, smaller and complete after a compaction from notes, wherever the coverage of the notes ends",
    async (_, path) => {
      const loaded = await loadSession(path);
      const { conversation } = loaded;
      for (const share of SHARES) {
        const coveredUuid = conversation.slice(0, Math.ceil(conversation.length * share)).at(-1)?.uuid;
        const made = await compactSession(loaded, {
          fromNotes: { text: TEXT, coveredUuid },
          restoreFiles: false,
        }).catch((error: unknown) => error);
        if (made instanceof LonghaulError) {
          expect(["notes-not-usable", "compaction-ineffective"]).toContain(made.code);
          continue;
        }
        const { plan, compaction } = made as SessionCompaction;
        expect([...plan.summarized, ...plan.kept]).toHaveLength(plan.entries.length);
        expect(apiRuleViolations(flatten(rebuild(compaction)))).toEqual([]);
        expect(compaction.tokensAfter).toBeLessThan(compaction.tokensBefore);
      }
    },
  );
});
