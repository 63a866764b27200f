import type { Random } from "../random.ts";
import { filterOf, typeOf, variableOf } from "./resource-code.ts";
import type { FieldSpec, ResourceSpec } from "./resources.ts";

const ROWS_PER_FIXTURE = 6;

/** Test and fixture of a resource, before the agent touches them. */
export function resourceTestFiles(
  spec: ResourceSpec,
  random: Random,
): readonly (readonly [path: string, text: string])[] {
  const rows = Array.from({ length: ROWS_PER_FIXTURE }, () =>
    Object.fromEntries(spec.fields.map((field) => [field.name, sampleOf(field, random)])),
  );
  return [
    [`test/${spec.plural}.test.ts`, resourceTest(spec)],
    [`test/fixtures/${spec.plural}.json`, `${JSON.stringify(rows, null, 2)}\n`],
  ];
}

function sampleOf(field: FieldSpec, random: Random): unknown {
  switch (field.kind) {
    case "text":
    case "choice":
      return random.pick(field.samples);
    case "number":
      return Math.round((field.min + ((field.max - field.min) * random.between(5, 95)) / 100) * 10) / 10;
    case "flag":
      return random.between(0, 1) === 1;
    case "instant":
      return `2026-04-${`${random.between(1, 30)}`.padStart(2, "0")}T${`${random.between(0, 23)}`.padStart(2, "0")}:20:00Z`;
  }
}

const WRONG: Readonly<Record<FieldSpec["kind"], string>> = {
  text: '"?"',
  number: "-1",
  flag: '"yes"',
  instant: '"tomorrow"',
  choice: '"other"',
};

function resourceTest(spec: ResourceSpec): string {
  const { plural, singular, rule } = spec;
  const rejections = spec.fields
    .map((field) => `    ["${field.name}", { ...${plural}[0], ${field.name}: ${WRONG[field.kind]} }],`)
    .join("\n");
  const cases = rule.cases.map(([call, expected]) => `    expect(${call}).toBe(${expected});`).join("\n");
  return `import { beforeEach, describe, expect, it } from "vitest";
import { ${rule.name} } from "../src/resources/${plural}/repository.ts";
import ${plural} from "./fixtures/${plural}.json" with { type: "json" };
import { type TestServer, startTestServer } from "./support/server.ts";

describe("/v1/${plural}", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer({ now: "2026-03-30T08:00:00Z" });
    await server.seed("/v1/${plural}", ${plural});
  });

  it("lists what was stored, oldest first", async () => {
    const { status, body } = await server.get("/v1/${plural}");
    expect(status).toBe(200);
    expect(body.items).toHaveLength(${plural}.length);
    expect(body.items[0]).toMatchObject(${plural}[0]);
  });

  it("narrows the list by ${filterOf(spec)}", async () => {
    const wanted = ${plural}[0].${filterOf(spec)};
    const { body } = await server.get("/v1/${plural}?${filterOf(spec)}=" + encodeURIComponent(wanted));
    expect(body.items.every((item) => item.${filterOf(spec)} === wanted)).toBe(true);
  });

  it("answers 404 as problem+json for an unknown id", async () => {
    const { status, headers } = await server.get("/v1/${plural}/nothing-here");
    expect(status).toBe(404);
    expect(headers["content-type"]).toContain("application/problem+json");
  });

  it.each([
${rejections}
  ])("refuses a wrong %s", async (field, body) => {
    const { status, body: problem } = await server.post("/v1/${plural}", body);
    expect(status).toBe(422);
    expect(problem.problems.map((each) => each.field)).toEqual([field]);
  });

  it("replaces one and counts its version up", async () => {
    const { body: created } = await server.post("/v1/${plural}", ${plural}[1]);
    const { body: replaced } = await server.put("/v1/${plural}/" + created.id, ${plural}[2]);
    expect(replaced).toMatchObject({ ...${plural}[2], id: created.id, version: 2 });
  });
});

describe("${rule.name}", () => {
  it("${rule.why.replace(/\.$/, "").toLowerCase()}", () => {
${cases}
  });
});

// The type is checked here so that a renamed field of ${singular} breaks the build, not a customer.
void (${plural}[0] satisfies { ${filterOf(spec)}: string });
`;
}

/** The API description, as long as such files are. */
export function openApi(specs: readonly ResourceSpec[]): string {
  const paths = Object.fromEntries(
    specs.flatMap((spec) => [
      [`/v1/${spec.plural}`, { get: listOperation(spec), post: writeOperation(spec, "create", "201") }],
      [`/v1/${spec.plural}/{id}`, { put: writeOperation(spec, "replace", "200") }],
    ]),
  );
  const schemas = Object.fromEntries(specs.map((spec) => [spec.singular, schemaOf(spec)]));
  const info = { title: "Harbour", version: "1.14.0", description: "Tides, berths and bookings." };
  const servers = [{ url: "http://localhost:8471" }];
  return `${JSON.stringify({ openapi: "3.1.0", info, servers, paths, components: { schemas } }, null, 2)}\n`;
}

function listOperation(spec: ResourceSpec): unknown {
  const name = filterOf(spec);
  return {
    operationId: `list${spec.singular}s`,
    parameters: [{ name, in: "query", required: false, schema: { type: "string" } }],
    responses: { "200": { description: `The ${spec.plural}, oldest first` } },
  };
}

function writeOperation(spec: ResourceSpec, verb: string, status: string): unknown {
  const schema = { $ref: `#/components/schemas/${spec.singular}` };
  return {
    operationId: `${verb}${spec.singular}`,
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: {
      [status]: { description: `The ${variableOf(spec)}` },
      "422": { description: "Not acceptable" },
    },
  };
}

function schemaOf(spec: ResourceSpec): unknown {
  const properties = Object.fromEntries(
    spec.fields.map((field) => {
      if (field.kind === "number")
        return [field.name, { type: "number", minimum: field.min, maximum: field.max }];
      if (field.kind === "choice") return [field.name, { type: "string", enum: field.samples }];
      if (field.kind === "instant") return [field.name, { type: "string", format: "date-time" }];
      return [field.name, { type: typeOf(field) }];
    }),
  );
  return { type: "object", required: spec.fields.map(({ name }) => name), properties };
}
