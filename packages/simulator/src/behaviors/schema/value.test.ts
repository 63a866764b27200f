import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../demo/random.ts";
import { valueFor } from "./value.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * A separate validator, written from the definitions of the keywords. It shares no code with the generator.
 */
function violation(value: unknown, schema: Schema, at = "$", root: Schema = schema): string | undefined {
  const found: (string | undefined)[] = [];
  const need = (isMet: boolean, keyword: string): void => {
    if (!isMet) found.push(`${at}: ${keyword}`);
  };
  const json = (item: unknown): string => JSON.stringify(item);
  const check = (item: unknown, part: unknown, where = at): string | undefined =>
    typeof part === "object" && part !== null ? violation(item, part as Schema, where, root) : undefined;
  const list = (keyword: string): Schema[] => schema[keyword] as Schema[];
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return check(value, (root.$defs as Record<string, unknown>)[name]);
  }
  if ("type" in schema) need(([] as unknown[]).concat(schema.type).includes(typeName(value, schema)), "type");
  if ("enum" in schema)
    need(
      list("enum").some((item) => json(item) === json(value)),
      "enum",
    );
  if ("const" in schema) need(json(schema.const) === json(value), "const");
  if ("anyOf" in schema)
    need(
      list("anyOf").some((part) => check(value, part) === undefined),
      "anyOf",
    );
  if ("oneOf" in schema)
    need(list("oneOf").filter((part) => check(value, part) === undefined).length === 1, "oneOf");
  if ("allOf" in schema) for (const part of list("allOf")) found.push(check(value, part));
  if (typeof value === "number") {
    if ("minimum" in schema) need(value >= Number(schema.minimum), "minimum");
    if ("maximum" in schema) need(value <= Number(schema.maximum), "maximum");
    if ("exclusiveMinimum" in schema) need(value > Number(schema.exclusiveMinimum), "exclusiveMinimum");
    if ("exclusiveMaximum" in schema) need(value < Number(schema.exclusiveMaximum), "exclusiveMaximum");
    if ("multipleOf" in schema) need(value % Number(schema.multipleOf) === 0, "multipleOf");
  }
  if (typeof value === "string") {
    if ("minLength" in schema) need(value.length >= Number(schema.minLength), "minLength");
    if ("maxLength" in schema) need(value.length <= Number(schema.maxLength), "maxLength");
    if ("pattern" in schema) need(new RegExp(String(schema.pattern), "u").test(value), "pattern");
  }
  if (Array.isArray(value)) {
    if ("minItems" in schema) need(value.length >= Number(schema.minItems), "minItems");
    if ("maxItems" in schema) need(value.length <= Number(schema.maxItems), "maxItems");
    if (schema.uniqueItems === true) need(new Set(value.map(json)).size === value.length, "uniqueItems");
    for (const [index, item] of value.entries()) found.push(check(item, schema.items, `${at}[${index}]`));
  } else if (typeof value === "object" && value !== null) {
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    for (const name of (schema.required ?? []) as string[])
      need(Object.hasOwn(value, name), `required ${name}`);
    for (const [name, item] of Object.entries(value)) {
      if (Object.hasOwn(properties, name)) found.push(check(item, properties[name], `${at}.${name}`));
      else if (schema.additionalProperties === false) need(false, `additional ${name}`);
      else found.push(check(item, schema.additionalProperties, `${at}.${name}`));
    }
    if ("minProperties" in schema)
      need(Object.keys(value).length >= Number(schema.minProperties), "minProperties");
  }
  return found.find((item) => item !== undefined);
}

function typeName(value: unknown, { type }: Schema): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const allowsInteger = ([] as unknown[]).concat(type).includes("integer");
  return Number.isInteger(value) && allowsInteger ? "integer" : typeof value;
}

const PATTERNS = [
  "^[a-z]+$",
  "^toolu_[A-Za-z0-9]{4,8}$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^(feat|fix|docs)(\\([a-z-]+\\))?: .+$",
  "^#?[0-9a-fA-F]{6}$",
  "^[^/\\s]+/[^/\\s]+$",
  "\\.tsx?$",
  "^(?:v)?(?<major>\\d+)\\.\\d+(\\.\\d+)?$",
];
const bounds = (low: number, high: number): fc.Arbitrary<[number, number]> =>
  fc
    .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: 0, max: 40 }))
    .map(([from, span]) => [from, from + span]);

