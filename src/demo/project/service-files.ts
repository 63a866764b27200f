import { columnOf, variableOf } from "./resource-code.ts";
import type { ResourceSpec } from "./resources.ts";

type ProjectFile = readonly [path: string, text: string];

/** The service around the resources: configuration, HTTP, database, command line, migrations. */
export function serviceFiles(specs: readonly ResourceSpec[]): readonly ProjectFile[] {
  return [
    ["package.json", PACKAGE],
    ["src/config.ts", CONFIG],
    ["src/clock.ts", CLOCK],
    ["src/db.ts", DATABASE],
    ["src/http/problem.ts", PROBLEM],
    ["src/server.ts", server(specs)],
    ["src/cli/main.ts", CLI],
    ["migrations/0001_init.sql", migration(specs)],
    ["migrations/0002_night_report.sql", NIGHT_REPORT],
  ];
}

const NIGHT_REPORT = `-- Owned by the database team. One line for each booking that the night changed.
CREATE TABLE night_report (
  booking_id TEXT NOT NULL UNIQUE REFERENCES bookings (id),
  outcome TEXT NOT NULL
);
`;

const PACKAGE = `{
  "name": "harbour",
  "version": "1.14.0",
  "private": true,
  "type": "module",
  "engines": { "node": ">=20.11" },
  "scripts": {
    "dev": "node --watch src/server.ts",
    "test": "vitest run",
    "check": "tsc --noEmit && biome check ."
  },
  "dependencies": {
    "better-sqlite3": "11.10.0",
    "fastify": "4.28.1",
    "pino": "9.7.0"
  },
  "devDependencies": {
    "@biomejs/biome": "2.2.4",
    "typescript": "5.9.3",
    "vitest": "3.2.4"
  }
}
`;

const CONFIG = `export interface Config {
  readonly apiPort: number;
  readonly metricsPort: number;
  readonly databasePath: string;
  readonly poolSize: number;
  readonly timeZone: string;
  /** Water that must be left under the keel at the lowest point of a stay. */
  readonly underKeelMetres: number;
  /** A requested booking that nobody confirms is given up after this time. */
  readonly holdMinutes: number;
}

export const DEFAULTS: Config = {
  apiPort: 8471,
  metricsPort: 9464,
  databasePath: "./var/harbour.db",
  poolSize: 8,
  timeZone: "Europe/Oslo",
  underKeelMetres: 0.5,
  holdMinutes: 45,
};

export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  return {
    ...DEFAULTS,
    apiPort: port(env["HARBOUR_API_PORT"], DEFAULTS.apiPort),
    metricsPort: port(env["HARBOUR_METRICS_PORT"], DEFAULTS.metricsPort),
    databasePath: env["HARBOUR_DB"] ?? DEFAULTS.databasePath,
  };
}

function port(text: string | undefined, fallback: number): number {
  const value = Number(text ?? fallback);
  if (!Number.isInteger(value) || value < 1 || value > 65_535) throw new Error("not a port: " + text);
  return value;
}
`;

const CLOCK = `export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** For tests and for replaying a night of the scheduler. */
export class ManualClock implements Clock {
  constructor(private at: Date) {}
  now(): Date {
    return new Date(this.at);
  }
  advance(minutes: number): void {
    this.at = new Date(this.at.getTime() + minutes * 60_000);
  }
}
`;

const DATABASE = `import Sqlite from "better-sqlite3";

export interface Database {
  all<Row>(sql: string, values: readonly unknown[]): Row[];
  one<Row>(sql: string, values: readonly unknown[]): Row | undefined;
  /** How many rows were changed. */
  run(sql: string, values: readonly unknown[]): number;
  transaction<T>(work: () => T): T;
}

export function openDatabase(path: string): Database {
  const connection = new Sqlite(path);
  connection.pragma("journal_mode = WAL");
  connection.pragma("busy_timeout = 2000");
  return {
    all: (sql, values) => connection.prepare(sql).all(...values) as never,
    one: (sql, values) => connection.prepare(sql).get(...values) as never,
    run: (sql, values) => connection.prepare(sql).run(...values).changes,
    transaction: (work) => connection.transaction(work).immediate(),
  };
}
`;

