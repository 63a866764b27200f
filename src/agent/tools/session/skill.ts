import { join } from "node:path";
import { z } from "zod";
import { defineTool, failure, type Tool, type ToolOutcome } from "../../tool.ts";
import type { Skill, Workplace } from "../../workplace.ts";

/** For the list of skills in the description, about 2,000 tokens: it is paid for with every call. */
const LIST_CHARACTERS = 8_000;
/** What a description is cut to where all of them do not fit. */
const SHORT_DESCRIPTION = 120;

const input = z.object({ skill: z.string().trim().min(1).describe("The name of the skill.") });

/** The skills are those found when the session began: the tools of a session never change. */
export function skillTool({ state, skills }: Pick<Workplace, "state" | "skills">): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return defineTool({
    name: "Skill",
    description: `Loads a skill: instructions that somebody wrote for a kind of task. When one of these fits what you are about to do, load it first and follow it; load each only once.\n\n${listOf(skills)}`,
    input,
    isReadOnly: true,
    title: ({ skill }) => skill,
    call: async ({ skill: name }) => {
      const skill = byName.get(name);
      const text = await skill?.read();
      if (skill === undefined || text === undefined) return missing(name, skill, skills);
      // By its first line it is found again when the session is resumed, and after a compaction.
      const content = `Base directory for this skill: ${skill.folder}\n\n${text}`;
      state.usedSkill({ name, path: join(skill.folder, "SKILL.md"), content });
      const lines = text.split("\n").length;
      return { content, summary: lines === 1 ? "1 line" : `${lines} lines` };
    },
  });
}

function missing(name: string, skill: Skill | undefined, skills: readonly Skill[]): ToolOutcome {
  if (skill !== undefined)
    return failure(`The skill ${name} can no longer be read. Go on without it.`, "gone");
  const names = skills
    .map((each) => each.name)
    .join(", ")
    .slice(0, LIST_CHARACTERS);
  return failure(
    `There is no skill of the name ${JSON.stringify(name)}. There are: ${names || "none"}.`,
    "no such skill",
  );
}

/** With descriptions if they fit, or else short ones, or else the names, as many as fit. */
function listOf(skills: readonly Skill[]): string {
  if (skills.length === 0) return "There are none at present.";
  const withDescription = (longest: number) =>
    skills.map(({ name, description }) =>
      description === "" ? `- ${name}` : `- ${name}: ${cut(description, longest)}`,
    );
  for (const longest of [Number.POSITIVE_INFINITY, SHORT_DESCRIPTION]) {
    const list = withDescription(longest).join("\n");
    if (list.length <= LIST_CHARACTERS) return list;
  }
  const lines: string[] = [];
  let left = LIST_CHARACTERS;
  for (const { name } of skills) {
    if (name.length + 3 > left) break;
    left -= name.length + 3;
    lines.push(`- ${name}`);
  }
  return lines.length === skills.length
    ? lines.join("\n")
    : `${lines.join("\n")}\n(and ${skills.length - lines.length} more)`;
}

const cut = (text: string, longest: number): string =>
  text.length <= longest
    ? text
    : `${text
        .slice(0, longest - 1)
        .toWellFormed()
        .trimEnd()}…`;