const strings = fc.oneof(
  fc.constant({ type: "string" }),
  bounds(0, 60).map(([minLength, maxLength]) => ({ type: "string", minLength, maxLength })),
  fc.constantFrom(...PATTERNS).map((pattern) => ({ type: "string", pattern })),
  fc.integer({ min: 1, max: 30 }).map((minLength) => ({ type: "string", pattern: "^[a-z_]+$", minLength })),
  fc.constantFrom("date", "uuid", "uri", "email", "date-time").map((format) => ({ type: "string", format })),
  fc
    .uniqueArray(fc.string(), { minLength: 1, maxLength: 4 })
    .map((values) => ({ type: "string", enum: values })),
);
const numbers = fc.oneof(
  fc.constantFrom({ type: "integer" }, { type: "number" }, { type: "integer", multipleOf: 7, minimum: 3 }),
  bounds(-50, 50).map(([minimum, maximum]) => ({ type: "integer", minimum, maximum })),
  bounds(-50, 50).map(([low, high]) => ({
    type: "number",
    exclusiveMinimum: low,
    exclusiveMaximum: high + 1,
  })),
  fc.integer({ min: -20, max: 20 }).map((maximum) => ({ type: "number", maximum, multipleOf: 0.5 })),
);
const leaves: fc.Arbitrary<Schema> = fc.oneof(
  strings,
  numbers,
  fc.constantFrom<Schema>(
    { type: "boolean" },
    { type: "null" },
    { const: { a: [1] } },
    {},
    { type: ["string", "null"] },
  ),
);
const schemas: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaves,
    fc
      .dictionary(
        fc.constantFrom("path", "query", "items", "todos", "x", "__proto__", "limit"),
        tie("schema"),
      )
      .chain((properties) =>
        fc.record({
          type: fc.constant("object"),
          properties: fc.constant(properties),
          required: fc.subarray(Object.keys(properties)),
          additionalProperties: fc.constant(false),
        }),
      ),
    tie("schema").map((items): Schema => ({ type: "array", items })),
    fc
      .tuple(tie("schema"), bounds(0, 5))
      .map(([items, [minItems]]): Schema => ({ type: "array", items, minItems })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf): Schema => ({ anyOf })),
    tie("schema").map(
      (one): Schema => ({
        oneOf: [{ const: "none" }, { type: "object", properties: { one }, required: ["one"] }],
      }),
    ),
    tie("schema").map(
      (one): Schema => ({ allOf: [{ type: "object", required: ["one"] }, { properties: { one } }] }),
    ),
    fc.constant<Schema>({
      type: "array",
      items: { type: "integer", minimum: 0, maximum: 9 },
      minItems: 4,
      uniqueItems: true,
    }),
    tie("schema").map((one): Schema => ({ type: "object", additionalProperties: one, minProperties: 2 })),
  ),
})).schema;

describe("valueFor, which generates a value for a JSON schema", () => {
  it("valueFor generates a value that matches the schema, for any schema", () => {
    fc.assert(
      fc.property(schemas, fc.nat(), (schema, seed) => {
        expect(violation(valueFor(schema, { random: createRandom(seed) }), schema)).toBeUndefined();
      }),
      { numRuns: 1_500 },
    );
  });

  it("valueFor generates the same value for the same schema and seed", () => {
    fc.assert(
      fc.property(schemas, fc.nat(), (schema, seed) => {
        const make = (): unknown => valueFor(schema, { random: createRandom(seed) });
        expect(make()).toEqual(make());
      }),
    );
  });

  it("valueFor generates a finite value for a recursive schema", () => {
    const node = {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      required: ["name", "children"],
    };
    const either = { anyOf: [{ type: "array", items: { $ref: "#/$defs/either" } }, { type: "null" }] };
    const schema = {
      $defs: { node, either },
      ...node,
      properties: { ...node.properties, e: { $ref: "#/$defs/either" } },
    };
    for (let seed = 0; seed < 50; seed++) {
      expect(violation(valueFor(schema, { random: createRandom(seed) }), schema)).toBeUndefined();
    }
  });

  it.each([
    { type: "string", minLength: 1e12 },
    { type: "array", minItems: 1e12 },
    { type: "array", minItems: 1e12, items: { type: "integer" } },
    { type: "array", minItems: 1e12, uniqueItems: true, items: { type: "boolean" } },
    { type: "object", minProperties: 1e12 },
    { allOf: [{ $ref: "#" }, { $ref: "#" }, { $ref: "#" }] },
    { $ref: "#/%E0%" },
  ])("valueFor limits the size of a value when the schema requires too much: %j", (schema) => {
    const value = valueFor(schema, { random: createRandom(1) });
    expect(JSON.stringify(value).length).toBeLessThan(2_000_000);
  });

  it.each([
    { $ref: "#" },
    { type: "object", properties: { self: { $ref: "#" } }, required: ["self"] },
    { anyOf: [{ $ref: "#" }, { $ref: "#" }] },
    { oneOf: [{ $ref: "#" }, { $ref: "#" }] },
    { anyOf: [{ type: "array", items: { $ref: "#" }, minItems: 3 }, { not: {} }] },
  ])("valueFor throws no error when no finite value matches the schema: %j", (schema) => {
    expect(() => valueFor(schema, { random: createRandom(1) })).not.toThrow();
  });

  it("valueFor uses a suggested value that matches the schema and ignores one that does not", () => {
    const schema = {
      type: "object",
      properties: { path: { type: "string" }, limit: { type: "integer", maximum: 10 } },
      required: ["path", "limit"],
    };
    const suggest = (name: string): unknown[] =>
      name === "path" ? [5, "src/a.ts"] : name === "limit" ? [99] : [];
    for (let seed = 0; seed < 20; seed++) {
      const value = valueFor(schema, { random: createRandom(seed), suggest });
      expect(value).toMatchObject({ path: "src/a.ts" });
      expect(violation(value, schema)).toBeUndefined();
    }
  });

  it("valueFor ignores a pattern that it cannot generate text for", () => {
    const schema = { type: "string", pattern: "^(?=a)a(?<!b)\\p{Ll}$" };
    expect(typeof valueFor(schema, { random: createRandom(1) })).toBe("string");
    expect(typeof valueFor({ type: "string", pattern: "([" }, { random: createRandom(1) })).toBe("string");
  });
});
