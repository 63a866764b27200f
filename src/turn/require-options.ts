import { kindOf, requireJson } from "../conversation/given-messages.ts";
import { isRecord } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";
import { isModel, requireModel } from "../models/require-model.ts";
import { isTimeLimit } from "../models/time-limit.ts";
import { type Settings, SMALLEST_WINDOW_TOKENS } from "../window/settings.ts";
import { INHERITANCE } from "./child-options.ts";
import { invalidOption, type OptionNames, requireOptionNames } from "./option-names.ts";
import type {
  BeforeOptions,
  ChildOptions,
  ClearingOptions,
  ClearOptions,
  CollapseOptions,
  CompactionOptions,
  CompactorOptions,
  HostCallbacks,
  ManualOptions,
  NotesOptions,
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
const NOTES: OptionNames<NotesOptions> = {
  file: true,
  template: true,
  writer: true,
  enabled: true,
  growth: true,
  limits: true,
  keep: true,
};
const COLLAPSE: OptionNames<CollapseOptions> = { summariser: true, timeoutMs: true, enabled: true };
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
  notes: NOTES,
  collapse: COLLAPSE,
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

function requireChoices({
  modelName,
  cacheTtl,
  clearing,
  compaction,
  notes,
  collapse,
}: CompactorOptions): void {
  if (modelName !== undefined && (typeof modelName !== "string" || modelName === "")) {
    throw invalidOption("modelName", "the name of a model", modelName);
  }
  requireOneOf(cacheTtl, ["5m", "1h"], "cacheTtl");
  requireOneOf(clearing?.form, FORMS, "clearing.form");
  requireOneOf(compaction?.summariser, SUMMARISERS, "compaction.summariser");
  requireOneOf(notes?.writer, ["model", "built-in"], "notes.writer");
  requireOneOf(collapse?.summariser, ["model", "built-in"], "collapse.summariser");
  requireFigure(compaction?.keepRecentTokens, "compaction.keepRecentTokens");
  requireFigure(clearing?.targetTokens, "clearing.targetTokens");
  requireFigure(clearing?.idleMinutes, "clearing.idleMinutes");
  requireTime(compaction?.firstByteTimeoutMs, "compaction.firstByteTimeoutMs");
  requireTime(compaction?.timeoutMs, "compaction.timeoutMs");
  requireTime(collapse?.timeoutMs, "collapse.timeoutMs");
}

function requireOneOf(value: unknown, choices: readonly string[], option: string): void {
  if (value === undefined || choices.includes(String(value))) return;
  throw invalidOption(option, choices.map((choice) => `"${choice}"`).join(" or "), value);
}

function requireFigure(value: unknown, option: string): void {
  if (value === undefined || (typeof value === "number" && value >= 0)) return;
  throw invalidOption(option, "a number that is not negative", value);
}

function requireTime(value: unknown, option: string): void {
  if (value === undefined || isTimeLimit(value)) return;
  throw invalidOption(option, "a positive number of milliseconds", value);
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
  const { notes, host = {} } = options;
  if (notes !== undefined && !hasMethods(notes.file, ["read", "write"])) {
    const remedy = "Pass notesFile(path) of longhaul/node, or your own { path, read, write }.";
    throw invalidOption("notes.file", "an object with read(), write()", notes.file, remedy);
  }
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

const hasMethods = (value: unknown, methods: readonly string[]): boolean =>
  isRecord(value) && methods.every((method) => typeof value[method] === "function");

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
