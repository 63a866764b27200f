import { kindOf, requireJson } from "../conversation/given-messages.ts";
import { isRecord } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";
import { isModel, requireModel } from "../models/require-model.ts";
import { type Settings, SMALLEST_WINDOW_TOKENS } from "../window/settings.ts";
import { INHERITANCE } from "./child-options.ts";
import {
  hasMethods,
  invalidOption,
  type OptionNames,
  requireFigure,
  requireOneOf,
  requireOptionNames,
  requireTime,
} from "./option-names.ts";
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
  const isModule = (module: unknown): boolean => hasMethods(module, ["attach"]);
  if (Array.isArray(modules) && modules.every(isModule)) return;
  const remedy = "Pass what the makers of modules return, such as [sessionNotes({ file })].";
  throw invalidOption("modules", "an array of modules", modules, remedy);
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
