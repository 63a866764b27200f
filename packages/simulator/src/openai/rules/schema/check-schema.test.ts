import { describe, expect, it } from "vitest";
import { ApiRefusal } from "../../../exchange.ts";
import { checkFormatSchema, checkFunctionSchema } from "./check-schema.ts";

const PARAM = "tools[0].function.parameters";

function refusalBy(check: () => void): unknown {
  try {
    check();
  } catch (error) {
    if (error instanceof ApiRefusal) return { message: error.message, ...error.details };
    throw error;
  }
  return "accepted";
}

const functionRefusal = (parameters: unknown, isStrict = false): unknown =>
  refusalBy(() => checkFunctionSchema({ name: "Read", parameters, isStrict, param: PARAM }));

const functionFault = (fault: string): object => ({
  message: `Invalid schema for function 'Read': ${fault}`,
  param: PARAM,
  code: "invalid_function_parameters",
});

/** Wraps properties into a sound strict schema. */
const strict = (properties: Readonly<Record<string, unknown>>, more: object = {}): object => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

const nested = (levels: number): object =>
  levels <= 1 ? strict({ end: { type: "string" } }) : strict({ inner: nested(levels - 1) });

const numbered = <T>(count: number, value: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => value(index));

const leaves = (count: number, name = (index: number): string => `p${index}`): Record<string, unknown> =>
  Object.fromEntries(numbered(count, (index) => [name(index), { type: "string" }]));

type Row = readonly [rule: string, sound: object, wrong: unknown, fault: string];

