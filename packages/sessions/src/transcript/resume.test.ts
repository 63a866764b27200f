import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { sessionArbitrary } from "../../../../test/transcript/session-generator.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { loadSession } from "./load.ts";
import { resumeSession } from "./resume.ts";
import { linesOf } from "./whole-file.ts";

const folder = temporaryFolder();
const path = join(folder, "session.jsonl");

/** Damage to a file: its kind, a number that chooses the line, and a number that chooses a second line. */
type Fault = readonly [
  kind: "drop" | "tear" | "glue" | "repeat" | "re-parent" | "swap",
  line: number,
  other: number,
];

const faultArbitrary: fc.Arbitrary<Fault> = fc.tuple(
  fc.constantFrom(
    "drop" as const,
    "tear" as const,
    "glue" as const,
    "repeat" as const,
    "re-parent" as const,
    "swap" as const,
  ),
  fc.nat(),
  fc.nat(),
);

function withFaults(entries: readonly Entry[], faults: readonly Fault[]): string {
  const lines = entries.map((entry) => JSON.stringify(entry));
  for (const [kind, nth, mth] of faults) {
    const [at, other] = [nth % lines.length, mth % lines.length];
    const [line = "", otherLine = ""] = [lines[at], lines[other]];
    if (kind === "drop" && lines.length > 1) lines.splice(at, 1);
    else if (kind === "tear") lines[at] = line.slice(0, line.length / 2);
    else if (kind === "glue") lines.splice(at, 2, line + (lines[at + 1] ?? ""));
    else if (kind === "repeat") lines.splice(other, 0, line);
    else if (kind === "swap") [lines[at], lines[other]] = [otherLine, line];
    else {
      const uuid = /"uuid":"([^"]*)"/.exec(otherLine)?.[1] ?? "in-no-line";
      lines[at] = line.replace(/"parentUuid":(?:null|"[^"]*")/, `"parentUuid":"${uuid}"`);
    }
  }
  return `${lines.join("\n")}\n`;
}

