import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { projectFiles } from "@longhaul/sessions";
import { z } from "zod";
import { defineTool, failure, type Tool, type ToolOutcome } from "./tool.ts";
import { isWithin, realPathOf } from "./workplace/path-rules.ts";
import type { Skill, Workplace } from "./workplace.ts";

const FILE = "SKILL.md";
/** Of one folder of skills: each is read to learn what it is for. */
const MOST_SKILLS = 200;
/** About 25,000 tokens, all that is ever put back of skills after a compaction. */
const LONGEST_SKILL = 100_000;
const LONGEST_DESCRIPTION = 1_024;
/** What a model can write without a doubt, and what breaks no line and no path. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

interface SkillFolder {
  readonly path: string;
  /** The folder must really lie in this one. A project may be anybody's, and a link of it must not lead out. */
  readonly within?: string;
}

/** Those of the project first: they know more about the work at hand. */
export const skillFolders = (cwd: string, home: string): readonly SkillFolder[] => [
  ...foldersAt(cwd).map((path) => ({ path, within: cwd })),
  ...foldersAt(home).map((path) => ({ path })),
];

const foldersAt = (at: string): readonly string[] => [
  join(at, ".longhaul", "skills"),
  join(at, ".claude", "skills"),
];

/** All skills in these folders, by name; of two with one name the first. What cannot be read is passed over. */
export async function findSkills(folders: readonly (string | SkillFolder)[]): Promise<readonly Skill[]> {
  const found = await Promise.all(
    folders.map((each) => skillsIn(typeof each === "string" ? { path: each } : each)),
  );
  const byName = new Map<string, Skill>();
  for (const skill of found.flat()) if (!byName.has(skill.name)) byName.set(skill.name, skill);
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function skillsIn({ path: folder, within }: SkillFolder): Promise<readonly Skill[]> {
  if (within !== undefined && !(await leadsInto(folder, within))) return [];
  const names = (await namesIn(folder)).sort().slice(0, MOST_SKILLS);
  const skills = await Promise.all(names.map((name) => skillAt(folder, name)));
  return skills.filter((skill) => skill !== undefined);
}

async function leadsInto(folder: string, within: string): Promise<boolean> {
  try {
    return isWithin(await realPathOf(folder), await realPathOf(within));
  } catch {
    return false;
  }
}

/** One by one and not too many: a folder may hold anything. */
async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (names.length >= MOST_SKILLS * 2) break;
      if (entry.isDirectory() || entry.isSymbolicLink()) names.push(entry.name);
    }
  } catch {
    // There is no such folder, or it is not ours to read: then there are no skills in it.
  }
  return names;
}

async function skillAt(parent: string, folderName: string): Promise<Skill | undefined> {
  const files = projectFiles(parent);
  const read = async (): Promise<string | undefined> => {
    // A link that leads out of the folder of skills is not followed, nor is anything read but text.
    const file = await files.read(join(folderName, FILE));
    return file.state === "read" ? file.text : undefined;
  };
  const text = await read();
  if (text === undefined) return undefined;
  const { fields } = readFrontMatter(text);
  const name = [fields.get("name"), folderName].find((each) => each !== undefined && NAME.test(each));
  if (name === undefined) return undefined;
  return {
    name,
    description: oneLine(fields.get("description") ?? "")
      .slice(0, LONGEST_DESCRIPTION)
      .toWellFormed(),
    folder: join(parent, folderName),
    read: async () => {
      const now = await read();
      return now === undefined ? undefined : bodyOf(now);
    },
  };
}

function bodyOf(text: string): string {
  const { body } = readFrontMatter(text);
  return body.length <= LONGEST_SKILL
    ? body
    : `${body.slice(0, LONGEST_SKILL).toWellFormed().trimEnd()}\n\n[The rest was left out: a skill is read up to ${LONGEST_SKILL} characters.]`;
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();

/** More is no front matter, but a text that begins with a line. */
const MOST_LINES = 200;
const FENCE = /^---[ \t]*$/;
const KEY = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/**
 * Reads the texts of a front matter: plain ones, in quotes, over several lines, as blocks. Not YAML: lists and maps are
 * passed over, and what is not understood hurts nothing but itself.
 */
export function readFrontMatter(text: string): {
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
} {
  const whole = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const lines = whole.split("\n");
  const end = FENCE.test(lines[0] ?? "")
    ? lines.slice(0, MOST_LINES).findIndex((line, index) => index > 0 && FENCE.test(line))
    : -1;
  if (end < 0) return { fields: new Map(), body: whole.trim() };
  return {
    fields: fieldsIn(lines.slice(1, end)),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

function fieldsIn(lines: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < lines.length; ) {
    const [, key, value = ""] = KEY.exec(lines[at] ?? "") ?? [];
    const start = at + 1;
    at = start;
    while (at < lines.length && /^(?:[ \t]|$)/.test(lines[at] ?? "")) at++;
    // What is said first holds.
    if (key !== undefined && !fields.has(key)) fields.set(key, textOf(value.trim(), lines.slice(start, at)));
  }
  return fields;
}

function textOf(value: string, below: readonly string[]): string {
  const more = below.map((line) => line.trim());
  if (/^\|[-+]?\d?$/.test(value)) return more.join("\n").trim();
  const joined = [/^>[-+]?\d?$/.test(value) ? "" : value, ...more].filter((line) => line !== "").join(" ");
  return unquoted(joined);
}

function unquoted(text: string): string {
  const [, double, single] = /^(?:"(.*)"|'(.*)')$/s.exec(text) ?? [];
  if (double !== undefined) return double.replaceAll(/\\(["\\])/g, "$1");
  return single?.replaceAll("''", "'") ?? text;
}

/** For the list of skills in the description, about 2,000 tokens: it is paid for with every call. */
const LIST_CHARACTERS = 8_000;
/** Characters of a description if not all of them fit. */
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
      state.usedSkill({ name, path: join(skill.folder, FILE), content });
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
