import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { linesOf, writeNewSession } from "./whole-file.ts";

const folder = temporaryFolder();

function entries(count: number): ConversationBuilder["entries"] {
  const b = new ConversationBuilder();
  for (let nth = 0; nth < count; nth++) b.user(`entry ${nth}`);
  return b.entries;
}

describe("writeNewSession", () => {
  it("writes all entries to a file that only its owner can read, and leaves no temporary file behind", async () => {
    const path = join(folder, "a", "new.jsonl");
    await writeNewSession(path, entries(1_000));
    expect(readFileSync(path, "utf8")).toBe(linesOf(entries(1_000)));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, "a"))).toEqual(["new.jsonl"]);
  });

  it("never overwrites an existing file with a new session", async () => {
    const path = join(folder, "there.jsonl");
    writeFileSync(path, "theirs");
    await expect(writeNewSession(path, entries(1))).rejects.toMatchObject({
      code: "session-not-written",
      message: expect.stringMatching(/exists already.*Nothing was changed/),
    });
    expect(readFileSync(path, "utf8")).toBe("theirs");
  });

  it("when several writers create a session at one path, exactly one succeeds and writes its whole session", async () => {
    const path = join(folder, "race", "one.jsonl");
    mkdirSync(join(folder, "race"));
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => writeNewSession(path, entries(500))));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(readFileSync(path, "utf8")).toBe(linesOf(entries(500)));
    expect(readdirSync(join(folder, "race"))).toEqual(["one.jsonl"]);
  });

  it("leaves no file behind when writing a new session fails midway", async () => {
    const bad = [...entries(300), { type: "huge" as "(any other)", value: 1n }];
    const path = join(folder, "half", "s.jsonl");
    await expect(writeNewSession(path, bad)).rejects.toMatchObject({ code: "session-not-written" });
    expect(readdirSync(join(folder, "half"))).toEqual([]);
  });

  it("fails when the parent folder of a new session is a file", async () => {
    writeFileSync(join(folder, "file"), "");
    await expect(writeNewSession(join(folder, "file", "s.jsonl"), entries(1))).rejects.toMatchObject({
      code: "session-not-written",
    });
    expect(existsSync(join(folder, "file", "s.jsonl"))).toBe(false);
  });
});
