import type { Attachment, UserEntry } from "../conversation/entry.ts";
import { contentText, firstString, listField, stringField } from "../conversation/untrusted.ts";
import { headThatFits, LEAST_HEAD_TOKENS, mayFit } from "./head.ts";
import type { UsedSkill } from "./host-state.ts";
import {
  type Fit,
  firstOfEach,
  type Gather,
  type Gathering,
  hostOr,
  type RestoredItem,
  type RestoreInput,
  readList,
  restoredItem,
  type SkippedItem,
} from "./restored.ts";
import { type SessionEvent, sessionEvents, textOf } from "./session-events.ts";

/** Instructions stand at the top of a skill: its head is worth more than the tail of another one. */
const SKILL_TOKENS = 5_000;
const SKILLS_TOKENS = 25_000;

/**
 * The skills used, without those that the kept messages show. The newest get their share first and stand
 * last, so that the order in which they were used is still to be seen by the next compaction.
 */
export const gatherSkills: Gather = hostOr("skills", "skills", ({ events }) => skillsIn(events), fitSkills);

function fitSkills(list: unknown, { input }: Gathering): Fit {
  const { values, skipped } = readList("skills", list, readSkill);
  const visible = new Set(skillsIn(sessionEvents(input.kept)).map(({ name }) => name));
  const skills = firstOfEach(values, ({ name }) => name).filter(({ name }) => !visible.has(name));
  return (budgetTokens) => {
    const items: RestoredItem[] = [];
    const unfit: SkippedItem[] = [];
    let left = Math.min(budgetTokens, SKILLS_TOKENS);
    for (const skill of skills) {
      const item = fitSkill(skill, Math.min(left, SKILL_TOKENS), input);
      if (item === undefined) unfit.push({ kind: "skills", name: skill.name, reason: "over-budget" });
      else {
        items.push(item);
        left -= item.tokens;
      }
    }
    return { items: items.reverse(), skipped: [...skipped, ...unfit] };
  };
}

function fitSkill(skill: UsedSkill, budgetTokens: number, input: RestoreInput): RestoredItem | undefined {
  const item = (content: string, isTruncated: boolean): RestoredItem =>
    restoredItem("skills", skill.name, invoked(skill, content), input.countTokens, isTruncated);
  if (mayFit(skill.content, budgetTokens)) {
    const whole = item(skill.content, false);
    if (whole.tokens <= budgetTokens) return whole;
  }
  const cut = (head: string): RestoredItem => item(`${head.trimEnd()}\n\n${whereTheRestIs(skill)}`, true);
  const head = headThatFits(skill.content, budgetTokens, (text) => cut(text).tokens <= budgetTokens);
  return input.countTokens(head) < LEAST_HEAD_TOKENS ? undefined : cut(head);
}

const invoked = ({ name, path }: UsedSkill, content: string): Attachment => ({
  type: "invoked_skills",
  skills: [{ name, ...(path === undefined ? {} : { path }), content }],
});

const whereTheRestIs = ({ path }: UsedSkill): string =>
  path === undefined
    ? "[The rest of this skill was left out. Invoke it again when it is needed.]"
    : `[The rest of this skill was left out. It is in ${path}: read it there when it is needed.]`;

function readSkill(item: unknown): UsedSkill | undefined {
  const name = firstString(item, "name");
  const content = firstString(item, "content");
  if (name === undefined || content === undefined || content.trim() === "") return undefined;
  const path = firstString(item, "path");
  return { name, content, ...(path === undefined ? {} : { path }) };
}

/** Skills whose text came into the conversation, by a call, a command or an earlier restoration; the newest first. */
export function skillsIn(events: Iterable<SessionEvent>): readonly UsedSkill[] {
  const nameOfCall = new Map<string, string>();
  const used: UsedSkill[] = [];
  for (const event of events) {
    if (event.what === "message") {
      const skill = skillToldIn(event.entry, nameOfCall);
      if (skill) used.push(skill);
    } else if (event.what === "attachment") {
      if (event.type !== "invoked_skills") continue;
      const skills = listField(event.attachment, "skills").map(readSkill);
      used.push(...skills.filter((skill) => skill !== undefined).reverse());
    } else if (event.call.name === "Skill" && !event.call.isError) {
      const { id, input, result } = event.call;
      const name = firstString(input, "skill", "command", "name");
      if (name === undefined) continue;
      nameOfCall.set(id, name);
      // Some agents answer the call itself with the skill's text.
      const text = contentText(result.content);
      if (BASE_FOLDER.test(text)) used.push(skillIn(text, name));
    }
  }
  return firstOfEach(used.reverse(), ({ name }) => name);
}

const BASE_FOLDER = /^\s*Base directory for this skill: *([^\r\n]+)/;

/** The agent passes a skill's text on as a message that nobody typed. */
function skillToldIn(entry: UserEntry, nameOfCall: ReadonlyMap<string, string>): UsedSkill | undefined {
  if (entry.isMeta !== true) return undefined;
  const content = textOf(entry);
  const called = nameOfCall.get(stringField(entry, "sourceToolUseID") ?? "");
  const name = called ?? baseFolder(content)?.split(/[\\/]/).at(-1);
  return name === undefined || name === "" || content.trim() === "" ? undefined : skillIn(content, name);
}

function skillIn(content: string, name: string): UsedSkill {
  const folder = baseFolder(content);
  if (folder === undefined) return { name, content };
  return { name, content, path: `${folder}${folder.includes("\\") ? "\\" : "/"}SKILL.md` };
}

const baseFolder = (content: string): string | undefined =>
  BASE_FOLDER.exec(content)?.[1]
    ?.trim()
    .replace(/[\\/]+$/, "");
