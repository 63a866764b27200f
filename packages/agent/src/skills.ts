import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { projectFiles } from "@longhaul/sessions";
import { z } from "zod";
import { defineTool, failure, type Tool, type ToolOutcome } from "./tool.ts";
import { isWithin, realPathOf } from "./workplace/path-rules.ts";
import type { Skill, Workplace } from "./workplace.ts";

const FILE = "SKILL.md";
/** Maximum number of skills per folder. Each skill file is read for its description. */
const MAX_SKILLS = 200;
/**
 * Maximum length of a skill: about 25,000 tokens, which is also the limit for all skills that a compaction
 * restores.
 */
const LONGEST_SKILL = 100_000;
const LONGEST_DESCRIPTION = 1_024;
/**
 * Pattern of a skill name: characters that a model can write reliably, and that break no line and no path.
 */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

interface SkillFolder {
  readonly path: string;
  /**
   * Folder that must contain the real path of each skill. Anybody may have written the project, so its links
   * must not lead out of this folder.
   */
  readonly within?: string;
}

/**
 * Returns the folders of skills. The project's folders come first, because their skills fit the current work
 * better.
 */
export const skillFolders = (cwd: string, home: string): readonly SkillFolder[] => [
  ...foldersAt(cwd).map((path) => ({ path, within: cwd })),
  ...foldersAt(home).map((path) => ({ path })),
];

const foldersAt = (at: string): readonly string[] => [
  join(at, ".longhaul", "skills"),
  join(at, ".claude", "skills"),
];

/**
 * Finds all skills in these folders, sorted by name. The first of two skills with the same name wins. Skips
 * unreadable skills.
 */
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
  const names = (await namesIn(folder)).sort().slice(0, MAX_SKILLS);
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

/** Reads the names in a folder one by one up to a limit, because a folder can contain anything. */
async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (names.length >= MAX_SKILLS * 2) break;
      if (entry.isDirectory() || entry.isSymbolicLink()) names.push(entry.name);
    }
  } catch {
    // The folder is missing or unreadable, so it has no skills.
  }
  return names;
}

async function skillAt(parent: string, folderName: string): Promise<Skill | undefined> {
  const files = projectFiles(parent);
  const read = async (): Promise<string | undefined> => {
    // This read does not follow links that lead out of the skill folder, and reads only text files.
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
    : `${body.slice(0, LONGEST_SKILL).toWellFormed().trimEnd()}\n\n[The rest was left out because a skill may have at most ${LONGEST_SKILL} characters.]`;
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();

/**
 * Maximum number of lines of front matter. A longer block is not front matter, but text that begins with a
 * horizontal rule.
 */
const MAX_LINES = 200;
const FENCE = /^---[ \t]*$/;
const KEY = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/**
 * Reads the text fields of a front matter. A field can be plain, quoted, folded over several lines, or a
 * block. This is not a YAML parser. It skips lists and maps. A field that it cannot read affects no other
 * field.
 */
export function readFrontMatter(text: string): {
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
} {
  const whole = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const lines = whole.split("\n");
  const end = FENCE.test(lines[0] ?? "")
    ? lines.slice(0, MAX_LINES).findIndex((line, index) => index > 0 && FENCE.test(line))
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
    // The first value of a key wins.
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

/**
 * Maximum length of the list of skills in the tool description: about 2,000 tokens. Every model call pays for
 * this list.
 */
const LIST_CHARACTERS = 8_000;
/** Maximum length of each description if the full descriptions do not fit into the list. */
const SHORT_DESCRIPTION = 120;

const input = z.object({ skill: z.string().trim().min(1).describe("The name of the skill.") });

/**
 * Creates the tool with the skills from the start of the session, because the tools of a session never
 * change.
 */
export function skillTool({ state, skills }: Pick<Workplace, "state" | "skills">): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return defineTool({
    name: "Skill",
    description: `Loads a skill: a set of instructions for one type of task. If one of these skills fits your task, load it first and follow it. Load each skill only once.\n\n${listOf(skills)}`,
    input,
    isReadOnly: true,
    title: ({ skill }) => skill,
    call: async ({ skill: name }) => {
      const skill = byName.get(name);
      const text = await skill?.read();
      if (skill === undefined || text === undefined) return missing(name, skill, skills);
      // Resume and compaction recognize the skill by this first line.
      const content = `Base directory for this skill: ${skill.folder}\n\n${text}`;
      state.usedSkill({ name, path: join(skill.folder, FILE), content });
      const lines = text.split("\n").length;
      return { content, summary: lines === 1 ? "1 line" : `${lines} lines` };
    },
  });
}

function missing(name: string, skill: Skill | undefined, skills: readonly Skill[]): ToolOutcome {
  if (skill !== undefined)
    return failure(`The skill ${name} can no longer be read. Continue without it.`, "gone");
  const names = skills
    .map((each) => each.name)
    .join(", ")
    .slice(0, LIST_CHARACTERS);
  return failure(
    `There is no skill named ${JSON.stringify(name)}. Available skills: ${names || "none"}.`,
    "no such skill",
  );
}

/**
 * Lists the skills. If the full descriptions do not fit, uses short descriptions. If these do not fit either,
 * lists as many names as fit.
 */
function listOf(skills: readonly Skill[]): string {
  if (skills.length === 0) return "Available skills: none.";
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
