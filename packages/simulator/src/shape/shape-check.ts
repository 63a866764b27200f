import { isRecord } from "@longhaul/core/internal/messages";

/**
 * Checks values against tables of fields. Refuses the first fault in body order. Each provider derives an
 * `Inspection` that words the faults and writes the paths as its API does.
 *
 * We tried zod for this (4.6.7, all tables of Anthropic, one file that maps its issues to our texts).
 * - The shape of a request of 200,000 tokens took 6 to 9 times as long (0.1 to 0.4 ms became 0.7 to 3.5 ms),
 *   all rules together 2.3 to 5 times as long.
 * - zod reports faults in schema order, with unknown fields last. The first fault in body order can only be
 *   chosen among all issues, so `abortEarly` does not help. A list of 100,000 numbers in place of blocks took
 *   3 seconds. A list of 1,000,000 numbers took half a minute and 1.2 GB. Here both lists take 1 ms, and the
 *   server must survive such lists.
 * - The order of faults, the types inside paths and the betas that enable fields took another 100 lines.
 */

/** Types that a check can expect. */
export type ExpectedType = "string" | "boolean" | "object" | "list" | "integer" | "number";

/** A value without the expected shape. The path of the inspection names the value. */
export type ShapeFault =
  /** Value of the wrong type. `of` names the items that a list should have. */
  | { readonly kind: "type"; readonly expected: ExpectedType; readonly of?: string }
  | { readonly kind: "missing" }
  /** Field that the table of its object does not list, or that does not exist in this request. */
  | { readonly kind: "extra" }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  /** Object with an unknown tag. `by` is the field of the object that holds the tag. */
  | { readonly kind: "tag"; readonly by: string; readonly tags: readonly string[] }
  | { readonly kind: "pattern"; readonly pattern: string }
  | { readonly kind: "tooSmall"; readonly minimum: number; readonly expected: "integer" | "number" }
  | { readonly kind: "tooBig"; readonly maximum: number; readonly expected: "integer" | "number" }
  | { readonly kind: "stringTooShort"; readonly minimum: number }
  | { readonly kind: "stringTooLong"; readonly maximum: number }
  | { readonly kind: "listTooLong"; readonly maximum: number };

/**
 * One request during its check, with the current position in its body. The path is kept as steps and joined
 * only for a refusal, because nearly all requests are valid.
 */
export abstract class Inspection {
  protected readonly steps: (string | number)[] = [];

  /** True if objects may have fields that the tables do not list. */
  readonly acceptsExtraFields: boolean = false;

  /** True if a missing field is reported before faults of the fields that are present. */
  readonly reportsMissingFirst: boolean = false;

  /** Position in the body, as the API writes it. */
  abstract get path(): string;

  /** Throws the refusal of a value at the current position. */
  abstract refuse(fault: ShapeFault, value: unknown): never;

  /** Enters a tagged object. Paths do not show tags unless a provider overrides this. */
  enterTag(_tag: string): void {}

  leaveTag(): void {}

  enter(step: string | number): void {
    this.steps.push(step);
  }

  leave(): void {
    this.steps.pop();
  }
}

/** Function that refuses a value without the expected shape. */
export type Check<I extends Inspection = Inspection> = (value: unknown, inspection: I) => void;

/** Function that decides whether a field or type exists in this request. */
export type Gate<I extends Inspection = Inspection> = (inspection: I) => boolean;

interface Field<I extends Inspection = Inspection> {
  readonly check: Check<I>;
  readonly required?: boolean;
  readonly isOpen?: Gate<I>;
}

/** Fields of an object. A field is optional unless it is `required`. */
export type Fields<I extends Inspection = Inspection> = Readonly<Record<string, Check<I> | Field<I>>>;

export const required = <I extends Inspection>(check: Check<I>): Field<I> => ({ check, required: true });

export const gated = <I extends Inspection>(check: Check<I>, isOpen: Gate<I>): Field<I> => ({
  check,
  isOpen,
});

export const anything: Check = () => {};

export const string: Check = (value, inspection) => {
  if (typeof value !== "string") inspection.refuse({ kind: "type", expected: "string" }, value);
};

export const boolean: Check = (value, inspection) => {
  if (typeof value !== "boolean") inspection.refuse({ kind: "type", expected: "boolean" }, value);
};

export const record: Check = (value, inspection) => {
  if (!isRecord(value)) inspection.refuse({ kind: "type", expected: "object" }, value);
};

export const filledString: Check = (value, inspection) => {
  string(value, inspection);
  if (value === "") inspection.refuse({ kind: "stringTooShort", minimum: 1 }, value);
};

export function shortString(maximum: number): Check {
  return (value, inspection) => {
    string(value, inspection);
    if ((value as string).length > maximum) inspection.refuse({ kind: "stringTooLong", maximum }, value);
  };
}

export function matching(pattern: RegExp): Check {
  return (value, inspection) => {
    string(value, inspection);
    if (!pattern.test(value as string)) {
      inspection.refuse({ kind: "pattern", pattern: pattern.source }, value);
    }
  };
}

