import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { longSession } from "../../../../test/support/long-session.ts";
import { sessionWriter } from "../../../../test/transcript/written-session.ts";
import { measureNotes, NOTES_LIMITS, type Notes, type NotesFile } from "../../../notes/src/notes-format.ts";
import { NOTES_TEMPLATE } from "../../../notes/src/template.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { linesOf } from "../transcript/whole-file.ts";
import { compactSession, writeCompaction } from "./compact-session.ts";
import { notesFile, notesPath } from "./notes-file.ts";
import { buildNotes, counterFor, readNotes } from "./session-notes.ts";

const write = sessionWriter();

async function append(session: Session, c: ConversationBuilder): Promise<Session> {
  const [first, ...rest] = c.entries;
  appendFileSync(session.path, linesOf([{ ...first, parentUuid: session.leafUuid } as Entry, ...rest]));
  return loadSession(session.path);
}

const bodyOf = ({ sections }: Notes, name: string): string =>
  sections.find(({ heading }) => heading === `# ${name}`)?.body ?? "";

describe("building notes for a session without notes", () => {
  it("builds a notes file beside the session without a model, and leaves the session file unchanged", async () => {
    const session = await write(longSession(30).entries);
    const before = readFileSync(session.path);
    expect(await readNotes(session)).toBeUndefined();
    const built = await buildNotes(session);
    expect(built).toMatchObject({ outcome: "built", by: "built-in", calls: 0, isWritten: true });
    expect(built.path).toBe(notesPath(session.path));
    expect(readFileSync(built.path, "utf8")).toBe(built.text);
    expect(statSync(built.path).mode & 0o777).toBe(0o600);
    expect(readFileSync(session.path).equals(before)).toBe(true);
    expect(built.notes.coveredUuid).toBe(session.leafUuid);
    expect(built.text).toContain("part 29");
    expect(built.coverage).toMatchObject({ state: "known", upTo: { uuid: session.leafUuid }, fresh: [] });
  });

  it("keeps built notes within their token limits", async () => {
    const session = await write(longSession(120).entries);
    const countTokens = counterFor(session);
    const { notes } = await buildNotes(session, { countTokens });
    const { tokens, sections } = measureNotes(notes, countTokens);
    expect(tokens).toBeLessThanOrEqual(NOTES_LIMITS.totalTokens);
    for (const section of sections) expect(section.tokens).toBeLessThanOrEqual(NOTES_LIMITS.sectionTokens);
  });

  it("builds notes about the whole session, including compacted messages", async () => {
    const session = await write(longSession(20).entries);
    const compaction = await compactSession(session, { keepRecentTokens: 0, restoreFiles: false });
    await writeCompaction(compaction, { mode: "in-place" });
    const compacted = await loadSession(session.path);
    const built = await buildNotes(compacted);
    expect(built.messages).toBeGreaterThan(60);
    expect(bodyOf(built.notes, "Task Specification")).toContain("request 0");
    // The notes also cover the summary in the context, which only repeats noted messages.
    expect(compacted.conversation.map(({ uuid }) => uuid)).toContain(built.notes.coveredUuid);
  });

  it("a dry run returns the built notes without writing them", async () => {
    const session = await write(longSession(5).entries);
    const built = await buildNotes(session, { dryRun: true });
    expect(built).toMatchObject({ outcome: "built", isWritten: false });
    expect(built.text).toContain("part 4");
    expect(existsSync(built.path)).toBe(false);
  });

  it("builds notes only up to the last message before a tool call that waits for its result", async () => {
    const c = longSession(5);
    const closed = c.entries.at(-1);
    c.user("one more");
    c.tool("open", "Bash", { command: "make" });
    const built = await buildNotes(await write(c.entries));
    expect([closed?.uuid, c.entries.at(-2)?.uuid]).toContain(built.notes.coveredUuid);
    expect(await buildNotes(await loadSession(built.path.replace(".notes.md", ".jsonl")))).toMatchObject({
      outcome: "up-to-date",
    });
  });

  it("fills an existing notes file that has only empty sections, and keeps the text above them", async () => {
    const session = await write(longSession(5).entries);
    writeFileSync(notesPath(session.path), `Mine, above.\n\n${NOTES_TEMPLATE}`);
    const built = await buildNotes(session);
    expect(built.outcome).toBe("built");
    expect(built.notes.preface).toBe("Mine, above.");
  });

  it("builds notes with the sections of a custom template, which later runs read from the file", async () => {
    const session = await write(longSession(5).entries);
    const template = "# Worklog\n_What was done._\n\n# Mood\n_How it felt._\n";
    const built = await buildNotes(session, { template });
    expect(built.notes.sections.map(({ heading }) => heading)).toEqual(["# Worklog", "# Mood"]);
    const read = await readNotes(session);
    expect(read?.notes).toEqual(built.notes);
    expect((await buildNotes(session)).outcome).toBe("up-to-date");
  });
});