const LOOSE: readonly Row[] = [
  [
    "a schema without a type",
    { type: "object", properties: {} },
    {},
    `schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
  ],
  [
    "a schema of another type",
    { type: "object", properties: {} },
    { type: "array", items: {} },
    `schema must be a JSON Schema of 'type: "object"', got 'type: "array"'.`,
  ],
  [
    "a union at the top level",
    { type: "object", properties: { a: { anyOf: [{ type: "string" }] } } },
    { type: "object", properties: {}, anyOf: [] },
    "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
  ],
  [
    "an object without properties at the top level",
    { type: "object", properties: { free: { type: "object" } } },
    { type: "object" },
    "In context=(), object schema missing properties.",
  ],
  [
    "an array without items",
    { type: "object", properties: { paths: { type: "array", items: {} } } },
    { type: "object", properties: { paths: { type: ["array", "null"] } } },
    "In context=('properties', 'paths'), array schema missing items.",
  ],
  [
    "an array without items of any kind",
    { type: "object", properties: { pair: { type: "array", prefixItems: [{ type: "string" }] } } },
    { type: "object", properties: { pair: { type: "array", prefixItem: [] } } },
    "In context=('properties', 'pair'), array schema missing items.",
  ],
  [
    "an array without items inside a definition",
    { type: "object", properties: {}, $defs: { list: { type: "array", items: { type: "string" } } } },
    { type: "object", properties: {}, $defs: { list: { type: "array" } } },
    "In context=('$defs', 'list'), array schema missing items.",
  ],
  [
    "an unknown type",
    { type: "object", properties: { a: { type: "string" } } },
    { type: "object", properties: { a: { type: "str" } } },
    "'str' is not valid under any of the given schemas.",
  ],
  [
    "a property that is no schema",
    { type: "object", properties: { a: true } },
    { type: "object", properties: { a: "string" } },
    "In context=('properties', 'a'), schema must be an object or a boolean.",
  ],
];

const STRICT: readonly Row[] = [
  [
    "an object that allows more properties",
    strict({ a: { type: "string" } }),
    strict({}, { additionalProperties: true }),
    "In context=(), 'additionalProperties' is required to be supplied and to be false.",
  ],
  [
    "an optional property",
    strict({ list: { type: "array", items: strict({ a: { type: ["string", "null"] } }) } }),
    strict({ list: { type: "array", items: strict({ a: { type: "string" } }, { required: [] }) } }),
    "In context=('properties', 'list', 'items'), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.",
  ],
  [
    "a required property that is not defined",
    strict({}, { required: [] }),
    strict({}, { required: ["ghost"] }),
    "In context=(), 'required' is required to be supplied and to be an array including every key in properties. Extra required key 'ghost' supplied.",
  ],
  [
    "a forbidden keyword",
    strict({ a: { anyOf: [{ type: "string" }, { type: "null" }] } }),
    strict({ a: { oneOf: [{ type: "string" }, { type: "null" }] } }),
    "In context=('properties', 'a'), 'oneOf' is not permitted.",
  ],
  [
    "an unsupported format of a text",
    strict({ a: { type: ["string", "null"], format: "uuid" } }),
    strict({ a: { type: ["string", "null"], format: "uri" } }),
    "In context=('properties', 'a'), 'uri' is not a valid format.",
  ],
  [
    "a subschema without a type",
    strict({ a: { type: "string", const: "x" } }),
    strict({ a: { const: "x" } }),
    "In context=('properties', 'a'), schema must have a 'type' key.",
  ],
  [
    "an empty branch of a union",
    strict({ a: { anyOf: [{ type: "null" }] } }),
    strict({ a: { anyOf: [{ type: "null" }, {}] } }),
    "In context=('properties', 'a', 'anyOf', '1'), schema must have a 'type' key.",
  ],
  [
    "keywords beside a reference",
    strict({ a: { $ref: "#/$defs/x" } }, { $defs: { x: { type: "string" } } }),
    strict({ a: { $ref: "#/$defs/x", description: "" } }, { $defs: { x: { type: "string" } } }),
    "context=('properties', 'a'), $ref cannot have keywords {'description'}.",
  ],
  [
    "a reference to nothing",
    strict({ self: { anyOf: [{ $ref: "#" }, { type: "null" }] } }),
    strict({ a: { $ref: "#/$defs/x" } }),
    "In context=('properties', 'a'), reference '#/$defs/x' does not resolve to a schema.",
  ],
  ["too many levels", nested(10), nested(11), "11 levels of nesting exceeds limit of 10."],
  [
    "too many levels of a definition, counted from its own root",
    strict({ a: { $ref: "#/$defs/a" } }, { $defs: { a: nested(10) } }),
    strict({ a: { $ref: "#/$defs/a" } }, { $defs: { a: nested(11) } }),
    "11 levels of nesting exceeds limit of 10.",
  ],
  [
    "too many properties",
    strict(leaves(5_000)),
    strict(leaves(5_001)),
    "5001 parameters exceeds limit of 5000.",
  ],
  [
    "too many enum values",
    strict({ a: { type: "integer", enum: numbered(1_000, (index) => index) } }),
    strict({ a: { type: "integer", enum: numbered(1_001, (index) => index) } }),
    "1001 enum values exceeds limit of 1000.",
  ],
  [
    "a large enum with long values",
    strict({ a: { type: "string", enum: numbered(250, () => "x".repeat(100)) } }),
    strict({ a: { type: "string", enum: numbered(251, () => "x".repeat(100)) } }),
    "In context=('properties', 'a'), 25100 characters in an enum of more than 250 values exceeds limit of 15000.",
  ],
  [
    "names that are too long",
    strict(leaves(1_000, (index) => String(index).padEnd(120, "x"))),
    strict(leaves(1_001, (index) => String(index).padEnd(120, "x"))),
    "120120 characters in names and enum values exceeds limit of 120000.",
  ],
  ...["$defs", "definitions"].map((place): Row => {
    const definitions = (count: number): object => leaves(count, (index) => String(index).padEnd(1_000, "x"));
    return [
      `names of ${place} that are too long`,
      strict({}, { [place]: definitions(120) }),
      strict({}, { [place]: definitions(121) }),
      "121000 characters in names and enum values exceeds limit of 120000.",
    ];
  }),
];

describe("schemas of functions", () => {
  it.each(LOOSE)("a schema that is not strict is refused for %s", (_, sound, wrong, fault) => {
    expect(functionRefusal(sound)).toBe("accepted");
    expect(functionRefusal(wrong)).toEqual(functionFault(fault));
  });

  it.each(STRICT)("a strict schema is refused for %s", (_, sound, wrong, fault) => {
    expect(functionRefusal(sound, true)).toBe("accepted");
    expect(functionRefusal(wrong, true)).toEqual(functionFault(fault));
    expect(functionRefusal(wrong)).toBe("accepted");
  });

  it("a function without parameters is accepted", () => {
    expect(functionRefusal(undefined, true)).toBe("accepted");
    expect(functionRefusal(null)).toBe("accepted");
  });

  it("a schema that is nested deeply is refused without a stack overflow", () => {
    let schema: object = { type: "string" };
    for (let level = 0; level < 100_000; level++) schema = { anyOf: [schema] };
    expect(functionRefusal({ type: "object", properties: { a: schema } })).toBe("accepted");
    let objects: object = strict({});
    for (let level = 0; level < 10_000; level++) objects = strict({ a: objects });
    expect(functionRefusal(objects, true)).toEqual(
      functionFault("10001 levels of nesting exceeds limit of 10."),
    );
  });
});

describe("hostile schemas", () => {
  it.each([
    ["a union", { anyOf: numbered(1_000_000, (index) => index) }],
    ["the items", { type: "array", items: numbered(1_000_000, (index) => index) }],
    ["an enum", { type: "string", enum: numbered(1_000_000, (index) => index) }],
  ])("a schema with a million numbers in %s gets an answer", (_, hostile) => {
    const schema = {
      type: "object",
      properties: { a: hostile },
      required: ["a"],
      additionalProperties: false,
    };
    expect(functionRefusal(schema, true)).not.toBe("accepted");
  });
});

describe("schemas of output formats", () => {
  const wrong = { type: "object", properties: {} };

  it("chat completions and the Responses API report the same fault in their own place", () => {
    const format = { type: "json_schema", name: "answer", strict: true, schema: wrong };
    const message =
      "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is required to be supplied and to be false.";
    expect(refusalBy(() => checkFormatSchema(format, "chat"))).toEqual({
      message,
      param: "response_format",
      code: null,
    });
    expect(refusalBy(() => checkFormatSchema(format, "responses"))).toEqual({
      message,
      param: "text.format.schema",
      code: "invalid_json_schema",
    });
  });

  it("a format that is not strict may have any root", () => {
    const schema = { anyOf: [{ type: "string" }] };
    expect(refusalBy(() => checkFormatSchema({ name: "answer", schema }, "chat"))).toBe("accepted");
    expect(
      refusalBy(() => checkFormatSchema({ name: "answer", strict: true, schema }, "chat")),
    ).toMatchObject({
      message: `Invalid schema for response_format 'answer': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
    });
  });
});
