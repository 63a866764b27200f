import type { Random } from "../../demo/random.ts";
import { chance, pickFrom } from "../chance.ts";
import { isRisky } from "../schema/value.ts";
import type { SeenCall } from "./coder-view.ts";
import { canEdit, type IdeaSource } from "./ideas.ts";
import type { CoderTool, ToolKind } from "./tools.ts";

export interface Action {
  readonly tool: CoderTool;
  readonly kind: ToolKind;
}

/**
 * Typical course of work: explore, read, change, test, repeat. A kind that is listed more than once is more
 * likely.
 */
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

/** Kinds of calls that help after a failed call, best first. The key is the kind of the failed call. */
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

/** Percentage of calls to unusual tools if usual tools are available too. */
const UNUSUAL_PERCENT = 10;
/** Kinds of calls that do not depend on each other's results, so that such calls can run together. */
const TOGETHER: readonly ToolKind[] = ["read", "grep", "list", "fetch", "web-search"];
const MAX_TOGETHER = 4;

/** Options for planning. See `CoderOptions` for most of them. */
interface PlanOptions {
  readonly tools: readonly CoderTool[];
  readonly parallelPercent: number;
  readonly web: boolean;
  readonly mayDelegate: boolean;
  readonly inventsPaths: boolean;
  /** Allows calls to unknown tools besides known ones. */
  readonly callsUnknown: boolean;
}

/** Plans the calls of this turn: one or several, or none if no tool is harmless. */
export function planActions(source: IdeaSource, options: PlanOptions): readonly Action[] {
  const { random } = source;
  const actions = possibleActions(source, options);
  const first = chooseAction(source, actions);
  if (first === undefined) return [];
  if (!TOGETHER.includes(first.kind) || !chance(random, options.parallelPercent)) return [first];
  const count = random.between(2, MAX_TOGETHER);
  const together = actions.filter(({ kind }) => TOGETHER.includes(kind));
  const others = Array.from({ length: count - 1 }, () => pickFrom(together, random) ?? first);
  return [first, ...others];
}

/**
 * Returns the possible actions. An unknown tool can do anything, so it is called only if the client has no
 * other tools. A client with only unknown tools wants them to be called, except those that sound risky.
 */
function possibleActions(source: IdeaSource, options: PlanOptions): readonly Action[] {
  const { tools } = options;
  const isCallable = (tool: CoderTool): boolean =>
    options.callsUnknown || !isUnknown(tool) || (tools.every(isUnknown) && !isRisky(tool.name));
  return tools
    .filter(isCallable)
    .flatMap((tool) => tool.kinds.map((kind): Action => ({ tool, kind })))
    .filter(({ kind }) => isPossible(kind, source, options));
}

const isUnknown = ({ kinds, form }: CoderTool): boolean => form === "plain" && kinds.includes("other");

function isPossible(kind: ToolKind, source: IdeaSource, options: PlanOptions): boolean {
  const { web, mayDelegate, inventsPaths } = options;
  const { root, paths } = source.view;
  if (kind === "read") return inventsPaths || paths.length > 0;
  if (kind === "edit") return canEdit(source);
  if (kind === "fetch" || kind === "web-search") return web;
  if (kind === "agent" && !mayDelegate) return false;
  return inventsPaths || root !== undefined || !NEED_A_FOLDER.includes(kind);
}

const NEED_A_FOLDER: readonly ToolKind[] = ["write", "grep", "list", "agent"];

function chooseAction(source: IdeaSource, actions: readonly Action[]): Action | undefined {
  const { random, view, step } = source;
  const failure = view.calls.find((call) => call.isNew && call.isError);
  const trusted = failure === undefined ? actions : withoutFailing(actions, view.calls);
  if (failure !== undefined) {
    const remedy = firstOf(REMEDIES[failure.kind], trusted, random);
    if (remedy !== undefined) return remedy;
  }
  const unusual = trusted.filter(({ kind }) => kind === "other");
  const hasUsual = trusted.some(({ kind }) => kind !== "other");
  if (unusual.length > 0 && (!hasUsual || chance(random, UNUSUAL_PERCENT))) return pickFrom(unusual, random);
  const wanted = COURSE[(step - 1) % COURSE.length] ?? ["read"];
  const liked = random.pick(wanted);
  return firstOf([liked, ...wanted], trusted, random) ?? pickFrom(trusted, random);
}

/**
 * Kinds of calls to use if there is no tool for the wanted kind. The key is the wanted kind, the value is the
 * kind to use instead. A read replaces an edit, and a shell command replaces a list or a search.
 */
const INSTEAD: Partial<Readonly<Record<ToolKind, ToolKind>>> = {
  edit: "read",
  list: "shell",
  grep: "shell",
};

function firstOf(kinds: readonly ToolKind[], actions: readonly Action[], random: Random): Action | undefined {
  for (const kind of kinds) {
    const ofKind = (wanted: ToolKind | undefined): readonly Action[] =>
      actions.filter((action) => action.kind === wanted);
    const action = pickFrom(ofKind(kind), random) ?? pickFrom(ofKind(INSTEAD[kind]), random);
    if (action !== undefined) return action;
  }
  return undefined;
}

/**
 * Removes tools that failed in the newest message or in their two latest calls. A tool that failed stays if
 * there would be no tools left.
 */
function withoutFailing(actions: readonly Action[], calls: readonly SeenCall[]): readonly Action[] {
  const justFailed = new Set(calls.filter((call) => call.isNew && call.isError).map((call) => call.name));
  const others = actions.filter(({ tool }) => !justFailed.has(tool.name));
  const reliable = others.filter(({ tool }) => {
    const latest = calls.filter((call) => call.name === tool.name).slice(0, 2);
    return latest.length < 2 || latest.some((call) => !call.isError);
  });
  return [reliable, others, actions].find((some) => some.length > 0) ?? actions;
}