export function integer(minimum: number, maximum: number = Number.POSITIVE_INFINITY): Check {
  return (value, inspection) => {
    if (!Number.isInteger(value)) inspection.refuse({ kind: "type", expected: "integer" }, value);
    checkRange(value as number, inspection, { minimum, maximum, expected: "integer" });
  };
}

export function number(minimum: number, maximum: number): Check {
  return (value, inspection) => {
    if (typeof value !== "number") inspection.refuse({ kind: "type", expected: "number" }, value);
    checkRange(value as number, inspection, { minimum, maximum, expected: "number" });
  };
}

interface Range {
  readonly minimum: number;
  readonly maximum: number;
  readonly expected: "integer" | "number";
}

function checkRange(value: number, inspection: Inspection, { minimum, maximum, expected }: Range): void {
  if (value < minimum) inspection.refuse({ kind: "tooSmall", minimum, expected }, value);
  if (value > maximum) inspection.refuse({ kind: "tooBig", maximum, expected }, value);
}

export function oneOf(...choices: readonly string[]): Check {
  const known: ReadonlySet<unknown> = new Set(choices);
  return (value, inspection) => {
    if (!known.has(value)) inspection.refuse({ kind: "choice", choices }, value);
  };
}

/** Accepts values for which `isKnown` returns true, and runs the check on all other values. */
export function unless<I extends Inspection>(
  isKnown: (value: unknown, inspection: I) => boolean,
  check: Check<I>,
): Check<I> {
  return (value, inspection) => {
    if (!isKnown(value, inspection)) check(value, inspection);
  };
}

export function nullable<I extends Inspection>(check: Check<I>): Check<I> {
  return (value, inspection) => {
    if (value !== null) check(value, inspection);
  };
}

export function stringOr<I extends Inspection>(check: Check<I>): Check<I> {
  return (value, inspection) => {
    if (typeof value !== "string") check(value, inspection);
  };
}

interface ListLimits {
  /** Maximum number of items. Default: no limit. */
  readonly maximum?: number;
  /** Name of the items in an error text, for example `objects`. */
  readonly of?: string;
}

export function list<I extends Inspection>(check: Check<I>, limits: ListLimits = {}): Check<I> {
  const { maximum = Number.POSITIVE_INFINITY, of } = limits;
  return (value, inspection) => {
    if (!Array.isArray(value)) {
      return inspection.refuse({ kind: "type", expected: "list", ...(of && { of }) }, value);
    }
    if (value.length > maximum) inspection.refuse({ kind: "listTooLong", maximum }, value);
    for (let index = 0; index < value.length; index++) {
      inspection.enter(index);
      check(value[index], inspection);
      inspection.leave();
    }
  };
}

export function object<I extends Inspection>(fields: Fields<I>): Check<I> {
  const known = new Map<string, Field<I>>();
  for (const [name, field] of Object.entries(fields)) {
    known.set(name, typeof field === "function" ? { check: field } : field);
  }
  const needed = [...known].filter(([, field]) => field.required).map(([name]) => name);
  return (value, inspection) => {
    if (!isRecord(value)) return inspection.refuse({ kind: "type", expected: "object" }, value);
    if (inspection.reportsMissingFirst) checkNeeded(value, needed, inspection);
    for (const name in value) {
      const field = known.get(name);
      inspection.enter(name);
      if (field === undefined || field.isOpen?.(inspection) === false) {
        if (!inspection.acceptsExtraFields) inspection.refuse({ kind: "extra" }, value[name]);
      } else field.check(value[name], inspection);
      inspection.leave();
    }
    if (!inspection.reportsMissingFirst) checkNeeded(value, needed, inspection);
  };
}

function checkNeeded(value: object, needed: readonly string[], inspection: Inspection): void {
  for (const name of needed) {
    if (Object.hasOwn(value, name)) continue;
    inspection.enter(name);
    inspection.refuse({ kind: "missing" }, undefined);
  }
}

/**
 * Checks an object by the fields of its tag, which is its field `type` unless `by` names another field. The
 * tables of fields do not list the field of the tag.
 * @param gates conditions of tags that exist only in some requests
 */
export function tagged<I extends Inspection>(
  kinds: Readonly<Record<string, Fields<I>>>,
  gates: Readonly<Record<string, Gate<I>>> = {},
  by = "type",
): Check<I> {
  const known = new Map<string, Field<I>>();
  for (const [tag, fields] of Object.entries(kinds)) {
    const check = object<I>({ [by]: anything, ...fields });
    known.set(tag, gates[tag] === undefined ? { check } : { check, isOpen: gates[tag] });
  }
  return (value, inspection) => {
    if (!isRecord(value)) return inspection.refuse({ kind: "type", expected: "object" }, value);
    const tag = value[by];
    if (tag === undefined) {
      inspection.enter(by);
      return inspection.refuse({ kind: "missing" }, undefined);
    }
    const kind = typeof tag === "string" ? known.get(tag) : undefined;
    if (kind === undefined || kind.isOpen?.(inspection) === false) {
      const open = [...known].filter(([, { isOpen }]) => isOpen?.(inspection) !== false);
      return inspection.refuse({ kind: "tag", by, tags: open.map(([name]) => name) }, tag);
    }
    inspection.enterTag(tag as string);
    kind.check(value, inspection);
    inspection.leaveTag();
  };
}
