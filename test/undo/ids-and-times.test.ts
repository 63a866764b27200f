import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { flatten } from "@longhaul/core/request";
import type { Session } from "@longhaul/sessions";
import {
  buildNotes,
  type CompactSessionOptions,
  compactSession,
  loadSession,
  openRecall,
  readNotes,
  rewindPoints,
  undoSession,
  writeCompaction,
  writeNewSession,
  writeUndo,
} from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { chooseMessage } from "../../packages/longhaul/src/message-choice.ts";
import { promptsOf } from "../../packages/longhaul/src/prompts-report.ts";
import { coveredIn } from "../../packages/sessions/src/operations/notes-coverage.ts";
import { rewindLoaded } from "../../packages/sessions/src/operations/undo-rewind.ts";
import { SYSTEM_PORTS } from "../../packages/sessions/src/operations/write-lines.ts";
import { longSession } from "../support/long-session.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const folder = temporaryFolder();
let files = 0;

const newPath = (): string => join(folder, `session-${++files}.jsonl`);

async function session(version: string | undefined): Promise<Session> {
  const path = newPath();
  const fields = version === undefined ? {} : { version };
  await writeNewSession(
    path,
    longSession(12).entries.map((entry) => ({ ...entry, ...fields }) as Entry),
  );
  return await loadSession(path);
}

async function compacted(before: Session, options: CompactSessionOptions): Promise<Session> {
  await writeCompaction(await compactSession(before, options), { mode: "in-place" });
  return await loadSession(before.path);
}

async function undone(before: Session, redo = false): Promise<Session> {
  await writeUndo(undoSession(before, { redo }), { mode: "in-place" });
  return await loadSession(before.path);
}

const textOf = (entry: Entry | undefined): string =>
  JSON.stringify(entry === undefined ? [] : flatten([entry]));

/** Returns the message that each id names in a session, or the error. */
function named({ conversation, entries }: Session, ids: readonly string[]): readonly string[] {
  return ids.map((id) => {
    const uuid = chooseMessage(conversation, id, entries);
    return textOf(conversation.find((entry) => entry.uuid === uuid));
  });
}

const idsOf = ({ conversation }: Session): readonly string[] =>
  conversation.flatMap(({ uuid, type }) => (uuid !== undefined && type !== "system" ? [uuid] : []));

const textsOf = ({ conversation }: Session): readonly string[] =>
  conversation.filter(({ type }) => type !== "system").map(textOf);

const times = (of: Session): readonly unknown[] =>
  promptsOf(of).map(({ text, timestamp }) => [text, timestamp]);

const FORMS = [
  ["a longhaul session", undefined, { keepRecentTokens: 2_500 }],
  ["a session of Claude Code", "2.1.325", { keepRecentTokens: 2_500 }],
  ["a session of Claude Code without kept messages", "2.1.325", { keepRecentTokens: 0 }],
  // Old versions do not know preserved segments, so a compaction writes the kept messages again.
  ["a session of an old Claude Code", "1.0.117", { keepRecentTokens: 2_500 }],
] as const;

