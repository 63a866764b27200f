import { kindOf, requireJson } from "../conversation/given-messages.ts";
import { isRecord } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";
import { isTimeLimit } from "../models/abortable.ts";
import { isModel, requireModel } from "../models/complete.ts";
import { type Settings, SMALLEST_WINDOW_TOKENS } from "../window/settings.ts";
import { INHERITANCE } from "./child-options.ts";
import type {
  BeforeOptions,
  ChildOptions,
  ClearingOptions,
  ClearOptions,
  CompactionOptions,
  CompactorOptions,
  HostCallbacks,
  ManualOptions,
  UndoOptions,
} from "./options.ts";

/** The names of an interface's options. The compiler sees to it that none is missing. */
export type OptionNames<Options> = Readonly<Record<keyof Required<Options>, unknown>>;

/** Throws `option-invalid` for what is no object, and `option-unknown` for a name that does not exist. */
export function requireOptionNames(options: unknown, names: object, where: string): void {
  if (options === undefined) return;
  if (!isRecord(options)) throw invalidOption(where, "an object", options);
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(names, name)) throw unknownOption(name, Object.keys(names), where);
  }
}

export function invalidOption(
  option: string,
  expected: string,
  given: unknown,
  remedy = `Pass ${expected}, or leave it out.`,
): LonghaulError {
  return new LonghaulError("option-invalid", `${option} must be ${expected}, but is ${shown(given)}.`, {
    remedy,
    facts: { option },
  });
}

const shown = (value: unknown): string =>
  typeof value === "string" && value !== "" && value.length <= 40 ? JSON.stringify(value) : kindOf(value);

function unknownOption(name: string, names: readonly string[], where: string): LonghaulError {
  const meant = nearest(name, names);
  return new LonghaulError("option-unknown", `${where} has no option "${name}".`, {
    remedy:
      meant === undefined
        ? `Remove it, or use one of: ${[...names].sort().join(", ")}.`
        : `Did you mean "${meant}"?`,
    facts: { option: name, ...(meant === undefined ? {} : { meant }) },
  });
}

/** Names that other libraries use for the same thing. */
const SAME_THING: Readonly<Record<string, string>> = {
  window: "windowTokens",
  contextwindow: "windowTokens",
  maxcontexttokens: "windowTokens",
  contextlimit: "windowTokens",
  system: "request",
  systemprompt: "request",
  tools: "request",
  onevent: "host",
  onprogress: "host",
  summarizer: "summariser",
  notes: "modules",
  collapse: "modules",
};

/** The name that was meant: a name of other libraries for it, or one that is two letters away at most. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const same = SAME_THING[wanted];
  if (same !== undefined && names.includes(same)) return same;
  const byDistance = names
    .map((option) => [distance(wanted, option.toLowerCase()), option] as const)
    .sort(([one], [other]) => one - other);
  const [closest, option] = byDistance[0] ?? [Number.POSITIVE_INFINITY, undefined];
  return closest <= Math.min(2, Math.floor(name.length / 3)) ? option : undefined;
}

/** Letters to insert, remove or replace to make one word of the other; swapped neighbors count as one. */
function distance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwap) best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[other.length] ?? 0;
}

export function requireOneOf(value: unknown, choices: readonly string[], option: string): void {
  if (value === undefined || choices.includes(String(value))) return;
  throw invalidOption(option, choices.map((choice) => `"${choice}"`).join(" or "), value);
}

function requireFigure(value: unknown, option: string): void {
  if (value === undefined || (typeof value === "number" && value >= 0)) return;
  throw invalidOption(option, "a number that is not negative", value);
}

export function requireTime(value: unknown, option: string): void {
  if (value === undefined || isTimeLimit(value)) return;
  throw invalidOption(option, "a positive number of milliseconds", value);
}

export const hasMethods = (value: unknown, methods: readonly string[]): boolean =>
  isRecord(value) && methods.every((method) => typeof value[method] === "function");

