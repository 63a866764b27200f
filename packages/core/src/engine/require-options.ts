import { MIN_WINDOW_TOKENS, type Settings } from "../measure/window/settings.ts";
import { LonghaulError } from "../messages/errors.ts";
import { describeType, requireJson } from "../messages/require-messages.ts";
import { field, isRecord } from "../messages/untrusted.ts";
import { isTimeLimit } from "../models/abortable.ts";
import { isModel, requireModel } from "../models/require-model.ts";
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

/**
 * The option names of an interface. A group of options may list the names of its members. The compiler
 * ensures that no name is missing.
 */
export type OptionNames<Options> = Readonly<Record<keyof Required<NonNullable<Options>>, unknown>>;

/**
 * If the options are not an object, throws `option-invalid`. If they or their groups have an unknown name,
 * throws `option-unknown`. `path` is the path of a group.
 */
export function requireOptionNames(options: unknown, names: object, where: string, path = ""): void {
  if (options === undefined) return;
  if (!isRecord(options)) {
    const members = path === "" ? "" : ` with ${Object.keys(names).join(", ")}`;
    throw invalidOption(where, "an object", options, `Pass an object${members}, or leave it out.`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(names, name)) throw unknownOption(name, names, where);
    const members = field(names, name);
    const group = path === "" ? name : `${path}.${name}`;
    if (isRecord(members)) requireOptionNames(value, members, group, group);
  }
}

export function invalidOption(
  option: string,
  expected: string,
  given: unknown,
  remedy = `Pass ${expected}, or leave it out.`,
): LonghaulError {
  return new LonghaulError(
    "option-invalid",
    `Invalid value for ${option}: it must be ${expected}, but is ${shown(given)}.`,
    { remedy, facts: { option } },
  );
}

const shown = (value: unknown): string =>
  typeof value === "string" && value !== "" && value.length <= 40
    ? JSON.stringify(value)
    : describeType(value);

function unknownOption(name: string, names: object, where: string): LonghaulError {
  const meant = findNearestOption(name, names);
  return new LonghaulError("option-unknown", `${where} has no option "${name}".`, {
    remedy:
      meant === undefined
        ? `Remove it, or use one of: ${Object.keys(names).sort().join(", ")}.`
        : `Did you mean "${meant}"?`,
    facts: { option: name, ...(meant === undefined ? {} : { meant }) },
  });
}

/** Former names of options, and names that other libraries use for them. */
const OPTION_SYNONYMS: Readonly<Record<string, string>> = {
  windowtokens: "window.tokens",
  windowevidence: "window.evidence",
  contextwindow: "window.tokens",
  maxcontexttokens: "window.tokens",
  contextlimit: "window.tokens",
  modelname: "model",
  modelid: "model",
  summarymodel: "compaction.model",
  settingsfile: "settings.file",
  env: "settings.environment",
  sessionid: "session.id",
  tokencounter: "ports.countText",
  system: "request",
  systemprompt: "request",
  tools: "request",
  notes: "modules",
  collapse: "modules",
  memoryfiles: "modules",
};

/**
 * Returns the path of the option that was probably meant. Compares the name with all option names, also in
 * groups, and with synonyms. At most two letters may differ.
 */
function findNearestOption(name: string, names: object): string | undefined {
  const same = Object.entries(OPTION_SYNONYMS).filter(([, path]) =>
    Object.hasOwn(names, path.split(".")[0] ?? ""),
  );
  const wanted = name.toLowerCase();
  const byDistance = [...Object.keys(names).map((own) => [own, own] as const), ...same, ...membersIn(names)]
    .map(([known, path]) => [editDistance(wanted, known.toLowerCase()), path] as const)
    .sort(([one], [other]) => one - other);
  const [closest, path] = byDistance[0] ?? [Number.POSITIVE_INFINITY, undefined];
  return closest <= Math.min(2, Math.floor(name.length / 3)) ? path : undefined;
}

