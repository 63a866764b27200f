import { type Environment, environmentVariable } from "../../messages/environment.ts";
import type { ResolvedWindowOptions, WindowOptions } from "./thresholds.ts";

/** All settings of a user, with defaults filled in by `resolveSettings`. */
export interface Settings extends WindowOptions {
  /** False stops every compaction and every clearing of tool results, manual ones included. */
  readonly compactEnabled: boolean;
  /** False stops automatic and reactive compaction. Manual compaction still works. */
  readonly autoCompactEnabled: boolean;
  readonly microcompactEnabled: boolean;
  /** True if context collapse is on. It needs the module `spanCollapse({ enabled: "by-setting" })`. */
  readonly collapseEnabled: boolean;
}

/** Settings as users write them. A percentage may include the percent sign. */
export type GivenSettings = Partial<Omit<Settings, "autoCompactPercent">> & {
  readonly autoCompactPercent?: number | `${number}%` | undefined;
};

export const DEFAULT_SETTINGS: Settings = Object.freeze({
  compactEnabled: true,
  autoCompactEnabled: true,
  microcompactEnabled: true,
  collapseEnabled: false,
});

/** Sources of settings. The environment takes precedence over the values, and the values over the file. */
export interface SettingsSources {
  readonly values?: GivenSettings | undefined;
  /** The parsed settings file. Not validated yet: a user typed it. */
  readonly file?: unknown;
  /** Environment variables. The engine defaults to the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Settings together with the source of the window limit. */
export type EffectiveSettings = Settings & Pick<ResolvedWindowOptions, "autoCompactWindowFrom">;

export interface ResolvedSettings {
  readonly settings: EffectiveSettings;
  /** One sentence for each bad value that was ignored. Each bad value is named once. */
  readonly warnings: readonly string[];
}

type SettingName = keyof Settings;
type Parse = (value: unknown) => boolean | number | undefined;

interface SettingRule {
  readonly name: SettingName;
  readonly variable: string;
  /** True if the environment variable disables a feature that the setting enables. */
  readonly negated?: boolean;
  readonly parse: Parse;
  readonly expects: string;
}

const TRUTHY = ["1", "true", "yes", "on"];
const FALSY = ["0", "false", "no", "off", ""];

const parseSwitch: Parse = (value) => {
  if (typeof value === "boolean") return value;
  const word = String(value).trim().toLowerCase();
  return TRUTHY.includes(word) ? true : FALSY.includes(word) ? false : undefined;
};

const parsePercent: Parse = (value) => {
  const percent = parseNumber(typeof value === "string" ? value.trim().replace(/\s*%$/, "") : value);
  return percent !== undefined && percent > 0 && percent <= 100 ? percent : undefined;
};

/** Minimum size of a window. A smaller one has no room for a system prompt, let alone a summary. */
export const MIN_WINDOW_TOKENS = 1_000;

/** Parses a whole number of tokens with a minimum. */
const tokensFrom = (least: number): Pick<SettingRule, "parse" | "expects"> => ({
  parse: (value) => {
    const tokens = parseNumber(value);
    return tokens !== undefined && tokens >= least ? Math.floor(tokens) : undefined;
  },
  expects: `a number of tokens, at least ${least}`,
});

function parseNumber(value: unknown): number | undefined {
  if (typeof value !== "number" && (typeof value !== "string" || value.trim() === "")) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

const SWITCH = { parse: parseSwitch, expects: "one of 1, true, yes, on, 0, false, no, off" };

const RULES: readonly SettingRule[] = [
  { name: "compactEnabled", variable: "DISABLE_COMPACT", negated: true, ...SWITCH },
  { name: "autoCompactEnabled", variable: "DISABLE_AUTO_COMPACT", negated: true, ...SWITCH },
  { name: "microcompactEnabled", variable: "DISABLE_MICROCOMPACT", negated: true, ...SWITCH },
  { name: "collapseEnabled", variable: "CLAUDE_CONTEXT_COLLAPSE", ...SWITCH },
  {
    name: "autoCompactPercent",
    variable: "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    parse: parsePercent,
    expects: "a percentage above 0 and up to 100, such as 80 or 80%",
  },
  {
    name: "autoCompactWindow",
    variable: "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    ...tokensFrom(MIN_WINDOW_TOKENS),
  },
  { name: "blockingLimit", variable: "CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE", ...tokensFrom(1) },
];

type Origin = NonNullable<EffectiveSettings["autoCompactWindowFrom"]>;

/**
 * Resolves each setting in this order: environment, explicit option, settings file, default. A bad value
 * counts as not set.
 */
export function resolveSettings(sources: SettingsSources = {}): ResolvedSettings {
  const warnings: string[] = [];
  const settings: Record<string, boolean | number> = {};
  const file = asRecord(sources.file, warnings);
  let autoCompactWindowFrom: Origin | undefined;
  for (const rule of RULES) {
    const places: readonly (readonly [Origin, () => boolean | number | undefined])[] = [
      ["environment", () => fromEnvironment(rule, sources.environment ?? {}, warnings)],
      ["option", () => read(rule, sources.values?.[rule.name], `option ${rule.name}`, warnings)],
      ["setting", () => read(rule, file[rule.name], `setting ${rule.name} in the settings file`, warnings)],
    ];
    for (const [from, look] of places) {
      const value = look();
      if (value === undefined) continue;
      settings[rule.name] = value;
      if (rule.name === "autoCompactWindow") autoCompactWindowFrom = from;
      break;
    }
  }
  const origin = autoCompactWindowFrom === undefined ? {} : { autoCompactWindowFrom };
  return { settings: { ...DEFAULT_SETTINGS, ...settings, ...origin }, warnings };
}

function fromEnvironment(
  rule: SettingRule,
  environment: Environment,
  warnings: string[],
): boolean | number | undefined {
  const value = read(
    rule,
    environmentVariable(environment, rule.variable),
    `environment variable ${rule.variable}`,
    warnings,
  );
  if (!rule.negated || value === undefined) return value;
  // "Do not disable" does not mean "enable": the option and the file decide.
  return value === true ? false : undefined;
}

function read(
  rule: SettingRule,
  raw: unknown,
  where: string,
  warnings: string[],
): boolean | number | undefined {
  if (raw === undefined || raw === null) return undefined;
  const value = rule.parse(raw);
  if (value === undefined) warnings.push(`The ${where} is ignored: it must be ${rule.expects}.`);
  return value;
}

function asRecord(file: unknown, warnings: string[]): Readonly<Record<string, unknown>> {
  if (file === undefined || file === null) return {};
  if (typeof file === "object" && !Array.isArray(file)) return file as Readonly<Record<string, unknown>>;
  warnings.push("The settings file is ignored: it must contain a JSON object.");
  return {};
}