const CHILD = {
  ...INHERITANCE,
  agentId: true,
  description: true,
} as const satisfies OptionNames<ChildOptions>;
const CLEARING: OptionNames<ClearingOptions> = {
  form: true,
  tools: true,
  targetTokens: true,
  idleMinutes: true,
};
const COMPACTION: OptionNames<CompactionOptions> = {
  keepRecentTokens: true,
  summariser: true,
  reactiveOnly: true,
  autonomous: true,
  instructions: true,
  background: true,
  firstByteTimeoutMs: true,
  timeoutMs: true,
};
const HOST: OptionNames<HostCallbacks> = {
  onEvent: true,
  onProgress: true,
  onStatus: true,
  onStreamMode: true,
  onLength: true,
  onHookMessage: true,
  onMessage: true,
  onFilesForgotten: true,
  caches: true,
};
const SETTINGS: OptionNames<Settings> = {
  compactEnabled: true,
  autoCompactEnabled: true,
  microcompactEnabled: true,
  autoCompactPercent: true,
  autoCompactWindow: true,
  blockingLimit: true,
  collapseEnabled: true,
};
const BEFORE: OptionNames<BeforeOptions> = { signal: true, caller: true, request: true };
const MANUAL: OptionNames<ManualOptions> = {
  instructions: true,
  force: true,
  from: true,
  upTo: true,
  keepRecentTokens: true,
  signal: true,
};
const CLEAR: OptionNames<ClearOptions> = { keep: true };
const UNDO: OptionNames<UndoOptions> = { signal: true };

/** Groups of options, each with its own names. */
const GROUPS = {
  clearing: CLEARING,
  compaction: COMPACTION,
  host: HOST,
  settings: SETTINGS,
} as const satisfies Partial<Record<keyof CompactorOptions, OptionNames<object>>>;

/** Throws for options of `createCompactor` that cannot be meant: nothing of them is ignored silently. */
export function requireCompactorOptions(options: CompactorOptions): void {
  requireAllOptions(options, INHERITANCE, "createCompactor");
}

export function requireChildOptions(options: ChildOptions): void {
  requireAllOptions(options, CHILD, "child");
}

function requireAllOptions(
  options: CompactorOptions,
  names: OptionNames<CompactorOptions>,
  where: string,
): void {
  if (isModel(options)) {
    throw invalidOption(`The argument of ${where}`, "options", options, `Pass ${where}({ model }).`);
  }
  requireOptionNames(options, names, where);
  for (const [group, known] of Object.entries(GROUPS)) {
    requireOptionNames(options[group as keyof typeof GROUPS], known, group);
  }
  for (const name of ["model", "summaryModel"] as const) {
    if (options[name] !== undefined) requireModel(options[name], name);
  }
  requireWindows(options);
  requireChoices(options);
  requirePorts(options);
  requireJson(options.request, "request");
}

/** Throws unless the chosen form of clearing is the engine's own or that of an installed module. */
export function requireInstalledForm({ clearing, modules = [] }: CompactorOptions): void {
  const form = clearing?.form;
  if (form !== "cached" && form !== "api") return;
  if (modules.some(({ name }) => name === form)) return;
  const maker = form === "api" ? "apiClearing()" : "cachedEdits()";
  const remedy = `Add ${maker} to the modules, or choose another form.`;
  throw invalidOption("clearing.form", "a form that the engine or one of its modules has", form, remedy);
}

/** Throws `window-invalid` unless this is a size that a context window can have. */
export function requireWindow(tokens: unknown, option = "windowTokens"): void {
  if (tokens === undefined) return;
  if (typeof tokens === "number" && Number.isFinite(tokens) && tokens >= SMALLEST_WINDOW_TOKENS) return;
  throw new LonghaulError(
    "window-invalid",
    `${option} must be a number of tokens, at least ${SMALLEST_WINDOW_TOKENS}, but is ${kindOf(tokens)}.`,
    {
      remedy: "Pass the size of the model's context window, such as 200_000, or leave it out.",
      facts: { option },
    },
  );
}

