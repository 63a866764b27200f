import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSession } from "@longhaul/sessions";
import { beforeAll, describe, expect, it } from "vitest";
import { linesOf as collapseLines, commitSpans } from "../../packages/core/src/modules/collapse/commit.ts";
import { linesOf } from "../../packages/sessions/src/transcript/whole-file.ts";
import { countingPorts } from "../support/long-session.ts";
import { demoHome } from "./demo-home.ts";

const SPAN = "5ba40000-0000-4000-8000-000000000001";
const { project, run, runJson, newSession } = demoHome();
const { session } = newSession();
let uuids: readonly string[];

beforeAll(async () => {
  writeFileSync(join(project, "AGENTS.md"), "Be kind to the harbour.\n");
  const loaded = await loadSession(session);
  uuids = loaded.conversation.slice(0, 12).map(({ uuid }) => uuid ?? "");
  const staged = [{ spanId: SPAN, uuids, messages: 12, text: "# Current State\nThe harbour was looked at." }];
  const options = { ports: countingPorts(), tokensOf: () => 250, leafUuid: loaded.leafUuid };
  appendFileSync(session, linesOf(collapseLines(commitSpans(loaded.conversation, staged, options))));
});

describe("collapsed spans in longhaul inspect", () => {
  it("inspect shows collapsed spans and the tokens they save", async () => {
    const { collapse } = await runJson("inspect", session);
    expect(collapse).toMatchObject({
      messages: 12,
      spans: [{ spanId: SPAN, messages: 12, canBeExpanded: true }],
    });
    expect(collapse.tokensBefore).toBe(collapse.spans[0].tokensBefore);
    const { stdout } = await run("inspect", session);
    expect(stdout).toMatch(
      /1 collapsed span \(12 messages, [\d,]+ tokens → [\d,]+, --span ID shows\n? +one\)/,
    );
    expect(stdout).toContain("5ba40000");
  });

  it("inspect --span shows all messages of a span, by its id or the beginning of its id", async () => {
    const report = await runJson("inspect", session, "--span", "5ba4");
    expect(report.spanId).toBe(SPAN);
    expect(report.entries.map(({ uuid }: { uuid: string }) => uuid)).toEqual(uuids);
    const { stdout, code } = await run("inspect", session, "--span", SPAN);
    expect(code).toBe(0);
    for (const { message } of report.entries) {
      if (typeof message?.content === "string") expect(stdout).toContain(message.content);
      for (const block of Array.isArray(message?.content) ? message.content : [])
        if (block.type === "text") expect(stdout).toContain(block.text);
    }
  });

  it("inspect --span says that there is no span with the given id", async () => {
    const { code, stderr } = await run("inspect", session, "--span", "ffff");
    expect(code).toBe(1);
    expect(stderr).toContain(
      "No collapsed span found: no span of this session has an id that starts with ffff.",
    );
    expect((await run("inspect", session, "--span", "")).code).toBe(2);
    expect((await run("inspect", session, "--span", "x", "--prompts")).code).toBe(2);
  });

  it("inspect shows the memory files that apply to the touched files, with their cost in tokens", async () => {
    const { memory } = await runJson("inspect", session, "--project", project);
    expect(memory).toMatchObject({ attached: [], folder: project, skipped: [] });
    expect(memory.governing).toEqual([{ path: join(project, "AGENTS.md"), tokens: expect.any(Number) }]);
    expect((await run("inspect", session, "--project", project)).stdout).toMatch(
      /\d+ {2}AGENTS\.md {2}on disk, not attached/,
    );
  });
});

describe("collapsed spans in longhaul notes", () => {
  it("the notes of a session also cover its collapsed messages", async () => {
    const { work } = await runJson("notes", session, "--dry-run");
    const { context } = await runJson("inspect", session);
    expect(work.messages).toBeGreaterThan(context.messages);
  });
});
