import { headThatFits, MIN_HEAD_TOKENS, mayFit } from "../../measure/tokens/fitting-head.ts";
import type { Attachment, UserEntry } from "../../messages/entry.ts";
import { isTodoTool, readTodo, type Todo, TodoLedger } from "../../messages/todo-ledger.ts";
import { contentText, field, firstString, listField, stringField } from "../../messages/untrusted.ts";
import type { BackgroundAgent, Plan, UsedSkill } from "./host-state.ts";
import { type AnsweredCall, type SessionEvent, sessionEvents, textOf } from "./read-state.ts";
import {
  type Fit,
  firstOfEach,
  fitEach,
  type Gather,
  type Gathering,
  hostOr,
  NOTHING,
  type RestoredItem,
  type RestoreInput,
  readList,
  restoredItem,
  type SkippedItem,
  skipping,
} from "./restored.ts";

/**
 * Restores the state of the work from the host or the conversation: to-dos, plan, plan mode, agents and
 * skills.
 */

/** Restores the current to-do list. If it does not fit, completed items are dropped first. */
export const gatherTodos: Gather = hostOr(
  "todos",
  "todos",
  ({ events }) => todosIn(events),
  (list, { input }) => {
    const { values, skipped } = readList("todos", list, readTodo);
    const withId = values.filter(({ id }) => id !== undefined);
    const withoutId = values.filter(({ id }) => id === undefined);
    const forms = (name: string, todos: readonly Todo[], attach: (todos: readonly Todo[]) => Attachment) => {
      const open = todos.filter(({ status }) => status !== "completed");
      const form =
        (shown: readonly Todo[]): (() => RestoredItem) =>
        () =>
          restoredItem("todos", name, attach(shown), input.countTokens, shown.length < todos.length);
      if (todos.length === 0) return [];
      return open.length === 0 || open.length === todos.length ? [form(todos)] : [form(todos), form(open)];
    };
    const lists = [forms("todo list", withoutId, todoList), forms("task list", withId, taskList)];
    return (budgetTokens) => fitEach(lists, budgetTokens, skipped);
  },
);

/** Creates Claude Code's reminder for a list that is always written whole. */
const todoList = (todos: readonly Todo[]): Attachment => ({
  type: "todo_reminder",
  content: todos.map(({ content, status }) => ({ content, status })),
  itemCount: todos.length,
});

/** Creates Claude Code's reminder for tasks that change one by one, by their id. */
const taskList = (todos: readonly Todo[]): Attachment => ({
  type: "task_reminder",
  content: todos.map(({ id, content, status }) => ({ id, subject: content, status })),
  itemCount: todos.length,
});

/**
 * Returns the to-do list at the end of the conversation: the last full list, or the result of task changes.
 */
export function todosIn(events: Iterable<SessionEvent>): readonly Todo[] {
  const ledger = new TodoLedger();
  for (const event of events) {
    if (event.what === "message") ledger.prompt(field(event.entry, "todos"));
    else if (event.what === "attachment") ledger.attachment(event.attachment);
    else if (isTodoTool(event.call.name)) {
      const { name, input, isError, outcome, result } = event.call;
      ledger.call({ name, input, isError, outcome, resultText: () => contentText(result.content) });
    }
  }
  return ledger.todos();
}

/** Restores the whole plan with its path, or only the path if the plan does not fit. */
export const gatherPlan: Gather = hostOr(
  "plan",
  "plan",
  ({ events }) => planIn(events),
  (value, { input }) => {
    if (value === undefined || value === null) return () => NOTHING;
    const path = firstString(value, "path");
    const content = stringField(value, "content");
    if (path === undefined || content === undefined || content.trim() === "")
      return () => skipping("plan", "invalid");
    const form = (planContent: string, isTruncated: boolean) => (): RestoredItem => {
      const attachment = { type: "plan_file_reference", planFilePath: path, planContent };
      return restoredItem("plan", path, attachment, input.countTokens, isTruncated);
    };
    return (budgetTokens) => {
      const restored = fitEach([[form(content, false), form("", true)]], budgetTokens);
      if (!restored.items.some(({ isTruncated }) => isTruncated)) return restored;
      return { ...restored, skipped: [{ kind: "plan", name: path, reason: "over-budget" }] };
    };
  },
);

const PLAN_FILES: ReadonlySet<string> = new Set(["plan_file", "plan_file_reference"]);

/** Returns the plan that was restored or referenced last. */
function planIn(events: Iterable<SessionEvent>): Plan | undefined {
  let plan: Plan | undefined;
  for (const event of events) {
    if (event.what !== "attachment" || !PLAN_FILES.has(event.type)) continue;
    const path = firstString(event.attachment, "planFilePath", "filename", "path");
    const content = firstString(event.attachment, "planContent", "content");
    if (path !== undefined && content !== undefined) plan = { path, content };
  }
  return plan;
}