function requireWindows({ windowTokens, models }: CompactorOptions): void {
  requireWindow(windowTokens);
  if (models === undefined) return;
  if (!isRecord(models)) throw invalidOption("models", "an object of windows by model name", models);
  for (const [name, facts] of Object.entries(models)) {
    requireWindow(isRecord(facts) ? (facts.windowTokens ?? null) : facts, `models["${name}"].windowTokens`);
  }
}

const FORMS: readonly ClearingOptions["form"][] = ["auto", "size", "time", "cached", "api", "off"];
const SUMMARISERS: readonly CompactionOptions["summariser"][] = ["model", "provider", "built-in"];

function requireChoices({ modelName, cacheTtl, clearing, compaction }: CompactorOptions): void {
  if (modelName !== undefined && (typeof modelName !== "string" || modelName === "")) {
    throw invalidOption("modelName", "the name of a model", modelName);
  }
  requireOneOf(cacheTtl, ["5m", "1h"], "cacheTtl");
  requireOneOf(clearing?.form, FORMS, "clearing.form");
  requireOneOf(compaction?.summariser, SUMMARISERS, "compaction.summariser");
  requireFigure(compaction?.keepRecentTokens, "compaction.keepRecentTokens");
  requireFigure(clearing?.targetTokens, "clearing.targetTokens");
  requireFigure(clearing?.idleMinutes, "clearing.idleMinutes");
  requireTime(compaction?.firstByteTimeoutMs, "compaction.firstByteTimeoutMs");
  requireTime(compaction?.timeoutMs, "compaction.timeoutMs");
}

/** An object with these methods, and the way to get one. */
const PORTS = [
  [
    "transcript",
    ["append"],
    "Pass { path, append(entries) }, such as await openTranscript(path) of longhaul/node.",
  ],
  ["hooks", ["run"], "Pass createHooks({ settings, callbacks }), not the settings themselves."],
  ["countText", [], "Pass a function that counts the tokens of a text."],
] as const;

function requirePorts(options: CompactorOptions): void {
  for (const [name, methods, remedy] of PORTS) {
    const port: unknown = options[name];
    if (port === undefined) continue;
    if (methods.length === 0 ? typeof port !== "function" : !hasMethods(port, methods)) {
      throw invalidOption(
        name,
        methods.length === 0 ? "a function" : `an object with ${methods.join(", ")}()`,
        port,
        remedy,
      );
    }
  }
  const { host = {}, modules = [] } = options;
  requireModules(modules);
  for (const [name, callback] of Object.entries(host)) {
    const isRight = name === "caches" ? Array.isArray(callback) : typeof callback === "function";
    if (callback !== undefined && !isRight) {
      throw invalidOption(
        `host.${name}`,
        name === "caches" ? "an array of functions" : "a function",
        callback,
      );
    }
  }
}

function requireModules(modules: unknown): void {
  const remedy = "Pass what the makers of modules return, such as [sessionNotes({ file })].";
  if (!Array.isArray(modules)) throw invalidOption("modules", "an array of modules", modules, remedy);
  const wrong = modules.findIndex((module) => !hasMethods(module, ["attach"]));
  if (wrong !== -1) throw invalidOption(`modules[${wrong}]`, "a module", modules[wrong], remedy);
}

export function requireBeforeOptions(options: BeforeOptions): void {
  requireOptionNames(options, BEFORE, "before");
}

export function requireManualOptions(options: ManualOptions): void {
  requireOptionNames(options, MANUAL, "compact");
  requireFigure(options.keepRecentTokens, "keepRecentTokens");
}

export function requireClearOptions(options: ClearOptions): void {
  requireOptionNames(options, CLEAR, "clear");
}

export function requireUndoOptions(options: UndoOptions): void {
  requireOptionNames(options, UNDO, "undo and redo");
}
