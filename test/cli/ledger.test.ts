import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { unfolded } from "../support/cli.ts";
import { describeRecorded, realSessionPath } from "../support/real-sessions.ts";
import { demoHome } from "./demo-home.ts";

const { home, run, runJson, newSession } = demoHome();
let session: string;
beforeEach(() => {
  ({ session } = newSession());
});

describe("longhaul ledger", () => {
  it("shows what compact wrote: the same counts, and nothing gone", async () => {
    const first = await runJson("compact", session, "--in-place", "--keep-recent", "0");
    const { facts } = first.ledger;
    expect(facts.length).toBeGreaterThan(10);
    const report = await runJson("ledger", session);
    expect(report.compactions).toHaveLength(1);
    const [newest] = report.compactions;
    expect(newest).toMatchObject({
      uuid: first.boundary.uuid,
      source: "file",
      isCurrent: true,
      inThisFile: true,
      counts: { facts: facts.length, gone: 0 },
    });
    const { stdout, code } = await run("ledger", session);
    expect(code).toBe(0);
    expect(stdout).toContain("What became of the facts");
    expect(unfolded(stdout)).toContain("nothing is gone.");
    expect(stdout).not.toContain("computed now");
  });

  it("lists with --all and --kind the facts that are asked for, and only those", async () => {
    await run("compact", session, "--in-place", "--keep-recent", "0");
    const { compactions } = await runJson("ledger", session, "--all", "--kind", "directive");
    const kinds = compactions[0].ledger.facts.map(({ kind }: { kind: string }) => kind);
    expect(kinds.length).toBeGreaterThan(0);
    expect(new Set(kinds)).toEqual(new Set(["directive"]));
    const absent = await runJson("ledger", session);
    for (const { fate } of absent.compactions[0].ledger.facts) expect(fate).toBe("recoverable");
  });

  it("is written with the boundary, so that a program can read it from the session's file", async () => {
    const { ledger } = await runJson("compact", session, "--in-place");
    const lines = readFileSync(session, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const boundary = lines.find(({ subtype }) => subtype === "compact_boundary");
    expect(boundary.compactMetadata.longhaul.ledger).toEqual(ledger);
  });

  it("shows the compaction that --boundary names, and says which there are where it names none", async () => {
    const { boundary } = await runJson("compact", session, "--in-place");
    const { compactions } = await runJson("ledger", session, "--boundary", boundary.uuid.slice(0, 8));
    expect(compactions).toMatchObject([{ uuid: boundary.uuid }]);
    const { error } = await runJson("ledger", session, "--boundary", "ffffffff");
    expect(error).toMatchObject({ code: "message-not-found" });
    expect(error.remedy).toContain("longhaul ledger SESSION");
    expect((await run("ledger", session, "--boundary", "")).code).toBe(2);
    expect((await run("ledger", session, "--kind", "wishes")).code).toBe(2);
  });

  it("says that a session was not compacted", async () => {
    const { stdout, code } = await run("ledger", session);
    expect(code).toBe(0);
    expect(unfolded(stdout)).toContain("This session has not been compacted");
    expect((await runJson("ledger", session)).compactions).toEqual([]);
  });

  it("says of a session made by compact --out that the rest stands in the other one", async () => {
    const out = join(session, "..", "new.jsonl");
    await run("compact", session, "--out", out, "--keep-recent", "0");
    const { compactions } = await runJson("ledger", out);
    expect(compactions).toMatchObject([{ source: "file", inThisFile: false }]);
  });
});

describe("longhaul compact", () => {
  it("says in a line what became of the facts, also in a dry run", async () => {
    const { stdout } = await run("compact", session, "--dry-run");
    expect(unfolded(stdout)).toMatch(/Facts \d+ facts: \d+ in the summary.*; nothing is gone/);
  });
});

describeRecorded("longhaul ledger of a recorded session", () => {
  it("tells what Claude Code's own compactions left, and that it was computed now", async () => {
    const copy = join(home, "70d782f7.jsonl");
    copyFileSync(realSessionPath("entireio-cli__70d782f7.jsonl"), copy);
    const { stdout, code } = await run("ledger", copy);
    expect(code).toBe(0);
    expect(unfolded(stdout)).toContain("this was computed now");
    expect(stdout).toContain("Earlier compactions");
    expect(stdout).toMatch(/directives\s+\d+\s+\d+\s+\d+ {2}█+░+\n/);
    const { compactions } = await runJson("ledger", copy);
    expect(compactions.map(({ source }: { source: string }) => source)).toEqual(["computed", "computed"]);
  });
});
