import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { withClearedResults } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import {
  buildNotes,
  compactSession,
  loadSession,
  notesPath,
  openRecall,
  readNotes,
  resumeSession,
  rewindPoints,
  rewindSession,
  sessionLedgers,
  undoNotes,
  undoSession,
  writeCompaction,
  writeUndo,
} from "@longhaul/sessions";
import { beforeEach, describe, expect, it } from "vitest";
import { isCompactBoundary } from "../../packages/core/src/messages/entry.ts";
import { peekSession } from "../../packages/sessions/src/transcript/list-sessions.ts";
import { linesOf } from "../../packages/sessions/src/transcript/whole-file.ts";
import { ConversationBuilder, image, toolResult } from "../support/builders.ts";
import { codeOf } from "../support/long-session.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const folder = temporaryFolder();
let files = 0;
let path: string;
beforeEach(() => {
  path = join(folder, `session-${++files}.jsonl`);
});

const append = (entries: readonly Entry[]): void => appendFileSync(path, linesOf(entries));

/**
 * Appends this many prompts. Each has a read and an answer that contain `name`. Returns the uuids of the
 * prompts.
 */
async function talk(name: string, count: number): Promise<readonly string[]> {
  const c = new ConversationBuilder(name);
  const leaf = files > 0 ? await leafOf() : undefined;
  const prompts: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    prompts.push(c.user(`${name} ${nth}`).uuid);
    c.tool(`${name}-${nth}`, "Read", { file_path: `/${name}.ts` }, `found ${name} ${nth} `.repeat(150));
    c.assistant(`done ${name} ${nth}`);
  }
  const [first, ...rest] = c.entries;
  append([{ ...first, parentUuid: leaf ?? null } as Entry, ...rest]);
  return prompts;
}

const leafOf = async (): Promise<string | undefined> =>
  (await resumeSession(path).catch(() => undefined))?.leafUuid;

const compacted = async (): Promise<void> => {
  const result = await compactSession(await loadSession(path), { keepRecentTokens: 1_500, force: true });
  await writeCompaction(result, { mode: "in-place" });
};

const undone = async (): Promise<void> => {
  await writeUndo(undoSession(await loadSession(path)), { mode: "in-place" });
};

async function sent(): Promise<string> {
  const { conversation, clearedToolUseIds } = await loadSession(path);
  return JSON.stringify(flatten(withClearedResults(conversation, clearedToolUseIds)));
}

/**
 * Rewinds to the prompt and writes the mark. Checks that a full read and a read from the end both return the
 * conversation before the prompt.
 */
async function rewind(prompt: string): Promise<Entry> {
  const { conversation, leafUuid, mark } = await rewindSession(path, prompt);
  expect(mark.parentUuid).toBe(leafUuid ?? null);
  append([mark]);
  const [whole, resumed] = [await loadSession(path), await resumeSession(path)];
  expect(resumed.conversation).toEqual(whole.conversation);
  expect([whole.leafUuid, resumed.leafUuid]).toEqual([mark.uuid, mark.uuid]);
  expect(await sent()).toBe(JSON.stringify(flatten(conversation)));
  expect(whole.damage).toEqual([]);
  return mark;
}

