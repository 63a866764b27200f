import { LonghaulError } from "../../../errors.ts";
import { plural } from "../../view/numbers.ts";
import type { ChatCommand } from "./command.ts";

/** The words after a command are not what it takes. `hint` is one more sentence for the remedy. */
export function misused(
  { name, usage = "" }: Pick<ChatCommand, "name" | "usage">,
  argument: string,
  hint = "",
): LonghaulError {
  const takes = usage === "" ? `${name} takes nothing after it` : `${name} does not take this`;
  return new LonghaulError("command-misused", `${takes}: ${JSON.stringify(argument)}.`, {
    remedy: `Usage: ${`${name} ${usage}`.trimEnd()}${hint === "" ? "" : `\n${hint}`}`,
  });
}

export interface Numbered {
  readonly command: ChatCommand;
  /** The counted thing, such as `round`. */
  readonly noun: string;
  readonly count: number;
}

/** The numbers that a text names, such as `2`, `1-3` or `1 4-5`. Fails where it names none, or one that there is not. */
export function numbersIn(text: string, { command, noun, count }: Numbered): readonly number[] {
  const numbers = new Set<number>();
  for (const part of text.split(/[\s,]+/)) {
    const [, one, other = one] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part) ?? [];
    if (one === undefined) throw misused(command, text, `Numbers are as in 2, 1-3 or "1 4-5".`);
    const [first, last] = [Number(one), Number(other)].sort((a, b) => a - b) as [number, number];
    if (first < 1 || last > count) throw noSuch(first < 1 ? first : last, { command, noun, count });
    for (let number = first; number <= last; number++) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
}

function noSuch(number: number, { command, noun, count }: Numbered): LonghaulError {
  const there =
    count === 0 ? `There is no ${noun} yet.` : `There ${count === 1 ? "is" : "are"} ${plural(count, noun)}.`;
  return new LonghaulError("command-misused", `There is no ${noun} ${number}.`, {
    remedy: count === 0 ? there : `${there} ${command.name} lists them.`,
  });
}
