import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { summaries } from "@longhaul/simulator";
import { expect, it } from "vitest";
import { ConversationBuilder } from "../support/builders.ts";
import { agentScene } from "./agent-scene.case.ts";

const CANARY = "CANARY-7f3a";
const HARMLESS = "the harbour is open";

/**
 * Resumes a foreign session that claims to have read these files, and compacts it. Returns the text of the
 * agent's session file.
 */
async function resumed(
  of: (root: string) => { readonly cwd: string; readonly home: string; readonly reads: readonly string[] },
): Promise<string> {
  await using scene = await agentScene({ windowTokens: 60_000, behaviors: [summaries()] });
  const project = join(scene.cwd, "harbour");
  const sibling = join(scene.cwd, "tides");
  for (const folder of [project, sibling]) mkdirSync(folder);
  writeFileSync(join(project, "a.txt"), HARMLESS);
  writeFileSync(join(project, ".env"), CANARY);
  writeFileSync(join(sibling, "plan.txt"), CANARY);
  symlinkSync(join(sibling, "plan.txt"), join(project, "link.txt"));
  const { cwd, home, reads } = of(scene.cwd);
  const c = new ConversationBuilder();
  for (const [index, path] of reads.entries()) c.tool(`r${index}`, "Read", { file_path: path }, "as it was");
  for (let turn = 0; turn < 30; turn++) {
    c.user(`Question ${turn}: ${"when is high tide at the pier? ".repeat(40)}`);
    c.assistant(`Answer ${turn}: ${"about noon, they say. ".repeat(60)}`);
  }
  const session = join(scene.cwd, "session.jsonl");
  const claimed = c.entries.map((entry) => ({ ...entry, cwd: sibling }));
  writeFileSync(session, claimed.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  const agent = await scene.open({ session, cwd, places: { home, env: {} } });
  await agent.compact({ force: true });
  await agent.close();
  return readFileSync(agent.sessionPath, "utf8");
}

it("resuming a session restores only files of the current folder and no secrets", async () => {
  const text = await resumed((root) => ({
    cwd: join(root, "harbour"),
    home: join(root, "home"),
    reads: [join(root, "tides", "plan.txt"), "plan.txt", "../tides/plan.txt", "link.txt", ".env", "a.txt"],
  }));
  expect(text).toContain(HARMLESS);
  expect(text).not.toContain(CANARY);
});

it("resuming a session restores no files when the current folder is the home folder", async () => {
  const text = await resumed((root) => ({
    cwd: root,
    home: root,
    reads: [join(root, "tides", "plan.txt"), "harbour/a.txt"],
  }));
  expect(text).toContain("compact_boundary");
  expect(text).not.toContain(CANARY);
  expect(text).not.toContain(HARMLESS);
});
