import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findSession, writeNewSession } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../test/support/builders.ts";
import { createDemoSession } from "../../simulator/src/demo-session.ts";
import { openSession } from "./agent-session.ts";

it("opening a session derives the window size from the session's newest automatic compaction", async () => {
  const home = await mkdtemp(join(tmpdir(), "longhaul-session-"));
  try {
    const evidence = { model: "claude-sonnet-5", windowTokens: 200_000 };
    const built = new ConversationBuilder();
    built.user("begin");
    built.assistant("ok", { usage: usage(160_000, 5) });
    built.boundary({ trigger: "auto", preTokens: 167_081 });
    built.summary("so far");
    built.assistant("ok", { usage: usage(30_000, 5) });
    const original = join(home, "claude.jsonl");
    await writeNewSession(original, built.entries);
    const choice = { cwd: home, places: { home, env: {} }, newUuid: () => "0f1e2d3c" };
    expect((await openSession({ ...choice, session: original })).windowEvidence).toEqual(evidence);
    // A reader that starts at the newest boundary does not see the earlier boundary that proves the window.
    built.boundary({ trigger: "manual", preTokens: 30_000 });
    built.summary("so far, shorter");
    built.assistant("ok", { usage: usage(9_000, 5) });
    const later = join(home, "later.jsonl");
    await writeNewSession(later, built.entries);
    expect((await openSession({ ...choice, session: later })).windowEvidence).toEqual(evidence);
    const longhaul = { overheadTokens: 0, tokenRatio: 1, window: evidence };
    const own = new ConversationBuilder();
    own.boundary({ trigger: "auto", preTokens: 45_000, longhaul });
    own.summary("so far");
    own.assistant("ok", { usage: usage(9_000, 5) });
    const alone = join(home, "alone.jsonl");
    await writeNewSession(alone, own.entries);
    expect((await openSession({ ...choice, session: alone })).windowEvidence).toEqual(evidence);
  } finally {
    await rm(home, { recursive: true });
  }
});

it("opening a session derives the window size from the largest usage that the session reports", async () => {
  const home = await mkdtemp(join(tmpdir(), "longhaul-session-"));
  try {
    const built = new ConversationBuilder();
    built.user("begin");
    const answer = built.assistant("ok", { usage: usage(535_000, 5) });
    built.entries[1] = { ...answer, message: { ...answer.message, model: "claude-sonnet-4-5" } };
    const session = join(home, "claude.jsonl");
    await writeNewSession(session, built.entries);
    const choice = { cwd: home, places: { home, env: {} }, newUuid: () => "0f1e2d3c" };
    expect((await openSession({ ...choice, session })).windowEvidence).toEqual({
      model: "claude-sonnet-4-5",
      windowTokens: 1_000_000,
      origin: "reported-usage",
    });
  } finally {
    await rm(home, { recursive: true });
  }
});

it("reopening a copy of another agent's session keeps the copy's id, and findSession finds the copy by this id", async () => {
  const home = await mkdtemp(join(tmpdir(), "longhaul-session-"));
  try {
    const original = join(home, "claude.jsonl");
    await writeNewSession(original, createDemoSession());
    const choice = { cwd: home, places: { home, env: {} }, newUuid: () => "0f1e2d3c" };
    const copy = await openSession({ ...choice, session: original });
    const again = await openSession({ ...choice, session: copy.path });
    expect([copy.id, again.id]).toEqual(["0f1e2d3c", "0f1e2d3c"]);
    expect(await findSession(again.id, choice.places)).toBe(copy.path);
  } finally {
    await rm(home, { recursive: true });
  }
});
