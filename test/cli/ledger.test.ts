import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROMPT_VERSION } from "@longhaul/core/summary";
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
  it("ledger shows the same counts as compact, and says that nothing is lost", async () => {
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
      promptVersion: PROMPT_VERSION,
      counts: { facts: facts.length, gone: 0 },
    });
    const { stdout, code } = await run("ledger", session);
    expect(code).toBe(0);
    expect(stdout).toContain("Facts");
    expect(unfolded(stdout)).toContain("Nothing is lost.");
    expect(stdout).not.toContain("computed now");
  });

  it("ledger --all and --kind list exactly the selected facts", async () => {
    await run("compact", session, "--in-place", "--keep-recent", "0");
    const { compactions } = await runJson("ledger", session, "--all", "--kind", "directive");
    const kinds = compactions[0].ledger.facts.map(({ kind }: { kind: string }) => kind);
    expect(kinds.length).toBeGreaterThan(0);
    expect(new Set(kinds)).toEqual(new Set(["directive"]));
    const absent = await runJson("ledger", session);
    for (const { fate } of absent.compactions[0].ledger.facts) expect(fate).toBe("recoverable");
  });

  it("the boundary in the session file contains the ledger, so that a program can read it", async () => {
    const { ledger } = await runJson("compact", session, "--in-place");
    const lines = readFileSync(session, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const boundary = lines.find(({ subtype }) => subtype === "compact_boundary");
    expect(boundary.compactMetadata.longhaul.ledger).toEqual(ledger);
    expect(boundary.compactMetadata.longhaul.promptVersion).toBe(PROMPT_VERSION);
    expect(ledger.promptVersion).toBe(PROMPT_VERSION);
  });

  it("ledger --boundary shows the named compaction, or lists the boundaries when none matches", async () => {
    const { boundary } = await runJson("compact", session, "--in-place");
    const { compactions } = await runJson("ledger", session, "--boundary", boundary.uuid.slice(0, 8));
    expect(compactions).toMatchObject([{ uuid: boundary.uuid }]);
    const { error } = await runJson("ledger", session, "--boundary", "ffffffff");
    expect(error).toMatchObject({ code: "boundary-not-found" });
    expect(error.remedy).toContain("longhaul ledger SESSION");
    expect((await run("ledger", session, "--boundary", "")).code).toBe(2);
    expect((await run("ledger", session, "--kind", "wishes")).code).toBe(2);
  });

  it("ledger says that a session has not been compacted", async () => {
    const { stdout, code } = await run("ledger", session);
    expect(code).toBe(0);
    expect(unfolded(stdout)).toContain("This conversation has no compaction");
    expect((await runJson("ledger", session)).compactions).toEqual([]);
  });

  it("ledger of a session made by compact --out says that its messages are in the original session", async () => {
    const out = join(session, "..", "new.jsonl");
    await run("compact", session, "--out", out, "--keep-recent", "0");
    const { compactions } = await runJson("ledger", out);
    expect(compactions).toMatchObject([{ source: "file", inThisFile: false }]);
  });
});

describe("facts in the output of longhaul compact", () => {
  it("compact says in one line how many facts are in the summary and elsewhere, even in a dry run", async () => {
    const { stdout } = await run("compact", session, "--dry-run");
    expect(unfolded(stdout)).toMatch(/Facts \d+ facts: \d+ in the summary.*\. Nothing is lost\./);
  });
});

describeRecorded("longhaul ledger of a recorded session", () => {
  it("ledger shows the facts that Claude Code's own compactions kept, and says that longhaul computed them", async () => {
    const copy = join(home, "70d782f7.jsonl");
    copyFileSync(realSessionPath("entireio-cli__70d782f7.jsonl"), copy);
    const { stdout, code } = await run("ledger", copy);
    expect(code).toBe(0);
    expect(unfolded(stdout)).toContain("longhaul computed this one");
    expect(stdout).toContain("Earlier compactions");
    expect(stdout).toMatch(/directives\s+\d+\s+\d+\s+\d+ {2}█+░+\n/);
    const { compactions } = await runJson("ledger", copy);
    expect(compactions.map(({ source }: { source: string }) => source)).toEqual(["computed", "computed"]);
  });
});