const PROBLEM = `import type { FastifyReply } from "fastify";

export interface FieldProblem {
  readonly field: string;
  /** A key of src/locales; the client's language decides the words. */
  readonly key: string;
}

function problem(reply: FastifyReply, status: number, title: string, more: object = {}): FastifyReply {
  return reply
    .code(status)
    .header("content-type", "application/problem+json; charset=utf-8")
    .send({ type: "about:blank", title, status, requestId: reply.request.id, ...more });
}

export function notFound(reply: FastifyReply, what: string, id: string): FastifyReply {
  return problem(reply, 404, "No such " + what, { id });
}

export function unprocessable(reply: FastifyReply, problems: readonly FieldProblem[]): FastifyReply {
  return problem(reply, 422, "Some fields are not acceptable", { problems });
}
`;

function server(specs: readonly ResourceSpec[]): string {
  const imports = specs.flatMap((spec) => [
    `import { ${spec.singular}Repository } from "./resources/${spec.plural}/repository.ts";`,
    `import { ${variableOf(spec)}Routes } from "./resources/${spec.plural}/routes.ts";`,
  ]);
  const registrations = specs.map(
    (spec) => `  ${variableOf(spec)}Routes(app, new ${spec.singular}Repository(db, clock, newId));`,
  );
  return `import { randomUUID } from "node:crypto";
import fastify, { type FastifyInstance } from "fastify";
import { type Clock, systemClock } from "./clock.ts";
import { type Config, loadConfig } from "./config.ts";
import { type Database, openDatabase } from "./db.ts";
${imports.join("\n")}
import { availableBerths } from "./scheduler/slots.ts";

export function buildServer(config: Config, db: Database, clock: Clock, newId: () => string): FastifyInstance {
  const app = fastify({ logger: { level: "info" }, genReqId: () => randomUUID() });

${registrations.join("\n")}

  // The harbour master's tablet asks this one; it has no paging and never had.
  app.get("/v1/berths/all", async () => {
    return new BerthRepository(db, clock, newId).list();
  });

  app.get<{ Querystring: { from: string; until: string; draught: string } }>("/v1/availability", async (request) => {
    const { from, until, draught } = request.query;
    const stay = { arrivesAt: new Date(from), leavesAt: new Date(until), draughtMetres: Number(draught) };
    return { berths: availableBerths(db, config, stay) };
  });

  app.get("/healthz", async () => ({ ok: true, at: clock.now().toISOString() }));
  return app;
}

if (process.argv[1]?.endsWith("server.ts")) {
  const config = loadConfig(process.env);
  const app = buildServer(config, openDatabase(config.databasePath), systemClock, randomUUID);
  await app.listen({ port: config.apiPort, host: "0.0.0.0" });
}
`;
}

const CLI = `import { parseArgs } from "node:util";
import { loadConfig } from "../config.ts";

const USAGE = "harbour berths | harbour tide YYYY-MM-DD | harbour book BERTH IMO FROM UNTIL DRAUGHT";

export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const { positionals } = parseArgs({ args: [...argv], allowPositionals: true });
  const [command, ...rest] = positionals;
  const base = "http://localhost:" + loadConfig(env).apiPort;
  switch (command) {
    case "berths":
      return print(await fetch(base + "/v1/berths"));
    case "tide":
      return print(await fetch(base + "/v1/tides/" + rest[0]));
    case "book": {
      const [berthCode, vesselImo, arrivesAt, leavesAt, draught] = rest;
      const body = { status: "requested", berthCode, vesselImo, arrivesAt, leavesAt, draughtMetres: Number(draught) };
      return print(await fetch(base + "/v1/bookings", { method: "POST", body: JSON.stringify(body) }));
    }
    default:
      console.error(USAGE);
      return 2;
  }
}

async function print(response: Response): Promise<number> {
  const text = await response.text();
  if (response.ok) {
    console.log(text);
    return 0;
  }
  console.error("harbour: the server answered " + response.status);
  return 1;
}
`;

function migration(specs: readonly ResourceSpec[]): string {
  const types = { text: "TEXT", choice: "TEXT", instant: "TEXT", number: "REAL", flag: "INTEGER" } as const;
  const table = (spec: ResourceSpec): string => {
    const own = spec.fields.map((field) => `  ${columnOf(field.name)} ${types[field.kind]} NOT NULL`);
    const shared = ["  id TEXT PRIMARY KEY", "  version INTEGER NOT NULL DEFAULT 1"];
    const times = ["  created_at TEXT NOT NULL", "  updated_at TEXT NOT NULL"];
    return `CREATE TABLE ${spec.plural} (\n${[...shared, ...times, ...own].join(",\n")}\n);\n`;
  };
  return `-- Owned by the database team. Released migrations are never edited.\n${specs.map(table).join("\n")}`;
}
