import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { contextTokens } from "@longhaul/core/measure";
import { flatten } from "@longhaul/core/request";
import {
  clearSession,
  compactSession,
  listSessions,
  loadSession,
  resumeSession,
  type Session,
  undoableSteps,
  undoSession,
  writeClearing,
  writeCompaction,
  writeNewSession,
  writeUndo,
} from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { isCompactBoundary } from "../../packages/core/src/messages/entry.ts";
import { isUndoMark } from "../../packages/core/src/messages/undo-marks.ts";
import { coverageOf } from "../../packages/sessions/src/operations/notes-coverage.ts";
import { sessionHistory } from "../../packages/sessions/src/operations/session-history.ts";
import { codeOf, longSession } from "../support/long-session.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const folder = temporaryFolder();
let files = 0;

interface Compacted {
  readonly path: string;
  /** The session before the compaction. */
  readonly before: Session;
}

/**
 * Creates a session that was compacted and then continued. The compaction kept its newest messages in place.
 */
async function compacted(version?: string, turns = 12): Promise<Compacted> {
  const path = join(folder, `session-${++files}.jsonl`);
  const fields = version === undefined ? {} : { version };
  const written = (entries: readonly Entry[]): readonly Entry[] =>
    entries.map((entry) => ({ ...entry, ...fields }) as Entry);
  await writeNewSession(path, written(longSession(turns).entries));
  const before = await loadSession(path);
  const result = await compactSession(before, { keepRecentTokens: 2_500, force: true });
  await writeCompaction(result, { mode: "in-place" });
  const { leafUuid } = await loadSession(path);
  const [first, ...rest] = written(longSession(1, `later${files}`).entries);
  const since = [{ ...first, parentUuid: leafUuid }, ...rest] as readonly Entry[];
  const timestamp = new Date().toISOString();
  for (const entry of since) appendFileSync(path, `${JSON.stringify({ ...entry, timestamp })}\n`);
  return { path, before };
}

const shown = ({ conversation }: Pick<Session, "conversation">): string =>
  JSON.stringify(flatten(conversation));

const FORMS = [
  ["a longhaul session", undefined],
  ["a session of Claude Code", "2.1.219"],
] as const;

