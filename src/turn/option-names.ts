import { kindOf } from "../conversation/given-messages.ts";
import { isRecord } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";
import { isTimeLimit } from "../models/time-limit.ts";

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

export function requireFigure(value: unknown, option: string): void {
  if (value === undefined || (typeof value === "number" && value >= 0)) return;
  throw invalidOption(option, "a number that is not negative", value);
}

export function requireTime(value: unknown, option: string): void {
  if (value === undefined || isTimeLimit(value)) return;
  throw invalidOption(option, "a positive number of milliseconds", value);
}

export const hasMethods = (value: unknown, methods: readonly string[]): boolean =>
  isRecord(value) && methods.every((method) => typeof value[method] === "function");
