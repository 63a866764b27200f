import type { FieldSpec, ResourceSpec } from "./resources.ts";

/** The three source files of a resource before the agent touches them. */
export function resourceFiles(spec: ResourceSpec): readonly (readonly [path: string, text: string])[] {
  const folder = `src/resources/${spec.plural}`;
  return [
    [`${folder}/repository.ts`, repository(spec)],
    [`${folder}/routes.ts`, routes(spec)],
    [`${folder}/validator.ts`, validator(spec)],
  ];
}

export const columnOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const variableOf = (spec: ResourceSpec): string => spec.singular.toLowerCase();
/** The field a list can be narrowed by. */
export const filterOf = (spec: ResourceSpec): string => spec.fields[0]?.name ?? "id";

const TYPES: Readonly<Record<FieldSpec["kind"], string>> = {
  text: "string",
  number: "number",
  flag: "boolean",
  instant: "string",
  choice: "string",
};

export function typeOf(field: FieldSpec): string {
  if (field.kind !== "choice") return TYPES[field.kind];
  return field.samples.map((sample) => `"${sample}"`).join(" | ");
}

const lines = (items: readonly string[], indent: string): string =>
  items.map((item) => indent + item).join("\n");

function repository(spec: ResourceSpec): string {
  const { plural, singular, fields } = spec;
  const columns = ["id", "version", "created_at", "updated_at", ...fields.map(({ name }) => columnOf(name))];
  const rowType = (field: FieldSpec): string => (field.kind === "flag" ? "0 | 1" : typeOf(field));
  const fromRow = (field: FieldSpec): string =>
    `${field.name}: row.${columnOf(field.name)}${field.kind === "flag" ? " === 1" : ""},`;
  const toRow = (field: FieldSpec): string =>
    field.kind === "flag" ? `input.${field.name} ? 1 : 0,` : `input.${field.name},`;
  return `import type { Clock } from "../../clock.ts";
import type { Database } from "../../db.ts";

export interface ${singular} {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
${lines(
  fields.map((field) => `readonly ${field.name}: ${typeOf(field)};`),
  "  ",
)}
}

export type New${singular} = Omit<${singular}, "id" | "version" | "createdAt" | "updatedAt">;

interface ${singular}Row {
  id: string;
  version: number;
  created_at: string;
  updated_at: string;
${lines(
  fields.map((field) => `${columnOf(field.name)}: ${rowType(field)};`),
  "  ",
)}
}

const COLUMNS =
  "${columns.join(", ")}";

export class ${singular}Repository {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly newId: () => string,
  ) {}

  list(${filterOf(spec)}?: string): ${singular}[] {
    const where = ${filterOf(spec)} === undefined ? "" : " WHERE ${columnOf(filterOf(spec))} = ?";
    const values = ${filterOf(spec)} === undefined ? [] : [${filterOf(spec)}];
    const rows = this.db.all<${singular}Row>("SELECT " + COLUMNS + " FROM ${plural}" + where + " ORDER BY created_at, id", values);
    return rows.map(to${singular});
  }

  get(id: string): ${singular} | undefined {
    const row = this.db.one<${singular}Row>("SELECT " + COLUMNS + " FROM ${plural} WHERE id = ?", [id]);
    return row === undefined ? undefined : to${singular}(row);
  }

  create(input: New${singular}): ${singular} {
    const id = this.newId();
    const now = this.clock.now().toISOString();
    this.db.run("INSERT INTO ${plural} (" + COLUMNS + ") VALUES (${columns.map(() => "?").join(", ")})", [
      id,
      1,
      now,
      now,
${lines(fields.map(toRow), "      ")}
    ]);
    return { ...input, id, version: 1, createdAt: now, updatedAt: now };
  }

  replace(id: string, input: New${singular}): ${singular} | undefined {
    const now = this.clock.now().toISOString();
    const changed = this.db.run(
      "UPDATE ${plural} SET version = version + 1, updated_at = ?, ${fields.map(({ name }) => `${columnOf(name)} = ?`).join(", ")} WHERE id = ?",
      [
        now,
${lines(fields.map(toRow), "        ")}
        id,
      ],
    );
    return changed === 0 ? undefined : this.get(id);
  }

  remove(id: string): boolean {
    return this.db.run("DELETE FROM ${plural} WHERE id = ?", [id]) > 0;
  }
}

function to${singular}(row: ${singular}Row): ${singular} {
  return {
    id: row.id,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
${lines(fields.map(fromRow), "    ")}
  };
}

/** ${spec.rule.why} */
export function ${spec.rule.name}${spec.rule.signature} {
${lines(spec.rule.body, "  ")}
}
`;
}