/** Restores plan mode. A summary alone would not stop the agent from making changes. */
export const gatherPlanMode: Gather = hostOr(
  "plan-mode",
  "isPlanMode",
  ({ events }) => isPlanModeIn(events),
  (answer, gathering) => {
    const isOn = answer ?? false;
    if (typeof isOn !== "boolean") return () => skipping("plan-mode", "invalid");
    if (!isOn) return () => NOTHING;
    const { planFilePath } = planModeIn(gathering.events);
    const attachment = {
      type: "plan_mode",
      reminderType: "full",
      isSubAgent: false,
      ...(planFilePath === undefined ? {} : { planFilePath, planExists: true }),
    };
    const form = () => restoredItem("plan-mode", "plan-mode", attachment, gathering.input.countTokens);
    return (budgetTokens) => fitEach([[form]], budgetTokens);
  },
);

export function isPlanModeIn(events: Iterable<SessionEvent>): boolean {
  return planModeIn(events).isOn;
}

/**
 * Returns whether plan mode is on. The newest prompt states the mode, and later tools and reminders may
 * change it.
 */
function planModeIn(events: Iterable<SessionEvent>): {
  readonly isOn: boolean;
  readonly planFilePath: string | undefined;
} {
  let isOn = false;
  let planFilePath: string | undefined;
  for (const event of events) {
    if (event.what === "message") {
      const mode = stringField(event.entry, "permissionMode");
      if (mode !== undefined) isOn = mode === "plan";
    } else if (event.what === "call") {
      const { name, isError } = event.call;
      if (name === "EnterPlanMode" && !isError) isOn = true;
      if (name === "ExitPlanMode" && !isError) isOn = false;
    } else if (event.type === "plan_mode") {
      isOn = true;
      planFilePath = firstString(event.attachment, "planFilePath") ?? planFilePath;
    } else if (event.type === "plan_mode_exit") isOn = false;
  }
  return { isOn, planFilePath };
}

/** Restores background agents whose result the agent does not have yet, so that none is started twice. */
export const gatherAgents: Gather = hostOr(
  "agents",
  "agents",
  ({ events }) => agentsIn(events),
  (list, { input }) => {
    const { values, skipped } = readList("agents", list, readAgent);
    const forms = firstOfEach(values, ({ id }) => id).map(({ id, description, status, outputPath }) => {
      const output = outputPath === undefined ? {} : { outputFilePath: outputPath };
      const task = { taskId: id, taskType: "local_agent", description, status, deltaSummary: null };
      return [
        () => restoredItem("agents", id, { type: "task_status", ...task, ...output }, input.countTokens),
      ];
    });
    return (budgetTokens) => fitEach(forms, budgetTokens, skipped);
  },
);

function readAgent(item: unknown): BackgroundAgent | undefined {
  const id = firstString(item, "id");
  const status = STATUSES.get(stringField(item, "status") ?? "");
  if (id === undefined || status === undefined) return undefined;
  const outputPath = firstString(item, "outputPath");
  const description = firstString(item, "description") ?? "";
  return { id, description, status, ...(outputPath === undefined ? {} : { outputPath }) };
}

/**
 * Status of a background agent. The key is a word that some agent uses for a status, and the value is our
 * status.
 */
const STATUSES: ReadonlyMap<string, BackgroundAgent["status"]> = new Map([
  ["pending", "running"],
  ["running", "running"],
  ["completed", "completed"],
  ["failed", "failed"],
  ["stopped", "stopped"],
  ["killed", "stopped"],
]);

/**
 * Returns background agents that were launched and have not reported since. Also returns agents that ended
 * without a result.
 */
export function agentsIn(events: Iterable<SessionEvent>): readonly BackgroundAgent[] {
  const ledger = new AgentLedger();
  for (const event of events) {
    if (event.what === "call") ledger.call(event.call);
    else if (event.what === "message") ledger.told(() => textOf(event.entry));
    else if (event.type === "queued_command") ledger.told(() => contentText(event.attachment.prompt));
    else if (event.type === "task_status") ledger.status(event.attachment);
  }
  return ledger.agents();
}

class AgentLedger {
  readonly #agents = new Map<string, BackgroundAgent>();

