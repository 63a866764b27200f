import { isRecord } from "@longhaul/core/internal/messages";
import type { SimulatedRequest, Switches } from "../../request.ts";
import { refuse } from "../../wording/refuse.ts";

/**
 * Checks values against tables of fields (block-shapes.ts, body-shape.ts). Refuses the first fault in body
 * order, with the texts and paths of the API.
 *
 * We tried zod for this (4.6.7, all tables, one file that maps its issues to our texts).
 * - The shape of a request of 200,000 tokens took 6 to 9 times as long (0.1 to 0.4 ms became 0.7 to 3.5 ms),
 *   all rules together 2.3 to 5 times as long.
 * - zod reports faults in schema order, with unknown fields last. The first fault in body order can only be
 *   chosen among all issues, so `abortEarly` does not help. A list of 100,000 numbers in place of blocks took
 *   3 seconds. A list of 1,000,000 numbers took half a minute and 1.2 GB. Here both lists take 1 ms, and the
 *   server must survive such lists.
 * - The order of faults, the types inside paths and the betas that enable fields took another 100 lines.
 */

/** Function that refuses a value without the expected shape. */
export type Check = (value: unknown, inspection: Inspection) => void;

/**
 * Function that decides whether a field or type exists. This depends on the betas, the API version and the
 * switches.
 */
type Gate = (inspection: Inspection) => boolean;

interface Field {
  readonly check: Check;
  readonly required?: boolean;
  readonly isOpen?: Gate;
}

/** Fields of an object. A field is optional unless it is `required`. */
export type Fields = Readonly<Record<string, Check | Field>>;

/**
 * One request during its check, with the current position in its body. The path is kept as steps and joined
 * only for a refusal, because nearly all requests are valid.
 */
export class Inspection {
  readonly request: SimulatedRequest;
  readonly switches: Switches;
  readonly #steps: (string | number)[] = [];

  constructor(request: SimulatedRequest, switches: Switches) {
    this.request = request;
    this.switches = switches;
  }

  get path(): string {
    return this.#steps.join(".");
  }

  enter(step: string | number): void {
    this.#steps.push(step);
  }

  leave(): void {
    this.#steps.pop();
  }

  /** Returns true if the request has any of these betas. */
  hasBeta(...betas: readonly string[]): boolean {
    return betas.some((beta) => this.request.betas.has(beta));
  }
}

export const required = (check: Check): Field => ({ check, required: true });

export const gated = (check: Check, isOpen: Gate): Field => ({ check, isOpen });

export const withBeta =
  (...betas: readonly string[]): Gate =>
  (inspection) =>
    inspection.hasBeta(...betas);

export const anything: Check = () => {};

export const string: Check = (value, inspection) => {
  if (typeof value !== "string") refuse("notString", { path: inspection.path });
};

export const boolean: Check = (value, inspection) => {
  if (typeof value !== "boolean") refuse("notBoolean", { path: inspection.path });
};

export const record: Check = (value, inspection) => {
  if (!isRecord(value)) refuse("notObject", { path: inspection.path });
};

export const filledString: Check = (value, inspection) => {
  string(value, inspection);
  if (value === "") refuse("stringTooShort", { path: inspection.path });
};

export function shortString(maximum: number): Check {
  return (value, inspection) => {
    string(value, inspection);
    if (String(value).length > maximum) refuse("stringTooLong", { path: inspection.path, maximum });
  };
}

export function matching(pattern: RegExp): Check {
  return (value, inspection) => {
    string(value, inspection);
    if (!pattern.test(String(value))) refuse("pattern", { path: inspection.path, pattern: pattern.source });
  };
}

export function integer(minimum: number): Check {
  return (value, inspection) => {
    if (!Number.isInteger(value)) refuse("notInteger", { path: inspection.path });
    if (Number(value) < minimum) refuse("tooSmall", { path: inspection.path, minimum });
  };
}

/** A number from 0 to 1. */
export const share: Check = (value, inspection) => {
  if (typeof value !== "number") refuse("notNumber", { path: inspection.path });
  if (Number(value) < 0) refuse("tooSmall", { path: inspection.path, minimum: 0 });
  if (Number(value) > 1) refuse("tooBig", { path: inspection.path, maximum: 1 });
};

export function oneOf(...choices: readonly string[]): Check {
  const known: ReadonlySet<unknown> = new Set(choices);
  const quoted = choices.map((choice) => `'${choice}'`);
  const listed =
    quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  return (value, inspection) => {
    if (!known.has(value)) refuse("notOneOf", { path: inspection.path, choices: listed });
  };
}

/** Accepts values for which `isKnown` returns true, and runs the check on all other values. */
export function unless(isKnown: (value: unknown, inspection: Inspection) => boolean, check: Check): Check {
  return (value, inspection) => {
    if (!isKnown(value, inspection)) check(value, inspection);
  };
}

export function nullable(check: Check): Check {
  return (value, inspection) => {
    if (value !== null) check(value, inspection);
  };
}

export function stringOr(check: Check): Check {
  return (value, inspection) => {
    if (typeof value !== "string") check(value, inspection);
  };
}

export function list(check: Check): Check {
  return (value, inspection) => {
    if (!Array.isArray(value)) return refuse("notList", { path: inspection.path });
    for (let index = 0; index < value.length; index++) {
      inspection.enter(index);
      check(value[index], inspection);
      inspection.leave();
    }
  };
}

export function object(fields: Fields): Check {
  const known = new Map<string, Field>();
  for (const [name, field] of Object.entries(fields)) {
    known.set(name, typeof field === "function" ? { check: field } : field);
  }
  const needed = [...known].filter(([, field]) => field.required).map(([name]) => name);
  return (value, inspection) => {
    if (!isRecord(value)) return refuse("notObject", { path: inspection.path });
    for (const name in value) {
      const field = known.get(name);
      inspection.enter(name);
      if (field === undefined || field.isOpen?.(inspection) === false) {
        refuse("extraField", { path: inspection.path });
      } else field.check(value[name], inspection);
      inspection.leave();
    }
    for (const name of needed) {
      if (name in value) continue;
      inspection.enter(name);
      refuse("fieldRequired", { path: inspection.path });
    }
  };
}

/**
 * Checks an object by the fields of its `type`. The type becomes part of paths in error texts. The tables of
 * fields do not list the field `type`.
 * @param gates conditions of types that exist only with a beta, an API version or a switch
 */
export function tagged(
  kinds: Readonly<Record<string, Fields>>,
  gates: Readonly<Record<string, Gate>> = {},
): Check {
  const known = new Map<string, Field>();
  for (const [tag, fields] of Object.entries(kinds)) {
    const check = object({ type: anything, ...fields });
    known.set(tag, gates[tag] === undefined ? { check } : { check, isOpen: gates[tag] });
  }
  return (value, inspection) => {
    if (!isRecord(value)) return refuse("notObject", { path: inspection.path });
    const { type } = value;
    if (type === undefined) {
      inspection.enter("type");
      return refuse("fieldRequired", { path: inspection.path });
    }
    const kind = typeof type === "string" ? known.get(type) : undefined;
    if (kind === undefined || kind.isOpen?.(inspection) === false) {
      const open = [...known].filter(([, { isOpen }]) => isOpen?.(inspection) !== false);
      return refuse("tagUnknown", {
        path: inspection.path,
        tag: typeof type === "string" ? type : JSON.stringify(type),
        tags: open.map(([tag]) => `'${tag}'`).join(", "),
      });
    }
    inspection.enter(String(type));
    kind.check(value, inspection);
    inspection.leave();
  };
}
