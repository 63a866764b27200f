import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { linesOf } from "../../packages/sessions/src/transcript/whole-file.ts";
import { unfolded } from "../support/cli.ts";
import { longSession } from "../support/long-session.ts";
import { demoHome } from "./demo-home.ts";

const { home, run, runJson } = demoHome();
let session: string;
let before: Buffer;
let made = 0;
beforeEach(() => {
  session = join(home, `short-${made++}.jsonl`);
  writeFileSync(session, linesOf(longSession(1).entries));
  before = readFileSync(session);
});

const isUnchanged = (): boolean => readFileSync(session).equals(before);

describe("longhaul compact of a session that a compaction would barely shorten", () => {
  it.each([
    [["--in-place"]],
    [["--in-place", "--keep-recent", "0"]],
    [["--in-place", "--from", "long-"]],
    [["--in-place", "--from-notes"]],
    [["--out", "shorter.jsonl"]],
  ])(
    "compact with %j exits with 1 and changes nothing when the compaction would not pay",
    async (options) => {
      const named = options.map((option) => {
        if (option === "shorter.jsonl") return join(home, option);
        return option === "long-" ? (longSession(1).entries[0]?.uuid ?? "") : option;
      });
      const { code, stdout, stderr } = await run("compact", session, ...named, "--json");
      const { error } = JSON.parse(stdout);
      expect([code, error.code]).toEqual([
        1,
        options.includes("--from-notes") ? error.code : "compaction-ineffective",
      ]);
      expect(["compaction-ineffective", "notes-not-usable"]).toContain(error.code);
      if (error.code === "compaction-ineffective") {
        expect(error.facts).toMatchObject({ smallestWorthwhile: 1_000, saved: expect.any(Number) });
        expect(stderr).toContain("--force");
      }
      expect(isUnchanged()).toBe(true);
      expect(existsSync(join(home, "shorter.jsonl"))).toBe(false);
      expect(existsSync(session.replace(".jsonl", ".notes.md"))).toBe(false);
    },
  );

  it("a preview of compact says that the compaction would not pay, and exits with 0", async () => {
    for (const options of [["--dry-run"], ["--dry-run", "--in-place"], []]) {
      const { code, stdout } = await run("compact", session, ...options);
      expect(code).toBe(0);
      expect(unfolded(stdout)).toMatch(
        /The compaction does not pay off: it saves (\d+ tokens|nothing), and the minimum is 1,000\./,
      );
      expect(unfolded(stdout)).toContain("With --in-place or --out it fails and changes nothing.");
    }
    expect((await runJson("compact", session, "--dry-run")).saving).toMatchObject({
      smallestWorthwhile: 1_000,
      pays: false,
    });
    expect(isUnchanged()).toBe(true);
  });

  it("compact --dry-run fails like compact --in-place when there is nothing to compact", async () => {
    const { entries } = longSession(40);
    writeFileSync(session, linesOf(entries));
    expect((await run("compact", session, "--in-place", "--keep-recent", "0")).code).toBe(0);
    before = readFileSync(session);
    for (const options of [["--dry-run"], ["--in-place"]]) {
      const { code, stdout } = await run("compact", session, ...options, "--json");
      expect([code, JSON.parse(stdout).error?.code]).toEqual([1, "not-enough-messages"]);
    }
    expect(isUnchanged()).toBe(true);
  });

  it.each([[["--force"]], [["--instructions", "keep the parts"]]])(
    "compact with %j compacts even when the compaction does not pay",
    async (options) => {
      const { code, stdout } = await run("compact", session, "--in-place", ...options);
      expect(code).toBe(0);
      expect(unfolded(stdout)).toContain("Compacted anyway, as you asked.");
      expect(isUnchanged()).toBe(false);
    },
  );
});
