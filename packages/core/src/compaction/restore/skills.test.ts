import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { contentText } from "../../messages/untrusted.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import type { UsedSkill } from "./host-state.ts";
import { sessionEvents } from "./read-state.ts";
import { restoreAll } from "./restore-all.ts";
import type { Restored, RestoredItem, RestoreInput } from "./restored.ts";
import { skillsIn } from "./work-state.ts";

const restore = (
  skills: readonly UsedSkill[] | undefined,
  input: Partial<RestoreInput> = {},
): Promise<Restored> =>
  restoreAll(
    { summarized: [], kept: [], countTokens: (text) => text.length, budgetTokens: 100_000, ...input },
    skills === undefined ? {} : { skills: () => skills },
  );
const words = (item: RestoredItem | undefined): string =>
  contentText(attachmentContent(item?.attachment ?? { type: "" }));
const names = ({ items }: Restored): readonly string[] => items.map(({ name }) => name);

/**
 * Adds a skill use as Claude Code writes it: the call, its answer, and the skill's text as a meta message.
 */
function useSkill(c: ConversationBuilder, id: string, skill: string, body: string): void {
  c.tool(id, "Skill", { skill }, `Launching skill: ${skill}`);
  c.user([{ type: "text", text: body }], { isMeta: true, sourceToolUseID: id } as object);
}

describe("restored skills", () => {
  it("restores the skills that the host names, each once, the most recent last", async () => {
    const skills = [
      { name: "review", content: "be kind", path: "/skills/review/SKILL.md" },
      { name: "commit", content: "be brief" },
      { name: "review", content: "an older text" },
    ];
    const restored = await restore(skills);
    expect(names(restored)).toEqual(["commit", "review"]);
    expect(restored.items[1]?.attachment).toEqual({ type: "invoked_skills", skills: [skills[0]] });
    expect(words(restored.items[1])).toMatch(/Skill review \(\/skills\/review\/SKILL\.md\):\nbe kind/);
  });

  it("limits a restored skill to 5,000 tokens and says where the rest of the skill is", async () => {
    const content = "first rule\n".repeat(1_000);
    const { items } = await restore([
      { name: "long", content, path: "/skills/long/SKILL.md" },
      { name: "nowhere", content },
    ]);
    for (const item of items) {
      expect(item.isTruncated).toBe(true);
      expect(item.tokens).toBeLessThanOrEqual(5_000);
      expect(item.tokens).toBeGreaterThan(4_500);
    }
    expect(words(items[1])).toMatch(
      /first rule\n\n\[The rest[^\n]*\/skills\/long\/SKILL\.md[^\n]*\]\n<\/system/,
    );
    expect(words(items[0])).toMatch(/Invoke the skill again/);
  });

  it("limits restored skills to 25,000 tokens together and prefers the most recent", async () => {
    const skills = Array.from({ length: 8 }, (_, index) => ({
      name: `s${index}`,
      content: "rule\n".repeat(2_000),
    }));
    const restored = await restore(skills);
    const total = restored.items.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(total).toBeLessThanOrEqual(25_000);
    expect(names(restored)).toEqual(["s4", "s3", "s2", "s1", "s0"]);
    expect(restored.skipped.map(({ name, reason }) => `${name} ${reason}`)).toEqual([
      "s5 over-budget",
      "s6 over-budget",
      "s7 over-budget",
    ]);
  });

  it("restores no skill whose text is in kept messages", async () => {
    const kept = new ConversationBuilder("kept");
    useSkill(kept, "k", "commit", "Base directory for this skill: /skills/commit\n\nbe brief");
    const skills = [
      { name: "commit", content: "be brief" },
      { name: "review", content: "be kind" },
    ];
    expect(names(await restore(skills, { kept: kept.entries }))).toEqual(["review"]);
  });

  it("never restores the list of available skills", async () => {
    const c = new ConversationBuilder();
    c.attachment({ type: "skill_listing", content: "- commit: …", names: ["commit"] });
    expect(await restore(undefined, { summarized: c.entries })).toEqual({ items: [], skipped: [] });
  });
});

describe("skillsIn", () => {
  const body = "Base directory for this skill: /p/skills/review\n\n# Review\nbe kind";

  it("names a skill as the agent called it, or else after the folder of the skill", () => {
    const c = new ConversationBuilder();
    useSkill(c, "1", "plugin:review", body);
    c.user("Base directory for this skill: C:\\skills\\commit\\\n\nbe brief", { isMeta: true });
    useSkill(c, "2", "built-in", "# Design\nmind the gap");
    expect(skillsIn(sessionEvents(c.entries))).toEqual([
      { name: "built-in", content: "# Design\nmind the gap" },
      {
        name: "commit",
        content: "Base directory for this skill: C:\\skills\\commit\\\n\nbe brief",
        path: "C:\\skills\\commit\\SKILL.md",
      },
      { name: "plugin:review", content: body, path: "/p/skills/review/SKILL.md" },
    ]);
  });

  it("finds a skill whose text is the result of the skill call itself", () => {
    const c = new ConversationBuilder();
    c.tool("1", "Skill", { skill: "review" }, body);
    c.tool("2", "Skill", { skill: "commit" }, "Launching skill: commit");
    expect(skillsIn(sessionEvents(c.entries))).toEqual([
      { name: "review", content: body, path: "/p/skills/review/SKILL.md" },
    ]);
  });

  it("lists used skills newest first, each with its latest text", () => {
    const c = new ConversationBuilder();
    useSkill(c, "1", "review", "old text");
    useSkill(c, "2", "commit", "be brief");
    useSkill(c, "3", "review", "new text");
    expect(skillsIn(sessionEvents(c.entries)).map(({ name, content }) => [name, content])).toEqual([
      ["review", "new text"],
      ["commit", "be brief"],
    ]);
  });

  it("keeps the newest-first order of skills that one attachment restored", () => {
    const c = new ConversationBuilder();
    const skills = [
      { name: "newer", content: "b" },
      { name: "older", content: "a" },
    ];
    c.attachment({ type: "invoked_skills", skills });
    expect(skillsIn(sessionEvents(c.entries))).toEqual(skills);
  });

  it("ignores skill text that the user typed, and skill calls that failed", () => {
    const c = new ConversationBuilder();
    c.user(body);
    c.tool("1", "Skill", { skill: "broken" });
    c.user([toolResult("1", "no such skill", true)]);
    c.user("an ordinary hidden message", { isMeta: true, sourceToolUseID: "1" } as object);
    expect(skillsIn(sessionEvents(c.entries))).toEqual([]);
  });

  it("keeps restored skills in their order over two compactions, and cuts a skill only once", async () => {
    const c = new ConversationBuilder();
    useSkill(c, "1", "older", `${body}\n${"rule\n".repeat(3_000)}`);
    useSkill(c, "2", "newer", "be brief");
    const once = await restore(undefined, { summarized: c.entries });
    const after = new ConversationBuilder("after");
    for (const { attachment } of once.items) after.attachment(attachment);
    const twice = await restore(undefined, { summarized: after.entries as Entry[] });
    expect(names(twice)).toEqual(["older", "newer"]);
    expect(twice.items.map(({ attachment }) => attachment)).toEqual(
      once.items.map(({ attachment }) => attachment),
    );
  });
});