describe.each(FORMS)("undo in %s", (_, version) => {
  it("an undo whose write breaks off at any byte leaves the session as it was", async () => {
    const { path } = await compacted(version, 4);
    const old = await loadSession(path);
    await writeUndo(undoSession(old), { mode: "in-place" });
    const bytes = readFileSync(path);
    const whole = shown(await loadSession(path));
    expect(whole).not.toBe(shown(old));
    const cutPath = `${path}.cut`;
    // Starts before the last newline. A write that lacks only this newline is complete.
    for (let cut = bytes.length - 2; cut > old.bytes; cut -= cut > bytes.length - 300 ? 1 : 97) {
      writeFileSync(cutPath, bytes.subarray(0, cut));
      expect(shown(await loadSession(cutPath))).toBe(shown(old));
      if (cut % 7 === 0) expect(shown(await resumeSession(cutPath))).toBe(shown(old));
    }
    truncateSync(path, bytes.length - 1);
    expect(shown(await loadSession(path))).toBe(whole);
  });

  it("an undo refuses to write when another program has written to the session in the meantime", async () => {
    const { path } = await compacted(version);
    const undo = undoSession(await loadSession(path));
    appendFileSync(path, `${JSON.stringify({ type: "custom-title", customTitle: "meanwhile" })}\n`);
    const bytes = readFileSync(path);
    expect(await codeOf(() => writeUndo(undo, { mode: "in-place" }))).toBe("session-changed");
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("the list of sessions shows the context size after an undo", async () => {
    const { path } = await compacted(version);
    const home = join(folder, `home-${files}`);
    const undo = undoSession(await loadSession(path));
    await writeUndo(undo, { mode: "in-place" });
    const listed = join(home, ".longhaul", "projects", "0123456789abcdef", "listed.jsonl");
    await writeNewSession(listed, []);
    copyFileSync(path, listed);
    const [listing] = await listSessions({ home, env: {} });
    expect(listing?.contextTokens).toBe(undo.tokensAfter);
    const { conversation } = await loadSession(path);
    expect(contextTokens(conversation) / undo.tokensAfter).toBeCloseTo(1, 2);
  });

  it("longhaul still knows which messages the notes cover after an undo", async () => {
    const { path } = await compacted(version);
    const session = await loadSession(path);
    const noted = session.conversation.at(-1)?.uuid;
    await writeUndo(undoSession(session), { mode: "in-place" });
    const coverage = coverageOf({ coveredUuid: noted }, sessionHistory(await loadSession(path)));
    expect(coverage.state).toBe("known");
  });

  it("an undo into a new session leaves no steps to undo or redo there, and keeps the original unchanged", async () => {
    const { path, before } = await compacted(version);
    const bytes = readFileSync(path);
    const out = join(folder, `out-${files}.jsonl`);
    const undo = undoSession(await loadSession(path));
    await writeUndo(undo, { mode: "new-session", path: out });
    const written = await loadSession(out);
    expect(shown(written).startsWith(shown(before).slice(0, -1))).toBe(true);
    expect(undoableSteps(written)).toEqual([]);
    expect(await codeOf(() => undoSession(written))).toBe("nothing-to-undo");
    expect(await codeOf(() => undoSession(written, { redo: true }))).toBe("nothing-to-redo");
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("an undo reverts several steps at once, and one redo restores them", async () => {
    const { path, before } = await compacted(version);
    const [compaction] = undoableSteps(await loadSession(path));
    await writeClearing(clearSession(await loadSession(path), { keepNewest: 1 }), { mode: "in-place" });
    const session = await loadSession(path);
    expect(undoableSteps(session).map(({ kind }) => kind)).toEqual(["compaction", "compaction"]);
    await writeUndo(undoSession(session, { to: compaction?.line.uuid }), { mode: "in-place" });
    expect(shown(await loadSession(path)).startsWith(shown(before).slice(0, -1))).toBe(true);
    await writeUndo(undoSession(await loadSession(path), { redo: true }), { mode: "in-place" });
    expect(shown(await loadSession(path))).toBe(shown(session));
    expect(await codeOf(() => undoSession(session, { to: "nothing" }))).toBe("undo-step-not-found");
  });
});

describe("other programs that read a session with an undo", () => {
  it("a reader that follows parent links from the newest line finds the restored and later messages", async () => {
    const { path, before } = await compacted();
    await writeUndo(undoSession(await loadSession(path)), { mode: "in-place" });
    const entries = (await loadSession(path)).entries;
    const byUuid = new Map(entries.map((entry) => [entry.uuid, entry]));
    const chain: Entry[] = [];
    for (let line = entries.at(-1); line !== undefined; line = byUuid.get(line.parentUuid ?? ""))
      chain.unshift(line);
    expect(chain.some(isCompactBoundary)).toBe(false);
    expect(chain.filter(isUndoMark)).toHaveLength(1);
    expect(shown({ conversation: chain }).startsWith(shown(before).slice(0, -1))).toBe(true);
    expect(shown({ conversation: chain })).toContain("later");
  });

  it("a reader that starts at the last boundary, like Claude Code, finds the restored conversation", async () => {
    const { path, before } = await compacted("2.1.219");
    await writeUndo(undoSession(await loadSession(path)), { mode: "in-place" });
    const { entries } = await loadSession(path);
    const after = entries.slice(entries.findLastIndex(isCompactBoundary));
    for (const [at, entry] of after.entries()) expect(entry.parentUuid).toBe(after[at - 1]?.uuid ?? null);
    expect(shown({ conversation: after }).startsWith(shown(before).slice(0, -1))).toBe(true);
  });
});