describe("resumeSession", () => {
  it("resumes the same conversation as a full load", async () => {
    await fc.assert(
      fc.asyncProperty(sessionArbitrary, async ({ lines }) => {
        writeFileSync(path, linesOf(lines));
        const [loaded, resumed] = [await loadSession(path), await resumeSession(path)];
        expect(resumed.conversation).toEqual(loaded.conversation);
        expect(resumed.leafUuid).toBe(loaded.leafUuid);
        expect(resumed.clearedToolUseIds).toEqual(loaded.clearedToolUseIds);
        expect(resumed.boundary).toEqual(loaded.boundaries.find(({ isCurrent }) => isCurrent)?.boundary);
      }),
      { numRuns: 500 },
    );
  });

  it("a resume of a file with damaged or misordered lines reads the same conversation as a full load", async () => {
    await fc.assert(
      fc.asyncProperty(
        sessionArbitrary,
        fc.array(faultArbitrary, { minLength: 1, maxLength: 4 }),
        async ({ lines }, faults) => {
          writeFileSync(path, withFaults(lines, faults));
          const outcome = (session: Promise<{ readonly conversation: readonly Entry[] }>): Promise<unknown> =>
            session.then(
              ({ conversation }) => conversation,
              (error: unknown) => error,
            );
          expect(await outcome(resumeSession(path))).toEqual(await outcome(loadSession(path)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("a resume keeps the order of messages if a kept line is repeated below the boundary", async () => {
    const b = new ConversationBuilder();
    const kept = b.user("kept");
    b.boundary({ preservedMessages: { anchorUuid: "", uuids: [kept.uuid] } });
    b.push({ ...b.link(), type: "attachment", attachment: { type: "session_context" } } as Entry);
    b.summary("summary");
    b.user("later");
    for (const at of [2, 3, 4]) {
      writeFileSync(path, linesOf(b.entries.toSpliced(at, 0, kept)));
      const { conversation } = await resumeSession(path);
      expect(conversation).toEqual((await loadSession(path)).conversation);
      expect(conversation).toHaveLength(b.entries.length);
    }
  });

  describeRecorded("resuming recorded sessions", () => {
    it.each(claudeCodeSessions().map((recorded) => [basename(recorded), recorded]))(
      "resumes the same conversation as a full load of %s",
      async (_, recorded) => {
        const [loaded, resumed] = [await loadSession(recorded), await resumeSession(recorded)];
        expect(resumed.conversation).toEqual(loaded.conversation);
        expect(resumed.id).toBe(loaded.id);
        expect(resumed.model).toBe(loaded.model);
      },
    );
  });

  it("a resume reads the file backward only to the last boundary", async () => {
    const b = new ConversationBuilder();
    for (let turn = 0; turn < 200; turn++) b.user("x".repeat(10_000));
    b.boundary();
    b.summary("summary");
    b.user("later");
    writeFileSync(path, linesOf(b.entries));
    const resumed = await resumeSession(path);
    expect(resumed.conversation).toEqual(b.entries.slice(-3));
    expect(resumed.bytesRead).toBe(Buffer.byteLength(linesOf(b.entries.slice(-3))));
  });

  it("a resume reads upward to the first kept message if that message is above the boundary", async () => {
    const b = new ConversationBuilder();
    for (let turn = 0; turn < 100; turn++) b.user("x".repeat(10_000));
    const [head, tail] = [b.user("head"), b.user("tail")];
    b.boundary({ preservedSegment: { headUuid: head.uuid, anchorUuid: "e-104", tailUuid: tail.uuid } });
    b.summary("summary");
    b.user("later", { parentUuid: tail.uuid });
    writeFileSync(path, linesOf(b.entries));
    const resumed = await resumeSession(path);
    expect(resumed.conversation.map((entry) => entry.uuid)).toEqual([
      "e-103",
      "e-104",
      "e-101",
      "e-102",
      "e-105",
    ]);
    expect(resumed.bytesRead).toBe(Buffer.byteLength(linesOf(b.entries.slice(-5))));
  });

  it("a resume reads above a kept summary, because more kept messages may belong to that summary", async () => {
    const b = new ConversationBuilder();
    b.user("old");
    b.user("kept twice");
    b.boundary({ preservedSegment: { headUuid: "e-2", anchorUuid: "e-4", tailUuid: "e-2" } });
    b.summary("first");
    b.user("kept once");
    b.boundary({ preservedSegment: { headUuid: "e-4", anchorUuid: "e-6", tailUuid: "e-5" } });
    b.summary("second");
    b.user("leaf");
    writeFileSync(path, linesOf(b.entries));
    const resumed = await resumeSession(path);
    expect(resumed.conversation.map(({ uuid }) => uuid)).toEqual(["e-6", "e-4", "e-2", "e-5", "e-7", "e-8"]);
  });

  it("a resume does not stop at a boundary that a tool result only quotes", async () => {
    const b = new ConversationBuilder();
    b.user("first");
    b.boundary();
    b.summary("summary");
    b.assistant([toolUse("a", "Read", {})]);
    const said = '{"type":"system","subtype":"compact_boundary"}';
    b.user([toolResult("a", said)], { toolUseResult: { type: "system", subtype: "compact_boundary" } });
    writeFileSync(path, linesOf(b.entries));
    expect((await resumeSession(path)).conversation).toEqual(b.entries.slice(1));
  });

  it("a resume reads above the boundary if the user rewound to a message before that boundary", async () => {
    const b = new ConversationBuilder();
    for (let turn = 0; turn < 50; turn++) b.user(`turn ${turn}`);
    b.boundary();
    b.summary("summary");
    b.user("another way", { parentUuid: "e-40" });
    writeFileSync(path, linesOf(b.entries));
    const resumed = await resumeSession(path);
    expect(resumed.conversation).toEqual([...b.entries.slice(0, 40), ...b.entries.slice(-1)]);
  });

  it("a resume reports a damaged line with its byte offset and without a line number", async () => {
    const b = new ConversationBuilder();
    b.user("first");
    b.boundary();
    b.summary("summary");
    const text = `${linesOf(b.entries)}garbage\n`;
    writeFileSync(path, text);
    const { damage } = await resumeSession(path);
    expect(damage).toEqual([{ kind: "broken-line", line: undefined, offset: text.length - 8, bytes: 7 }]);
  });
});