describe("sessions that are rewound to an earlier prompt", () => {
  it("a session rewound to its first prompt is empty and continues from there", async () => {
    const [first = ""] = await talk("old", 3);
    const mark = await rewind(first);
    expect(mark.parentUuid).toBeNull();
    expect(await sent()).toBe("[]");
    await talk("new", 1);
    expect(await sent()).toContain("done new 0");
    expect(await sent()).not.toContain("old");
    expect((await rewindPoints(path)).map(({ text }) => text)).toEqual(["new 0"]);
  });

  it("a session rewound to before compactions equals the earlier conversation, kept messages included", async () => {
    const before: string[] = [];
    const prompts: string[] = [];
    for (const name of ["a", "b", "c"]) {
      for (const nth of [0, 1, 2]) {
        before.push(await sent().catch(() => "[]"));
        prompts.push(...(await talk(`${name}${nth}`, 1)));
      }
      await compacted();
    }
    for (const nth of [7, 4, 2, 8, 0, 5]) {
      await rewind(prompts[nth] ?? "");
      expect(await sent()).toBe(before[nth]);
    }
    await talk("later", 4);
    await compacted();
    expect(await sent()).toContain("later 3");
    await undone();
    expect(await sent()).toContain(before[5]?.slice(1, -1));
    expect(await sent()).toContain("later 0");
  });

  it("a compaction after a rewind can keep messages that an abandoned compaction had also kept", async () => {
    const prompts = await talk("a", 6);
    await compacted();
    await rewind(prompts[5] ?? "");
    await talk("new", 3);
    const result = await compactSession(await loadSession(path), { from: prompts[4], force: true });
    await writeCompaction(result, { mode: "in-place" });
    const { conversation } = await loadSession(path);
    const said = conversation.filter(({ type }) => type === "assistant");
    expect(said.filter((entry) => JSON.stringify(entry).includes("done a"))).toHaveLength(4);
    expect(conversation.filter((entry) => isCompactBoundary(entry))).toHaveLength(1);
    expect((await resumeSession(path)).conversation).toEqual((await loadSession(path)).conversation);
  });

  it("resuming a rewound session reads the file from its end only as far as needed", async () => {
    await talk("long", 30);
    await compacted();
    const [prompt = ""] = await talk("more", 2);
    await compacted();
    await talk("last", 2);
    await rewind(prompt);
    const { bytesRead, bytes, boundary } = await resumeSession(path);
    expect(bytesRead).toBeLessThan(bytes / 2);
    expect(boundary).toBeDefined();
  });

  it("a list of sessions shows the size of the rewound session", async () => {
    const [, second = ""] = await talk("old", 20);
    await rewind(second);
    const { bytes } = await loadSession(path);
    const { contextTokens = 0 } = await peekSession(path, bytes);
    expect(contextTokens).toBeGreaterThan(100);
    expect(contextTokens).toBeLessThan(2_000);
  });

  it("a second rewind can return to a prompt of the conversation that the first rewind abandoned", async () => {
    const [, second = "", third = ""] = await talk("one", 3);
    await rewind(second);
    const [other = ""] = await talk("two", 2);
    const withTwo = await sent();
    await rewind(other);
    expect(withTwo).toContain("two 0");
    expect(await sent()).not.toContain("two 0");
    await rewind(third);
    expect(await sent()).toContain("done one 1");
  });

  it("an undo after a rewind covers only the steps that led to the rewound conversation", async () => {
    const [first = ""] = await talk("one", 6);
    await compacted();
    const [second = ""] = await talk("two", 1);
    await compacted();
    await rewind(second);
    const steps = undoSession(await loadSession(path));
    expect(JSON.stringify(flatten(steps.restored))).toContain("one 0");
    await rewind(first);
    expect(await codeOf(async () => undoSession(await loadSession(path)))).toBe("nothing-to-undo");
  });

  it("recall finds messages that a rewind abandoned, and the abandoned ledger is marked as not current", async () => {
    const [, second = ""] = await talk("one", 6);
    await compacted();
    await talk("quetzal", 1);
    const recall = openRecall(path);
    const found = async (): Promise<readonly boolean[]> =>
      (await recall.search({ words: "quetzal", all: true })).hits.map(({ isInContext }) => isInContext);
    expect(await found()).toContain(true);
    await rewind(second);
    await talk("new", 1);
    expect(new Set(await found())).toEqual(new Set([false]));
    expect((await recall.search({ exact: "Conversation rewound", all: true })).hits).toEqual([]);
    const ledgers = sessionLedgers(await loadSession(path));
    expect(ledgers.map(({ isInChain }) => isInChain)).toEqual([false]);
  });
});