function routes(spec: ResourceSpec): string {
  const { plural, singular } = spec;
  const variable = variableOf(spec);
  return `import type { FastifyInstance } from "fastify";
import { notFound, unprocessable } from "../../http/problem.ts";
import type { ${singular}Repository } from "./repository.ts";
import { validate${singular} } from "./validator.ts";

interface ById {
  Params: { id: string };
}

export function ${variable}Routes(app: FastifyInstance, ${plural}: ${singular}Repository): void {
  app.get<{ Querystring: { ${filterOf(spec)}?: string } }>("/v1/${plural}", async (request) => {
    const { ${filterOf(spec)} } = request.query;
    request.log.debug({ ${filterOf(spec)} }, "listing ${plural}");
    return { items: ${plural}.list(${filterOf(spec)}) };
  });

  app.get<ById>("/v1/${plural}/:id", async (request, reply) => {
    const ${variable} = ${plural}.get(request.params.id);
    if (${variable} === undefined) return notFound(reply, "${variable}", request.params.id);
    return ${variable};
  });

  app.post("/v1/${plural}", async (request, reply) => {
    const checked = validate${singular}(request.body);
    if (checked.problems.length > 0) return unprocessable(reply, checked.problems);
    const ${variable} = ${plural}.create(checked.value);
    request.log.info({ id: ${variable}.id }, "${variable} created");
    return reply.code(201).header("location", "/v1/${plural}/" + ${variable}.id).send(${variable});
  });

  app.put<ById>("/v1/${plural}/:id", async (request, reply) => {
    const checked = validate${singular}(request.body);
    if (checked.problems.length > 0) return unprocessable(reply, checked.problems);
    const ${variable} = ${plural}.replace(request.params.id, checked.value);
    if (${variable} === undefined) return notFound(reply, "${variable}", request.params.id);
    return ${variable};
  });

  app.delete<ById>("/v1/${plural}/:id", async (request, reply) => {
    if (!${plural}.remove(request.params.id)) return notFound(reply, "${variable}", request.params.id);
    request.log.info({ id: request.params.id }, "${variable} removed");
    return reply.code(204).send();
  });
}
`;
}

function validator(spec: ResourceSpec): string {
  const { singular, fields } = spec;
  return `import type { FieldProblem } from "../../http/problem.ts";
import type { New${singular} } from "./repository.ts";

export interface Checked${singular} {
  readonly value: New${singular};
  readonly problems: readonly FieldProblem[];
}

export function validate${singular}(body: unknown): Checked${singular} {
  const value = (typeof body === "object" && body !== null ? body : {}) as New${singular};
  const problems: FieldProblem[] = [];
${fields.map(fieldCheck).join("\n")}
  return { value, problems };
}
`;
}

function fieldCheck(field: FieldSpec): string {
  const { name } = field;
  const [wrong, key] = fieldTrouble(field);
  return `  if (${wrong}) {
    problems.push({ field: "${name}", key: "validation.${key}" });
  }`;
}

function fieldTrouble(field: FieldSpec): readonly [condition: string, key: string] {
  const value = `value.${field.name}`;
  switch (field.kind) {
    case "text":
      return [`typeof ${value} !== "string" || !/${field.pattern}/u.test(${value})`, "pattern"];
    case "number":
      return [`typeof ${value} !== "number" || ${value} < ${field.min} || ${value} > ${field.max}`, "range"];
    case "flag":
      return [`typeof ${value} !== "boolean"`, "flag"];
    case "instant":
      return [`typeof ${value} !== "string" || Number.isNaN(Date.parse(${value}))`, "instant"];
    case "choice":
      return [`!${JSON.stringify(field.samples)}.includes(${value})`, "choice"];
  }
}
