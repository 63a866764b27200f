import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { longSession } from "../../../../test/support/long-session.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { compactSession, writeCompaction } from "../operations/compact-session.ts";
import { loadSession } from "./load.ts";
import { resumeSession } from "./resume.ts";
import { linesOf } from "./whole-file.ts";

const path = join(temporaryFolder(), "session.jsonl");

async function models(): Promise<readonly (string | undefined)[]> {
  return [(await loadSession(path)).model, (await resumeSession(path)).model];
}

describe("the model of a session", () => {
  it.each([undefined, "2.1.325"])(
    "finds the model of a session after a compaction that kept no message (Claude Code version %s)",
    async (version) => {
      const fields = version === undefined ? {} : { version };
      writeFileSync(path, linesOf(longSession(6).entries.map((entry) => ({ ...entry, ...fields }))));
      const before = await loadSession(path);
      expect(before.model).toBeDefined();
      const compaction = await compactSession(before, { keepRecentTokens: 0 });
      await writeCompaction(compaction, { mode: "in-place" });
      const after = await loadSession(path);
      expect(after.conversation.some(({ type }) => type === "assistant")).toBe(false);
      expect(await models()).toEqual([before.model, before.model]);
    },
  );

  it("does not take the model of a session from a subagent or from a synthetic message", async () => {
    const b = new ConversationBuilder();
    b.user("question");
    const answer = b.assistant("answer");
    const other = (model: string): object => ({ ...answer, message: { ...answer.message, model } });
    b.push({ ...other("claude-haiku-4-5"), ...b.link(), isSidechain: true } as Entry);
    b.push({ ...other("<synthetic>"), ...b.link() } as Entry);
    b.boundary();
    b.summary("summary");
    writeFileSync(path, linesOf(b.entries));
    expect(await models()).toEqual(["claude-sonnet-5", "claude-sonnet-5"]);
  });

  it("takes the model name of the boundary if the name is valid and no response follows the boundary", async () => {
    const recorded = async (model: unknown): Promise<readonly (string | undefined)[]> => {
      const b = new ConversationBuilder();
      b.boundary({ longhaul: { overheadTokens: 0, tokenRatio: 1, model } as never });
      b.summary("summary");
      writeFileSync(path, linesOf(b.entries));
      return models();
    };
    expect(await recorded("claude-opus-5")).toEqual(["claude-opus-5", "claude-opus-5"]);
    for (const model of [7, "", null, {}, ["claude-opus-5"]])
      expect(await recorded(model)).toEqual([undefined, undefined]);
  });

  it("reports no model when the file contains no response", async () => {
    const b = new ConversationBuilder();
    b.user('"assistant" is only a word here');
    b.boundary();
    b.summary("summary");
    writeFileSync(path, linesOf(b.entries));
    expect(await models()).toEqual([undefined, undefined]);
  });
});