describe("the session notes after a rewind", () => {
  const noted = async (): Promise<string> => (await readNotes(await loadSession(path)))?.text ?? "";
  const notesAfterRewind = async (prompt: string): Promise<string> => {
    await rewind(prompt);
    await undoNotes(await loadSession(path));
    return await noted();
  };

  it("undoNotes drops messages that a rewind abandoned and keeps all earlier notes, across compactions", async () => {
    await talk("early", 5);
    await compacted();
    await talk("middle", 1);
    const [left = ""] = await talk("quetzal", 2);
    await buildNotes(await loadSession(path));
    expect(await noted()).toContain("quetzal 1");
    const notes = await notesAfterRewind(left);
    for (const known of ["early 0", "middle 0"]) expect(notes).toContain(known);
    expect(notes).not.toContain("quetzal");
    const { coverage } = (await readNotes(await loadSession(path))) ?? {};
    expect(coverage).toMatchObject({ state: "known", fresh: [] });
  });

  it("undoNotes leaves empty notes when the session is rewound to its start", async () => {
    const [first = ""] = await talk("left", 2);
    await buildNotes(await loadSession(path));
    expect(await notesAfterRewind(first)).toBe("");
  });

  it("undoNotes keeps notes unchanged if they cover no abandoned message or name no covered message", async () => {
    await talk("early", 2);
    const { text } = await buildNotes(await loadSession(path));
    const [left = ""] = await talk("left", 1);
    expect(await notesAfterRewind(left)).toBe(text);
    const own = text.replace(/<!-- longhaul: .*-->/, "").replace("early 0", "left, says a person");
    writeFileSync(notesPath(path), own);
    await undoNotes(await loadSession(path));
    expect(await noted()).toBe(own);
  });
});

it("a prompt without a parent has no messages before it, whatever precedes it in the file", async () => {
  await talk("old", 2);
  const c = new ConversationBuilder("root");
  const { uuid } = c.user("begin anew");
  append(c.entries);
  await rewind(uuid);
  expect(await sent()).toBe("[]");
});

describe("rewind points of a session", () => {
  it("rewind points are the user's messages, newest first, each with the number of compactions since then", async () => {
    await talk("a", 3);
    await compacted();
    await talk("b", 2);
    await compacted();
    await talk("c", 1);
    const points = await rewindPoints(path);
    expect(points.map(({ text, compactionsSince }) => `${text} ${compactionsSince}`)).toEqual([
      "c 0 0",
      "b 1 1",
      "b 0 1",
      "a 2 2",
      "a 1 2",
      "a 0 2",
    ]);
    for (const { timestamp } of points) expect(Date.parse(timestamp)).not.toBeNaN();
  });

  it("an undo duplicates no rewind point, and each point still leads to its place in the conversation", async () => {
    await talk("a", 6);
    await compacted();
    const before = await sent();
    const [said = ""] = await talk("b", 1);
    await undone();
    expect((await rewindPoints(path)).map(({ text }) => text)).toEqual([
      "b 0",
      ...[5, 4, 3, 2, 1, 0].map((nth) => `a ${nth}`),
    ]);
    expect((await rewindPoints(path))[0]).toMatchObject({ uuid: said, compactionsSince: 0 });
    await rewind(said);
    expect(await sent()).toBe(before);
  });

  it("results, summaries, reminders and commands are no rewind points, but images are", async () => {
    const c = new ConversationBuilder();
    c.user("look");
    c.user([image()]);
    c.tool("t1", "Read", { file_path: "/f" });
    const result = c.user([toolResult("t1", "seen")]);
    const meta = c.user("<system-reminder>mind</system-reminder>", { isMeta: true });
    const command = c.user("<command-name>/compact</command-name>");
    c.boundary();
    const summary = c.summary("what was");
    c.user("go on");
    writeFileSync(path, linesOf(c.entries));
    expect((await rewindPoints(path)).map(({ text }) => text)).toEqual(["go on", "[image]", "look"]);
    for (const { uuid } of [result, meta, command, summary, { uuid: "nobody" }]) {
      expect(await codeOf(() => rewindSession(path, uuid))).toBe("message-not-found");
    }
  });
});
