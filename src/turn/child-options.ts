import type { ChildOptions, CompactorOptions } from "./options.ts";

/**
 * The source of a subagent's option when `child()` is not given one:
 * - `inherited`: the parent's value.
 * - `merged`: the parent's value, field by field. The child's own fields win.
 * - `with-model`: the parent's value as long as the child uses the parent's model.
 * - `events-only`: the parent's `onEvent`. The other callbacks belong to the main conversation's screen and caches.
 * - `own`: none. The option describes one conversation.
 */
export type Inheritance = "inherited" | "merged" | "with-model" | "events-only" | "own";

/** A decision for every option. A new option does not compile without one. */
export const INHERITANCE: Readonly<Record<keyof CompactorOptions, Inheritance>> = {
  model: "with-model",
  modelName: "with-model",
  summaryModel: "inherited",
  // A subagent has another system prompt and other tools.
  request: "own",
  cacheTtl: "inherited",
  windowTokens: "with-model",
  windowEvidence: "with-model",
  models: "inherited",
  prices: "inherited",
  settings: "merged",
  settingsFile: "inherited",
  environment: "inherited",
  clearing: "merged",
  compaction: "merged",
  // Todos, plan, skills and agents of the main conversation would mislead a subagent.
  state: "own",
  fileTools: "inherited",
  hooks: "inherited",
  // Each module decides what it does in a subagent.
  modules: "inherited",
  // Two conversations in one file would be resumed as one.
  transcript: "own",
  host: "events-only",
  ports: "inherited",
  countText: "inherited",
  sessionId: "inherited",
  cwd: "inherited",
  permissionMode: "inherited",
};

type OptionName = keyof CompactorOptions;

/** All options of a subagent: its own, completed from its parent. An undefined value counts as not given. */
export function childOptions(
  parent: CompactorOptions,
  own: Omit<ChildOptions, "agentId" | "description">,
): CompactorOptions {
  const given: CompactorOptions = own;
  const usesParentModel = given.model === undefined && given.modelName === undefined;
  const names = Object.keys(INHERITANCE) as OptionName[];
  return Object.fromEntries(names.map((name) => [name, optionOf(name, parent, given, usesParentModel)]));
}

function optionOf(
  name: OptionName,
  parent: CompactorOptions,
  given: CompactorOptions,
  usesParentModel: boolean,
): unknown {
  switch (INHERITANCE[name]) {
    case "inherited":
      return given[name] === undefined ? parent[name] : given[name];
    case "with-model":
      return given[name] === undefined && usesParentModel ? parent[name] : given[name];
    case "merged":
      return { ...definedIn(parent[name]), ...definedIn(given[name]) };
    case "events-only":
      return { ...definedIn({ onEvent: parent.host?.onEvent }), ...definedIn(given[name]) };
    case "own":
      return given[name];
  }
}

const definedIn = (options: unknown): object =>
  Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined));