/** Returns the members of all groups with their paths. */
function membersIn(names: object): (readonly [member: string, path: string])[] {
  return Object.entries(names).flatMap(([group, members]) =>
    isRecord(members)
      ? [...Object.keys(members).map((own) => [own, own] as const), ...membersIn(members)].map(
          ([member, path]) => [member, `${group}.${path}`] as const,
        )
      : [],
  );
}

/**
 * Returns the number of inserted, removed or replaced letters between two words. A swap of neighbors counts
 * as one.
 */
export function editDistance(one: string, other: string): number {
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

function requireNumber(value: unknown, option: string): void {
  if (value === undefined || (typeof value === "number" && value >= 0)) return;
  throw invalidOption(option, "a number that is not negative", value);
}

export function requireTime(value: unknown, option: string): void {
  if (value === undefined || isTimeLimit(value)) return;
  throw invalidOption(option, "a positive number of milliseconds", value);
}

export const hasMethods = (value: unknown, methods: readonly string[]): boolean =>
  isRecord(value) && methods.every((method) => typeof value[method] === "function");

const CLEARING: OptionNames<ClearingOptions> = {
  form: true,
  tools: true,
  targetTokens: true,
  idleMinutes: true,
};
const COMPACTION: OptionNames<CompactionOptions> = {
  model: true,
  keepRecentTokens: true,
  summarizer: true,
  reactiveOnly: true,
  autonomous: true,
  instructions: true,
  background: true,
  summaryCostShare: true,
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

/** All option names of a compactor, including the members of groups. */
const COMPACTOR = {
  ...INHERITANCE,
  settings: { ...INHERITANCE.settings, values: SETTINGS },
  clearing: CLEARING,
  compaction: COMPACTION,
  host: HOST,
} as const satisfies OptionNames<CompactorOptions>;
const CHILD = { ...COMPACTOR, agentId: true, description: true } as const satisfies OptionNames<ChildOptions>;
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

/** Throws for invalid options of `createCompactor`, so that none is ignored silently. */
export function requireCompactorOptions(options: CompactorOptions): void {
  requireAllOptions(options, COMPACTOR, "createCompactor");
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
  const { model, compaction } = options;
  if (model === "") throw invalidOption("model", "a Model or the name of a model", model);
  if (model !== undefined && typeof model !== "string") requireModel(model);
  if (compaction?.model !== undefined) requireModel(compaction.model, "compaction.model");
  requireWindows(options);
  requireChoices(options);
  requireObjects(options);
  requireSession(options);
  requireJson(options.request, "request");
}

/** Throws unless the chosen clearing form is built in or provided by an installed module. */
export function requireInstalledForm({ clearing, modules = [] }: CompactorOptions): void {
  const form = clearing?.form;
  if (form !== "cached" && form !== "api") return;
  if (modules.some(({ name }) => name === form)) return;
  const maker = form === "api" ? "apiClearing()" : "cachedEdits()";
  const remedy = `Add ${maker} to the modules, or choose another form.`;
  throw invalidOption(
    "clearing.form",
    "a form that the engine or an installed module provides",
    form,
    remedy,
  );
}

/** Throws `option-invalid` unless this is a possible size of a context window. */
export function requireWindow(tokens: unknown, option = "windowTokens"): void {
  if (tokens === undefined) return;
  if (typeof tokens === "number" && Number.isFinite(tokens) && tokens >= MIN_WINDOW_TOKENS) return;
  const expected = `a number of tokens, at least ${MIN_WINDOW_TOKENS}`;
  const remedy = "Pass the size of the model's context window, such as 200_000, or leave it out.";
  throw invalidOption(option, expected, tokens, remedy);
}

function requireWindows({ window: { tokens, models } = {} }: CompactorOptions): void {
  requireWindow(tokens, "window.tokens");
  if (models === undefined) return;
  if (!isRecord(models))
    throw invalidOption("window.models", "an object that maps model names to context windows", models);
  for (const [name, facts] of Object.entries(models)) {
    const option = `window.models["${name}"].windowTokens`;
    requireWindow(isRecord(facts) ? (facts.windowTokens ?? null) : facts, option);
  }
}

const FORMS: readonly ClearingOptions["form"][] = ["auto", "size", "time", "cached", "api", "off"];
const SUMMARIZERS: readonly CompactionOptions["summarizer"][] = ["model", "provider", "built-in"];

function requireChoices({ cost, clearing, compaction }: CompactorOptions): void {
  requireOneOf(cost?.cacheTtl, ["5m", "1h"], "cost.cacheTtl");
  requireOneOf(clearing?.form, FORMS, "clearing.form");
  requireOneOf(compaction?.summarizer, SUMMARIZERS, "compaction.summarizer");
  requireNumber(compaction?.keepRecentTokens, "compaction.keepRecentTokens");
  requireNumber(compaction?.summaryCostShare, "compaction.summaryCostShare");
  requireNumber(clearing?.targetTokens, "clearing.targetTokens");
  requireNumber(clearing?.idleMinutes, "clearing.idleMinutes");
  requireTime(compaction?.firstByteTimeoutMs, "compaction.firstByteTimeoutMs");
  requireTime(compaction?.timeoutMs, "compaction.timeoutMs");
}

/** Options that must be objects with a certain method, and a hint on how to create the object. */
const OBJECTS = [
  [
    "transcript",
    "append",
    "Pass { path, append(entries) }, such as await openTranscript(path) of @longhaul/sessions.",
  ],
  ["hooks", "run", "Pass createHooks({ settings, callbacks }), not the settings themselves."],
] as const;

function requireObjects(options: CompactorOptions): void {
  for (const [name, method, remedy] of OBJECTS) {
    const given: unknown = options[name];
    if (given === undefined || hasMethods(given, [method])) continue;
    throw invalidOption(name, `an object with ${method}()`, given, remedy);
  }
  const { host: { caches, ...callbacks } = {}, ports, settings, modules = [] } = options;
  requireModules(modules);
  requireFunctions("host", callbacks);
  requireFunctions("ports", ports);
  if (caches !== undefined && !Array.isArray(caches)) {
    throw invalidOption("host.caches", "an array of functions", caches);
  }
  if (settings?.environment !== undefined && !isRecord(settings.environment)) {
    throw invalidOption("settings.environment", "an object that maps names to strings", settings.environment);
  }
}

function requireFunctions(group: string, functions: object = {}): void {
  for (const [name, given] of Object.entries(functions)) {
    if (given === undefined || typeof given === "function") continue;
    throw invalidOption(`${group}.${name}`, "a function", given);
  }
}

function requireSession({ session: { id, cwd, permissionMode } = {} }: CompactorOptions): void {
  const mode = typeof permissionMode === "function" ? undefined : permissionMode;
  for (const [name, given] of Object.entries({ id, cwd, permissionMode: mode })) {
    if (given !== undefined && typeof given !== "string")
      throw invalidOption(`session.${name}`, "a string", given);
  }
}

function requireModules(modules: unknown): void {
  const remedy =
    "Call the function that creates the module, and pass its result, such as [sessionNotes({ file })].";
  if (!Array.isArray(modules)) throw invalidOption("modules", "an array of modules", modules, remedy);
  const wrong = modules.findIndex((module) => !hasMethods(module, ["attach"]));
  if (wrong !== -1) throw invalidOption(`modules[${wrong}]`, "a module", modules[wrong], remedy);
}

export function requireBeforeOptions(options: BeforeOptions): void {
  requireOptionNames(options, BEFORE, "before");
}

export function requireManualOptions(options: ManualOptions): void {
  requireOptionNames(options, MANUAL, "compact");
  requireNumber(options.keepRecentTokens, "keepRecentTokens");
}

export function requireClearOptions(options: ClearOptions): void {
  requireOptionNames(options, CLEAR, "clear");
}

export function requireUndoOptions(options: UndoOptions): void {
  requireOptionNames(options, UNDO, "undo and redo");
}
