import { isRecord } from "../../../../conversation/untrusted.ts";
import { refuse } from "../../wording/refuse.ts";
import type { Inspection } from "../inspection.ts";

/** Refuses a value that has not the shape; says nothing about one that has. */
export type Check = (value: unknown, inspection: Inspection) => void;

/** Betas, API version, endpoint and switches decide which fields and kinds there are. */
type Gate = (inspection: Inspection) => boolean;

export interface Field {
  readonly check: Check;
  readonly required?: boolean;
  readonly isOpen?: Gate;
}

export type Fields = Readonly<Record<string, Check | Field>>;

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

export const filledString: Check = (value, inspection) => {
  string(value, inspection);
  if (value === "") refuse("stringTooShort", { path: inspection.path });
};

export const boolean: Check = (value, inspection) => {
  if (typeof value !== "boolean") refuse("notBoolean", { path: inspection.path });
};

export const record: Check = (value, inspection) => {
  if (!isRecord(value)) refuse("notObject", { path: inspection.path });
};

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

export function numberBetween(minimum: number, maximum: number): Check {
  return (value, inspection) => {
    if (typeof value !== "number") refuse("notNumber", { path: inspection.path });
    if (Number(value) < minimum) refuse("tooSmall", { path: inspection.path, minimum });
    if (Number(value) > maximum) refuse("tooBig", { path: inspection.path, maximum });
  };
}

export function oneOf(...choices: readonly string[]): Check {
  const known: ReadonlySet<unknown> = new Set(choices);
  const quoted = choices.map((choice) => `'${choice}'`);
  const listed =
    quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  return (value, inspection) => {
    if (!known.has(value)) refuse("notOneOf", { path: inspection.path, choices: listed });
  };
}

export function nullable(check: Check): Check {
  return (value, inspection) => {
    if (value !== null) check(value, inspection);
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

export function stringOr(check: Check): Check {
  return (value, inspection) => {
    if (typeof value !== "string") check(value, inspection);
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

/** Kinds told apart by `type`, which becomes part of the path inside them. */
export function tagged(kinds: Readonly<Record<string, Check | Field>>): Check {
  const known = new Map<string, Field>();
  for (const [tag, kind] of Object.entries(kinds)) {
    known.set(tag, typeof kind === "function" ? { check: kind } : kind);
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
      return refuse("tagUnknown", {
        path: inspection.path,
        tag: typeof type === "string" ? type : JSON.stringify(type),
        tags: openTags(known, inspection),
      });
    }
    inspection.enter(String(type));
    kind.check(value, inspection);
    inspection.leave();
  };
}

function openTags(known: ReadonlyMap<string, Field>, inspection: Inspection): string {
  const open = [...known].filter(([, kind]) => kind.isOpen?.(inspection) !== false);
  return open.map(([tag]) => `'${tag}'`).join(", ");
}