  agents(): readonly BackgroundAgent[] {
    return [...this.#agents.values()];
  }

  call(call: AnsweredCall): void {
    const mayStart = LAUNCHING_TOOLS.has(call.name) || call.name === "SendMessage";
    if ((!mayStart && this.#agents.size === 0) || call.isError) return;
    if (LAUNCHING_TOOLS.has(call.name)) this.#launched(call);
    else if (call.name === "SendMessage") this.#resumed(call);
    else if (call.name === "Read") this.#outputRead(stringField(call.input, "file_path"));
    else if (STOPPING_TOOLS.has(call.name)) this.#agents.delete(taskIdIn(call.input) ?? "");
    else if (COLLECTING_TOOLS.has(call.name) && !isStillRunning(call))
      this.#agents.delete(taskIdIn(call.input) ?? "");
  }

  /**
   * Reads a notice that an agent has ended. The notice usually contains the result. If it does not, the
   * result is still to be collected.
   */
  told(textOfIt: () => string): void {
    if (this.#agents.size === 0) return;
    const text = textOfIt();
    if (!text.trimStart().startsWith("<task-notification>")) return;
    const id = tagged(text, "task-id");
    const known = id === undefined ? undefined : this.#agents.get(id);
    const status = STATUSES.get(tagged(text, "status") ?? "completed") ?? "completed";
    if (known === undefined || status === "running") return;
    if (status !== "completed" || tagged(text, "result") !== undefined) this.#agents.delete(known.id);
    else {
      const outputPath = tagged(text, "output-file") ?? known.outputPath;
      this.#agents.set(known.id, { ...known, status, ...(outputPath === undefined ? {} : { outputPath }) });
    }
  }

  /** Reads the status from an earlier restoration. */
  status(attachment: unknown): void {
    if (stringField(attachment, "taskType") === "local_bash") return;
    const outputPath = firstString(attachment, "outputFilePath");
    const agent = readAgent({
      id: stringField(attachment, "taskId"),
      status: stringField(attachment, "status"),
      description: stringField(attachment, "description"),
      outputPath,
    });
    if (agent) this.#agents.set(agent.id, agent);
  }

  #launched({ input, outcome, result }: AnsweredCall): void {
    const text = contentText(result.content);
    const isLaunch = field(outcome, "isAsync") === true || text.startsWith("Async agent launched");
    const id = firstString(outcome, "agentId") ?? /\bagentId: (\w+)/.exec(text)?.[1];
    if (!isLaunch || id === undefined) return;
    const description = firstString(input, "description", "subagent_type") ?? "";
    const outputPath = firstString(outcome, "outputFile") ?? /^output_file: (.+)$/m.exec(text)?.[1];
    const path = outputPath === undefined ? {} : { outputPath };
    this.#agents.set(id, { id, description, status: "running", ...path });
  }

  /** Reads a message that resumes an ended agent. */
  #resumed({ input, outcome }: AnsweredCall): void {
    const id = firstString(outcome, "resumedAgentId");
    if (id === undefined) return;
    const known = this.#agents.get(id);
    const description = known?.description ?? firstString(input, "summary") ?? "";
    this.#agents.set(id, { ...known, id, description, status: "running" });
  }

  #outputRead(path: string | undefined): void {
    for (const agent of this.#agents.values()) {
      if (agent.outputPath === path && path !== undefined && agent.status !== "running")
        this.#agents.delete(agent.id);
    }
  }
}

const LAUNCHING_TOOLS: ReadonlySet<string> = new Set(["Task", "Agent"]);
const COLLECTING_TOOLS: ReadonlySet<string> = new Set(["TaskOutput", "AgentOutputTool", "AgentOutput"]);
const STOPPING_TOOLS: ReadonlySet<string> = new Set(["TaskStop", "KillShell", "KillBash"]);

const taskIdIn = (input: unknown): string | undefined =>
  firstString(input, "task_id", "taskId", "agentId", "agent_id", "shell_id", "id");

function isStillRunning({ outcome, result }: AnsweredCall): boolean {
  const status =
    stringField(field(outcome, "task"), "status") ?? tagged(contentText(result.content), "status");
  return status !== undefined && STATUSES.get(status) === "running";
}

/** Returns the text in the first tag with this name. A later tag may be part of a subagent's own words. */
function tagged(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  if (start < 0) return undefined;
  const end = text.indexOf(`</${tag}>`, start);
  return text.slice(start + tag.length + 2, end < 0 ? undefined : end).trim();
}

/**
 * Token limit for a skill. The instructions of a skill are at its top. So the head of a skill is worth more
 * than the tail of another skill.
 */
const SKILL_TOKENS = 5_000;
const SKILLS_TOKENS = 25_000;

/**
 * Restores the used skills that the kept messages do not show. The newest skills get tokens first, but they
 * come last in the result. From this order, the next compaction sees the order of use.
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
  return input.countTokens(head) < MIN_HEAD_TOKENS ? undefined : cut(head);
}

const invoked = ({ name, path }: UsedSkill, content: string): Attachment => ({
  type: "invoked_skills",
  skills: [{ name, ...(path === undefined ? {} : { path }), content }],
});

const whereTheRestIs = ({ path }: UsedSkill): string =>
  path === undefined
    ? "[The rest of this skill was left out. Invoke the skill again when you need it.]"
    : `[The rest of this skill was left out. It is in ${path}. Read it there when you need it.]`;

function readSkill(item: unknown): UsedSkill | undefined {
  const name = firstString(item, "name");
  const content = firstString(item, "content");
  if (name === undefined || content === undefined || content.trim() === "") return undefined;
  const path = firstString(item, "path");
  return { name, content, ...(path === undefined ? {} : { path }) };
}

/**
 * Returns skills whose text is in the conversation, the newest first. The text came from a call, a command or
 * an earlier restoration.
 */
export function skillsIn(events: Iterable<SessionEvent>): readonly UsedSkill[] {
  const nameOfCall = new Map<string, string>();
  const used: UsedSkill[] = [];
  for (const event of events) {
    if (event.what === "message") {
      const skill = skillInMessage(event.entry, nameOfCall);
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

/** Returns the skill in a message that no user typed. */
function skillInMessage(entry: UserEntry, nameOfCall: ReadonlyMap<string, string>): UsedSkill | undefined {
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
