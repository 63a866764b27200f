import type { SettingsSources } from "../measure/window/settings.ts";
import { field } from "../messages/untrusted.ts";
import type {
  ChildOptions,
  CompactorOptions,
  CostOptions,
  EnginePorts,
  SessionOptions,
  WindowSources,
} from "./options.ts";

/**
 * Source of a subagent's option that `child()` does not set:
 * - `inherited`: the parent's value.
 * - `merged`: the parent's group, field by field. The child's own fields win.
 * - `with-model`: the parent's value, if the child uses the parent's model.
 * - `events-only`: the parent's `onEvent`. The other callbacks belong to the screen and caches of the main
 *   conversation.
 * - `own`: no value, because the option describes one conversation.
 */
export type Inheritance = "inherited" | "merged" | "with-model" | "events-only" | "own";

type RulesFor<Options> = Readonly<Record<keyof Required<Options>, Inheritance>>;

/** Option groups with a rule for each member. */
interface GroupRules {
  readonly window: RulesFor<WindowSources>;
  readonly cost: RulesFor<CostOptions>;
  readonly settings: RulesFor<SettingsSources>;
  readonly ports: RulesFor<EnginePorts>;
  readonly session: RulesFor<SessionOptions>;
}

/** Inheritance rule of every option. A new option without a rule does not compile. */
export const INHERITANCE: GroupRules & Omit<RulesFor<CompactorOptions>, keyof GroupRules> = {
  model: "with-model",
  // A subagent has another system prompt and other tools.
  request: "own",
  window: { tokens: "with-model", evidence: "with-model", models: "inherited" },
  cost: { prices: "inherited", cacheTtl: "inherited" },
  settings: { values: "merged", file: "inherited", environment: "inherited" },
  clearing: "merged",
  compaction: "merged",
  // The to-dos, plan, skills and agents of the main conversation would mislead a subagent.
  state: "own",
  fileTools: "inherited",
  hooks: "inherited",
  // Each module decides how it works in a subagent.
  modules: "inherited",
  // Two conversations in one file would be resumed as one.
  transcript: "own",
  host: "events-only",
  ports: { now: "inherited", newUuid: "inherited", countText: "inherited" },
  session: { id: "inherited", cwd: "inherited", permissionMode: "inherited" },
};

/**
 * Returns the subagent's own options. Missing options get the parent's value if {@link INHERITANCE} allows
 * it. An undefined value counts as missing.
 */
export function childOptions(
  parent: CompactorOptions,
  own: Omit<ChildOptions, "agentId" | "description">,
): CompactorOptions {
  return complete(INHERITANCE, parent, own, own.model === undefined);
}

function complete(rules: object, parent: unknown, own: unknown, usesParentModel: boolean): object {
  return Object.fromEntries(
    Object.entries(rules).map(([name, rule]: [string, Inheritance | object]) => {
      const [parents, given] = [field(parent, name), field(own, name)];
      const value =
        typeof rule === "object"
          ? complete(rule, parents, given, usesParentModel)
          : inherited(rule, parents, given, usesParentModel);
      return [name, value];
    }),
  );
}

function inherited(rule: Inheritance, parents: unknown, given: unknown, usesParentModel: boolean): unknown {
  switch (rule) {
    case "inherited":
      return given === undefined ? parents : given;
    case "with-model":
      return given === undefined && usesParentModel ? parents : given;
    case "merged":
      return { ...definedIn(parents), ...definedIn(given) };
    case "events-only":
      return { ...definedIn({ onEvent: field(parents, "onEvent") }), ...definedIn(given) };
    case "own":
      return given;
  }
}

const definedIn = (options: unknown): object =>
  Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined));
