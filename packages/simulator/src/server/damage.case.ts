import fc from "fast-check";
import { isRecord, type JsonRecord } from "../../../core/src/messages/untrusted.ts";

/** Generates numbers, texts and shapes that break code without input checks. */
const nasty: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      null,
      true,
      -1,
      0,
      0.5,
      1e9,
      1e308,
      -1e308,
      "",
      " ",
      "\ud800",
      "__proto__",
      "text",
      [],
      {},
      [[]],
      [null],
    ],
    ...[{ toString: 1, valueOf: null }, { type: { toString: null } }, { type: "text" }, { type: "all" }],
    ...[{ $ref: "#" }, { $ref: "#/%E0%" }, { allOf: [{ $ref: "#" }] }, { type: "string", minLength: 1e12 }],
    ...[{ type: "array", minItems: 1e12 }, { type: "object", minProperties: 1e12 }, { pattern: "(" }],
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Returns every position in a value, as a list of names and indices. */
function pathsIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, field]) => pathsIn(field, [...path, name]))];
}

function withChange(value: unknown, [name, ...rest]: readonly string[], change: unknown): unknown {
  if (name === undefined) return change;
  if (Array.isArray(value))
    return value.map((item, at) => (String(at) === name ? withChange(item, rest, change) : item));
  return isRecord(value) ? { ...value, [name]: withChange(value[name], rest, change) } : value;
}

/** Bodies in which up to three values are replaced by unusual ones. */
export const damagedOf = (sound: readonly JsonRecord[]): fc.Arbitrary<unknown> =>
  fc
    .constantFrom(...sound)
    .chain((body) =>
      fc
        .array(fc.tuple(fc.constantFrom(...pathsIn(body)), nasty), { maxLength: 3 })
        .map((changes) =>
          changes.reduce<unknown>((now, [path, change]) => withChange(now, path, change), body),
        ),
    );