describe.each(FORMS)("%s after a compaction and its undo in place", (_, version, options) => {
  it("prompts keep their original times, however often the session is compacted and undone", async () => {
    const first = await session(version);
    let current = first;
    for (let round = 0; round < 3; round++) {
      current = await undone(await compacted(current, options));
      expect(times(current)).toEqual(times(first));
    }
  });

  it("the current and all former ids of a message find it, in full or by their beginning", async () => {
    const first = await session(version);
    const known = [idsOf(first)];
    let current = first;
    for (let round = 0; round < 3; round++) {
      const smaller = await compacted(current, options);
      current = await undone(smaller);
      expect(textsOf(current)).toEqual(textsOf(first));
      for (const ids of known) expect(named(current, ids)).toEqual(textsOf(first));
      // The undo also finds the kept messages of the compacted conversation by their ids, possibly as copies.
      const kept = idsOf(smaller).filter((id) => {
        const entry = smaller.conversation.find(({ uuid }) => uuid === id);
        return textsOf(first).includes(textOf(entry));
      });
      expect(named(current, kept).every((text) => textsOf(first).includes(text))).toBe(true);
      expect(named(current, kept)).toEqual(named(smaller, kept));
      known.push(idsOf(current));
    }
    const [asked] = promptsOf(first).slice(3);
    const beginning = asked?.uuid.slice(0, -1) ?? "";
    const candidates = idsOf(first).filter((id) => id.startsWith(beginning));
    if (candidates.length === 1) expect(named(current, [beginning])).toEqual(named(first, [beginning]));
  });

  it("a compaction from or up to a message accepts a former id of that message", async () => {
    const first = await session(version);
    const at = promptsOf(first)[6]?.uuid ?? "";
    const current = await undone(await compacted(first, options));
    for (const part of ["from", "upTo"] as const) {
      const [before, after] = [
        await compactSession(first, { [part]: at }),
        await compactSession(current, { [part]: at }),
      ];
      const shown = ({ kept }: { readonly kept: readonly Entry[] }): unknown =>
        flatten(kept.filter(({ type }) => type !== "system"));
      expect(shown(after.plan)).toEqual(shown(before.plan));
    }
  });

  it("a compaction from notes accepts notes that name a message by its former id", async () => {
    const first = await session(version);
    await buildNotes(first);
    const current = await undone(await compacted(first, options));
    const covered = (await readNotes(current))?.notes.coveredUuid;
    expect(covered).toBe(idsOf(first).at(-1));
    const keep = { leastTokens: 500, leastMessages: 1 };
    const fromNotes = { text: "The parts work.", coveredUuid: covered, keep };
    const [before, after] = [
      await compactSession(first, { fromNotes }),
      await compactSession(current, { fromNotes }),
    ];
    expect(flatten(after.plan.kept)).toEqual(flatten(before.plan.kept));
  });

  it("every id still names its message after an undo, a redo and another undo", async () => {
    const first = await session(version);
    const again = await undone(await undone(await undone(await compacted(first, options)), true));
    expect(textsOf(again)).toEqual(textsOf(first));
    expect(named(again, idsOf(first))).toEqual(textsOf(first));
    expect(times(again)).toEqual(times(first));
  });

  it("an undo into a new session keeps the old ids valid, in recall and rewind too", async () => {
    const first = await session(version);
    const smaller = await compacted(first, options);
    const path = newPath();
    await writeUndo(undoSession(smaller), { mode: "new-session", path });
    const made = await loadSession(path);
    expect(named(made, idsOf(first))).toEqual(textsOf(first));
    expect(times(made)).toEqual(times(first));
    expect((await rewindPoints(path)).map(({ timestamp }) => timestamp)).toEqual(
      (await rewindPoints(first.path)).map(({ timestamp }) => timestamp),
    );
    const prompt = promptsOf(first)[5];
    const rewound = rewindLoaded(made, prompt?.uuid ?? "", SYSTEM_PORTS);
    const wanted = rewindLoaded(first, prompt?.uuid ?? "", SYSTEM_PORTS);
    expect(flatten(rewound.conversation)).toEqual(flatten(wanted.conversation));
    const { pieces } = await openRecall(path).read(prompt?.uuid ?? "");
    expect(pieces.map(({ text, timestamp }) => [text, timestamp])).toEqual([
      [prompt?.text, prompt?.timestamp],
    ]);
  });
});

describe("notes whose last covered line is never sent to a model", () => {
  it("notes whose last covered line is never sent cover the message before that line after an undo", async () => {
    const path = newPath();
    const entries = longSession(12).entries.map((entry) => ({ ...entry, version: "2.1.325" }) as Entry);
    const { uuid: parentUuid, timestamp } = entries.at(-1) as Entry & { timestamp: string };
    const hook = { type: "system", subtype: "stop_hook_summary", content: "", uuid: "hook", parentUuid };
    await writeNewSession(path, [...entries, { ...hook, timestamp, version: "2.1.325" } as unknown as Entry]);
    const current = await undone(await compacted(await loadSession(path), { keepRecentTokens: 0 }));
    expect(textOf(current.conversation.find(({ uuid }) => uuid === coveredIn(current, "hook")))).toBe(
      textOf(entries.at(-1)),
    );
  });
});
