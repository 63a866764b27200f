import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { measureNotes, NOTES_LIMITS } from "../../../notes/src/notes-format.ts";
import { loadSession } from "../transcript/load.ts";
import { notesFile } from "./notes-file.ts";
import { buildNotes, counterFor, readNotes } from "./session-notes.ts";

const folder = temporaryFolder();

describeRecorded("notes of recorded sessions", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "notes of %s stay within their limits, are up to date, and read back as written",
    async (name, path) => {
      const session = await loadSession(path);
      const file = notesFile(join(folder, `${name}.notes.md`));
      const countTokens = counterFor(session);
      const built = await buildNotes(session, { file });
      expect(built).toMatchObject({
        outcome: "built",
        isWritten: true,
        coverage: { state: "known", fresh: [] },
      });
      const { tokens, sections } = measureNotes(built.notes, countTokens);
      expect(tokens).toBeLessThanOrEqual(NOTES_LIMITS.totalTokens);
      for (const section of sections) expect(section.tokens).toBeLessThanOrEqual(NOTES_LIMITS.sectionTokens);
      expect((await readNotes(session, { file }))?.notes).toEqual(built.notes);
      expect(await buildNotes(session, { file })).toMatchObject({ outcome: "up-to-date", isWritten: false });
    },
  );
});
