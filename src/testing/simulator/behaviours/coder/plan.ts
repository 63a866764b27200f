import type { Random } from "../../../../demo/random.ts";
import { chance } from "../lexicon.ts";
import { canEdit, type IdeaSource } from "./ideas.ts";
import type { SeenCall } from "./sight.ts";
import type { CoderTool, ToolKind } from "./tools.ts";

export interface Action {
  readonly tool: CoderTool;
  readonly kind: ToolKind;
}

/** How a piece of work goes: look around, read, change, test, and again. Repeated kinds are likelier. */
const COURSE: readonly (readonly [ToolKind, ...ToolKind[]])[] = [
  ["list", "list", "grep", "todo"],
  ["grep", "grep", "list", "agent"],
  ["read", "read", "read", "fetch"],
  ["read", "read", "grep"],
  ["edit", "edit", "write"],
  ["write", "write", "edit"],
  ["shell"],
  ["read", "shell"],
  ["edit", "edit", "write"],
  ["shell", "shell", "todo"],
  ["read", "web-search", "grep"],
  ["edit", "write", "shell"],
];

/** What helps when a call of this kind has failed, best first. */
const REMEDIES: Readonly<Record<ToolKind, readonly ToolKind[]>> = {
  read: ["list", "grep", "shell", "write"],
  write: ["shell", "list", "read"],
  edit: ["read", "grep", "shell"],
  shell: ["read", "grep", "edit", "list"],
  grep: ["list", "shell", "read"],
  list: ["grep", "shell", "read"],
  fetch: ["web-search", "grep", "read"],
  "web-search": ["fetch", "grep", "read"],
  todo: ["read", "shell"],
  agent: ["grep", "list", "read"],
  other: ["read", "grep", "list", "shell"],
};

/** Tools that are none of the usual ones get their turn this often, where there are usual ones too. */
const UNUSUAL_PERCENT = 10;
/** Kinds that do not depend on each other's outcome and so go well together. */
const TOGETHER: readonly ToolKind[] = ["read", "grep", "list", "fetch", "web-search"];
const MOST_TOGETHER = 4;

export interface PlanOptions {
  readonly tools: readonly CoderTool[];
  readonly parallelPercent: number;
}

/** What to do this turn: one call, sometimes several at once. None only where there is no tool. */
export function planActions(source: IdeaSource, { tools, parallelPercent }: PlanOptions): readonly Action[] {
  const { random } = source;
  const first = chooseAction(source, tools);
  if (first === undefined) return [];
  if (!TOGETHER.includes(first.kind) || !chance(random, parallelPercent)) return [first];
  const count = random.between(2, MOST_TOGETHER);
  const others = Array.from({ length: count - 1 }, () => chooseTogether(tools, random) ?? first);
  return [first, ...others];
}

function chooseTogether(tools: readonly CoderTool[], random: Random): Action | undefined {
  const actions = TOGETHER.flatMap((kind) => actionsOf(kind, tools));
  return actions[random.between(0, Math.max(0, actions.length - 1))];
}

function chooseAction(source: IdeaSource, tools: readonly CoderTool[]): Action | undefined {
  const { random, sight, step } = source;
  const failure = sight.calls.find((call) => call.isNew && call.isError);
  const trusted = failure === undefined ? tools : withoutFailing(tools, sight.calls);
  if (failure !== undefined) {
    const remedy = firstOf(REMEDIES[failure.kind], trusted, source);
    if (remedy !== undefined) return remedy;
  }
  const unusual = actionsOf("other", trusted);
  const hasUsual = trusted.some(({ kinds }) => !kinds.includes("other"));
  if (unusual.length > 0 && (!hasUsual || chance(random, UNUSUAL_PERCENT))) return pickFrom(unusual, random);
  const wanted = COURSE[(step - 1) % COURSE.length] ?? ["read"];
  const liked = random.pick(wanted);
  return firstOf([liked, ...wanted], trusted, source) ?? pickFrom(trusted.flatMap(allActions), random);
}

function firstOf(
  kinds: readonly ToolKind[],
  tools: readonly CoderTool[],
  source: IdeaSource,
): Action | undefined {
  for (const kind of kinds) {
    // Nothing that could be edited is in sight: it has to be read first.
    const isPossible = kind !== "edit" || canEdit(source) || actionsOf("read", tools).length === 0;
    const action = pickFrom(actionsOf(isPossible ? kind : "read", tools), source.random);
    if (action !== undefined) return action;
  }
  return undefined;
}

/** Tools that just failed are left alone for now, as are those that failed twice before; where others are. */
function withoutFailing(tools: readonly CoderTool[], calls: readonly SeenCall[]): readonly CoderTool[] {
  const justFailed = new Set(calls.filter((call) => call.isNew && call.isError).map((call) => call.name));
  const others = tools.filter(({ name }) => !justFailed.has(name));
  const reliable = others.filter(({ name }) => {
    const latest = calls.filter((call) => call.name === name).slice(0, 2);
    return latest.length < 2 || latest.some((call) => !call.isError);
  });
  return [reliable, others, tools].find((some) => some.length > 0) ?? tools;
}

function actionsOf(kind: ToolKind, tools: readonly CoderTool[]): readonly Action[] {
  return tools.filter(({ kinds }) => kinds.includes(kind)).map((tool) => ({ tool, kind }));
}

const allActions = (tool: CoderTool): readonly Action[] => tool.kinds.map((kind) => ({ tool, kind }));

function pickFrom<T>(choices: readonly T[], random: Random): T | undefined {
  return choices[random.between(0, Math.max(0, choices.length - 1))];
}