describe("updating existing notes", () => {
  it("does not rewrite notes when nothing is new", async () => {
    const session = await write(longSession(5).entries);
    const { path } = await buildNotes(session);
    const before = statSync(path, { bigint: true });
    expect(await buildNotes(session)).toMatchObject({ outcome: "up-to-date", isWritten: false, messages: 0 });
    expect(statSync(path, { bigint: true })).toMatchObject({ ino: before.ino, mtimeNs: before.mtimeNs });
  });

  it("updates notes only from new messages, and keeps a person's edits", async () => {
    const session = await write(longSession(20).entries);
    const { path, text } = await buildNotes(session);
    writeFileSync(
      path,
      text
        .replace("# Learnings\n", "above\n\n# Learnings\n")
        .replace(/(# Learnings\n_.*_\n)/, "$1\n- A person learned this.\n"),
    );
    const c = new ConversationBuilder("new");
    c.user("now write the harbour report");
    c.assistant("The harbour report is written.");
    const longer = await append(session, c);
    const updated = await buildNotes(longer);
    expect(updated).toMatchObject({ outcome: "updated", messages: 2, isWritten: true });
    expect(updated.notes.coveredUuid).toBe(longer.leafUuid);
    expect(bodyOf(updated.notes, "Learnings")).toContain("A person learned this.");
    expect(updated.text).toContain("harbour report");
    expect(updated.text).toContain("above");
  });

  it.each([
    ["do not say how far they reach", (text: string) => text.replace(/^<!--.*-->\n+/, ""), /do not say/],
    [
      "name a message of another session",
      (text: string) => text.replace(/message \S+ /, "message x-9 "),
      /x-9/,
    ],
  ])("does not change notes that %s, unless a rebuild is requested", async (_, changed, message) => {
    const session = await write(longSession(5).entries);
    const { path, text } = await buildNotes(session);
    const theirs = changed(text).replace("# Session Title", "Kept above.\n\n# Session Title");
    writeFileSync(path, theirs);
    await expect(buildNotes(session)).rejects.toMatchObject({ code: "notes-unplaced", message });
    expect(readFileSync(path, "utf8")).toBe(theirs);
    const rebuilt = await buildNotes(session, { rebuild: true });
    expect(rebuilt).toMatchObject({ outcome: "rebuilt", isWritten: true });
    expect(rebuilt.notes.preface).toBe("Kept above.");
    expect((await buildNotes(session)).outcome).toBe("up-to-date");
  });

  it("messages do not count as noted when no section of the notes can be filled without a model", async () => {
    const session = await write(longSession(30).entries);
    const { uuid = "" } = session.entries[3] ?? {};
    const own = `<!-- longhaul: noted up to message ${uuid} -->\n\n# Goals\n_What we want._\n\nA harbour.\n`;
    writeFileSync(notesPath(session.path), own);
    const built = await buildNotes(session);
    expect(built.text).toBe(own);
    expect(built.coverage).toMatchObject({ state: "known", upTo: { uuid } });
  });

  it("does not change notes whose sections differ from the template, unless a rebuild is requested", async () => {
    const session = await write(longSession(5).entries);
    const { path, text } = await buildNotes(session);
    const template = "# Log\n_What was done._\n";
    await expect(buildNotes(session, { template })).rejects.toMatchObject({
      message: expect.stringMatching(/other sections/),
    });
    expect(readFileSync(path, "utf8")).toBe(text);
    const rebuilt = await buildNotes(session, { template, rebuild: true });
    expect(rebuilt.text).not.toContain("# Worklog");
  });

  it("merges an edit that a person makes while the notes are written", async () => {
    const session = await write(longSession(5).entries);
    const { path } = await buildNotes(session);
    const c = new ConversationBuilder("new");
    c.user("now write the harbour report");
    c.assistant("It is written.");
    const longer = await append(session, c);
    const updated = await buildNotes(longer, { file: editedMeanwhile(path, 1) });
    expect(updated.notes.preface).toBe("Edit 0.");
    expect(readFileSync(path, "utf8")).toBe(updated.text);
    expect(updated.text).toContain("harbour report");
    await expect(
      buildNotes(longer, { file: editedMeanwhile(path, 99), rebuild: true }),
    ).rejects.toMatchObject({
      code: "notes-changed",
    });
  });
});

/** Simulates a person who saves the file each time before we do. */
function editedMeanwhile(path: string, times: number): NotesFile {
  const file = notesFile(path);
  let edits = 0;
  return {
    ...file,
    write: (text, replacing) => {
      const current = readFileSync(path, "utf8");
      if (edits < times)
        writeFileSync(path, current.replace("# Session Title", `Edit ${edits++}.\n\n# Session Title`));
      return file.write(text, replacing);
    },
  };
}
