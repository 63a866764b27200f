import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";

/** Longest time in milliseconds that a timer of Node can wait. A longer one would end at once. */
export const LONGEST_DELAY_MS = 2_147_483_647;

/** Longest excerpt of a wrong value in a message. */
const MAX_SHOWN_CHARS = 60;

/** Checks JSON that a person wrote. Each problem names the position, the expected value and the found one. */
export class StrictJson {
  readonly #errorFor: (problem: string) => Error;

  /** `errorFor` creates the error for a problem. */
  constructor(errorFor: (problem: string) => Error) {
    this.#errorFor = errorFor;
  }

  problem(problem: string): Error {
    return this.#errorFor(problem);
  }

  wrong(at: string, expected: string, found: unknown): Error {
    return this.problem(`${at} must be ${expected}, but is ${describe(found)}`);
  }

  /** Returns the object if it has only known fields. */
  record(value: unknown, at: string, known: readonly string[], expected = "an object"): JsonRecord {
    if (!isRecord(value)) throw this.wrong(at, expected, value);
    const other = Object.keys(value).find((name) => !known.includes(name));
    if (other === undefined) return value;
    throw this.problem(`${at}: unknown field "${other}". Known fields: ${known.join(", ")}`);
  }

  list(value: unknown, at: string, expected: string): readonly unknown[] {
    if (!Array.isArray(value)) throw this.wrong(at, expected, value);
    return value;
  }

  text(value: unknown, at: string): string {
    if (typeof value !== "string") throw this.wrong(at, "a string", value);
    return value;
  }

  flag(value: unknown, at: string): boolean {
    if (typeof value !== "boolean") throw this.wrong(at, "true or false", value);
    return value;
  }

  /** Returns a whole number of at least `least`. */
  count(value: unknown, at: string, least = 0): number {
    const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= least;
    if (!isCount) throw this.wrong(at, `a whole number of at least ${least}`, value);
    return value;
  }

  /** Returns a number of milliseconds that a timer can wait. */
  milliseconds(value: unknown, at: string): number {
    const count = this.count(value, at);
    if (count > LONGEST_DELAY_MS)
      throw this.wrong(at, `a whole number of at most ${LONGEST_DELAY_MS} milliseconds`, value);
    return count;
  }

  oneOf<const Name extends string>(names: readonly Name[], value: unknown, at: string): Name {
    const found = names.find((name) => name === value);
    const list = names.map((name) => `"${name}"`).join(", ");
    if (found === undefined) throw this.wrong(at, `one of ${list}`, value);
    return found;
  }
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  return (JSON.stringify(value) ?? typeof value).slice(0, MAX_SHOWN_CHARS);
}
