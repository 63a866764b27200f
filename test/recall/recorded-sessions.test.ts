import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { loadSession, openRecall } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { documentsOf } from "../../packages/sessions/src/recall/documents.ts";
import { claudeCodeSessions, describeRecorded } from "../support/real-sessions.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { indexDump } from "./session-file.ts";

/** The test checks only every 37th text of a session, because all of them would take minutes. */
const EVERY = 37;
const SENTENCE = /[^.!?\n]{12,160}[.!?\n]/;

describeRecorded("recall over the recorded sessions", () => {
  const folder = temporaryFolder();

  it.each(claudeCodeSessions().map((path) => [basename(path), path] as const))(
    "recall finds any sentence that left the context of %s, and returns its message by id",
    async (name, recorded) => {
      const path = join(folder, name);
      copyFileSync(recorded, path);
      const { entries, conversation } = await loadSession(path);
      const shown = new Set(conversation.map(({ uuid }) => uuid));
      const recall = openRecall(path);
      const old = entries.filter(({ uuid }) => uuid !== undefined && !shown.has(uuid));
      const documents = old.flatMap((entry) =>
        documentsOf(entry)
          .filter(({ kind }) => kind !== "summary")
          .map((document) => ({ entry, document })),
      );
      for (let at = 0; at < documents.length; at += EVERY) {
        const { entry, document } = documents[at] ?? {};
        const sentence = SENTENCE.exec(document?.text ?? "")?.[0];
        if (sentence === undefined || entry?.uuid === undefined) continue;
        const { hits } = await recall.search({ exact: sentence, limit: 5_000 });
        // The assertions print no text of a session, because the texts are private.
        expect(hits.some(({ id }) => id === entry.uuid)).toBe(true);
        expect((await recall.read(entry.uuid)).pieces.length > 0).toBe(true);
      }
    },
  );

  it("a recall index that was extended step by step equals an index that was built at once", async () => {
    const [recorded = ""] = claudeCodeSessions().slice(2);
    const bytes = readFileSync(recorded);
    const path = join(folder, "growing.jsonl");
    for (const share of [0.4, 0.7, 0.71, 1]) {
      const end = share === 1 ? bytes.length : bytes.lastIndexOf(0x0a, bytes.length * share) + 1;
      writeFileSync(path, bytes.subarray(0, end));
      await indexDump(path);
    }
    const anew = join(folder, "anew.jsonl");
    writeFileSync(anew, bytes);
    expect((await indexDump(path)) as unknown[]).toEqual(await indexDump(anew));
  });
});
