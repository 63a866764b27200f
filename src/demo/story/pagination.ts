import { columnOf, filterOf } from "../project/resource-code.ts";
import { RESOURCES, type ResourceSpec } from "../project/resources.ts";
import type { ToolCall } from "../recorder.ts";
import type { TestFailure } from "../reports.ts";
import { todoList } from "../tools.ts";
import { commit, conclude, runTests, type Stage } from "./stage.ts";
import { leftOver, memberText, namesOf, repositoryPath, routesPath, sweep, testPath } from "./sweep.ts";

const REQUEST = `Now the lists. Cursor pagination for all of them, in this shape:

GET /v1/<plural>?limit=25&cursor=… → { "items": [...], "nextCursor": "..." | null }

limit defaults to 25 and is capped at 100; a bad limit is 422, not silently 25. The cursor is opaque to clients (base64url of created_at and id), no offset paging. Start with berths and bookings, then go down the list; one commit per resource so I can review them one by one.`;

const PAGE = `/** Lists are paged by position, not by offset: rows that come or go meanwhile shift nothing. */
export interface PageRequest {
  readonly limit: number;
  readonly after: { readonly createdAt: string; readonly id: string };
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;
const START = { createdAt: "", id: "" };

export function pageRequest(query: { limit?: string; cursor?: string }): PageRequest | undefined {
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) return undefined;
  return { limit, after: query.cursor === undefined ? START : decode(query.cursor) };
}

/** Takes one row more than asked for: that one tells that there is a next page, and is not handed out. */
export function pageOf<T extends { createdAt: string; id: string }>(rows: readonly T[], limit: number): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? encode(last) : null };
}

function encode(row: { createdAt: string; id: string }): string {
  return Buffer.from(JSON.stringify([row.createdAt, row.id])).toString("base64url");
}

function decode(cursor: string): PageRequest["after"] {
  const [createdAt, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  return { createdAt: String(createdAt), id: String(id) };
}
`;

const todosAfter = (stage: Stage, done: number): ToolCall =>
  stage.tools.todos(
    todoList(
      RESOURCES.map(({ plural }) => [`Page the list of ${plural}`, `Paging the list of ${plural}`] as const),
      done,
    ),
  );

export function pagination(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.pause(6);
  recorder.human(REQUEST);
  recorder.respond({
    thinking:
      "One helper for parsing and building pages, then the same change per resource. (created_at, id) is the order that list already uses, so the cursor is that pair. No migration needed.",
    text: "One small helper first; then one resource after the other.",
    calls: [tools.write("src/http/page.ts", PAGE), todosAfter(stage, 0)],
  });
  const done = sweep(stage, stage.plan.paginationTokens, pageOneResource);
  recorder.respond({ calls: [runTests(stage, stage.workspace.paths("test/", ".test.ts"))] });
  const left = leftOver(done);
  const rest = left.length === 0 ? "That was all of them." : `Still unpaged: ${namesOf(left)}.`;
  conclude(
    stage,
    `Paged: ${namesOf(done)}. Each has its own commit and a test that walks all pages. ${rest} I removed /v1/berths/all from src/server.ts, since the paged list replaces it.`,
  );
}

/** Two slips that people make with cursors; the third time it goes right at once. */
type Slip = "no-extra-row" | "repeats-last-row" | "none";
const SLIPS: readonly Slip[] = ["no-extra-row", "repeats-last-row", "none"];

function pageOneResource(stage: Stage, spec: ResourceSpec, index: number): void {
  const { recorder, tools, workspace } = stage;
  const slip = SLIPS[index % SLIPS.length] ?? "none";
  recorder.respond({
    ...(index % 2 === 0 ? { text: `Next: ${spec.plural}.` } : {}),
    calls: [tools.read(repositoryPath(spec)), tools.read(routesPath(spec))],
    layout: index % 2 === 0 ? "interleaved" : "contiguous",
  });
  const oldList = memberText(workspace.text(repositoryPath(spec)), "  list(");
  const oldRoute = memberText(workspace.text(routesPath(spec)), "  app.get<{ Querystring");
  recorder.respond({
    calls: [
      tools.edit(repositoryPath(spec), oldList, pagedList(spec, slip)),
      tools.edit(
        repositoryPath(spec),
        'import type { Database } from "../../db.ts";\n',
        'import type { Database } from "../../db.ts";\nimport { type Page, type PageRequest, pageOf } from "../../http/page.ts";\n',
      ),
      tools.edit(routesPath(spec), oldRoute, pagedRoute(spec)),
      tools.edit(
        routesPath(spec),
        "import { notFound,",
        'import { pageRequest } from "../../http/page.ts";\nimport { notFound,',
      ),
    ],
    layout: "contiguous",
  });
  if (index === 0) removeLegacyEndpoint(stage);
  recorder.respond({ calls: [tools.read(testPath(spec))] });
  const anchor = '  it("answers 404 as problem+json';
  recorder.respond({ calls: [tools.edit(testPath(spec), anchor, `${pagingTest(spec)}\n${anchor}`)] });
  testAndMend(stage, spec, slip);
  describeParameters(stage, spec);
  recorder.respond({
    calls: [
      commit(stage, `feat(${spec.plural}): page the list by cursor`, [
        `src/resources/${spec.plural}`,
        testPath(spec),
        "openapi.json",
      ]),
      todosAfter(stage, index + 1),
    ],
  });
}

function describeParameters(stage: Stage, spec: ResourceSpec): void {
  const { recorder, tools, workspace } = stage;
  const path = "openapi.json";
  const operation = `"operationId": "list${spec.singular}s",`;
  const anchor = `        ${operation}\n        "parameters": [\n`;
  const parameter = (name: string, schema: string): string =>
    `          {\n            "name": "${name}",\n            "in": "query",\n            "required": false,\n            "schema": ${schema}\n          },\n`;
  const limit = parameter("limit", '{ "type": "integer", "minimum": 1, "maximum": 100, "default": 25 }');
  const cursor = parameter("cursor", '{ "type": "string", "description": "nextCursor of the page before" }');
  const offset = workspace.lineOf(path, operation) - 3;
  recorder.respond({ calls: [tools.read(path, { offset, limit: 24 })] });
  recorder.respond({ calls: [tools.edit(path, anchor, anchor + limit + cursor)] });
}

function testAndMend(stage: Stage, spec: ResourceSpec, slip: Slip): void {
  const { recorder, tools } = stage;
  const path = repositoryPath(spec);
  if (slip === "none") {
    recorder.respond({ calls: [runTests(stage, [testPath(spec)])] });
    return;
  }
  recorder.respond({ calls: [runTests(stage, [testPath(spec)], [pagingFailure(spec, slip)])] });
  const [thinking, wrong, right] =
    slip === "no-extra-row"
      ? [
          `nextCursor is null although ${spec.plural} has six rows and I asked for four: the query takes exactly limit rows, so pageOf never sees the extra one.`,
          "[...values, page.limit]",
          "[...values, page.limit + 1]",
        ]
      : [
          "The second page begins with the row that ended the first: the comparison must be strictly greater.",
          "(created_at, id) >= (?, ?)",
          "(created_at, id) > (?, ?)",
        ];
  recorder.respond({ thinking, calls: [tools.edit(path, wrong, right), runTests(stage, [testPath(spec)])] });
}

function pagedList(spec: ResourceSpec, slip: Slip): string {
  const { plural, singular } = spec;
  const filter = filterOf(spec);
  const comparison = slip === "repeats-last-row" ? ">=" : ">";
  const limit = slip === "no-extra-row" ? "page.limit" : "page.limit + 1";
  return `  list(page: PageRequest, ${filter}?: string): Page<${singular}> {
    const where = ["(created_at, id) ${comparison} (?, ?)"];
    const values: unknown[] = [page.after.createdAt, page.after.id];
    if (${filter} !== undefined) {
      where.push("${columnOf(filter)} = ?");
      values.push(${filter});
    }
    const rows = this.db.all<${singular}Row>(
      "SELECT " + COLUMNS + " FROM ${plural} WHERE " + where.join(" AND ") + " ORDER BY created_at, id LIMIT ?",
      [...values, ${limit}],
    );
    return pageOf(rows.map(to${singular}), page.limit);
  }
`;
}

function pagedRoute(spec: ResourceSpec): string {
  const { plural } = spec;
  const filter = filterOf(spec);
  return `  app.get<{ Querystring: { ${filter}?: string; limit?: string; cursor?: string } }>("/v1/${plural}", async (request, reply) => {
    const page = pageRequest(request.query);
    if (page === undefined) return unprocessable(reply, [{ field: "limit", key: "validation.range" }]);
    return ${plural}.list(page, request.query.${filter});
  });
`;
}

function pagingTest(spec: ResourceSpec): string {
  const { plural } = spec;
  return `  it("hands out pages that together are the whole list", async () => {
    const first = await server.get("/v1/${plural}?limit=4");
    expect(first.body.items).toHaveLength(4);
    expect(first.body.nextCursor).not.toBeNull();
    const second = await server.get("/v1/${plural}?limit=4&cursor=" + first.body.nextCursor);
    expect(second.body.items).toHaveLength(${plural}.length - 4);
    expect(second.body.nextCursor).toBeNull();
  });

  it.each(["0", "101", "many"])("refuses a limit of %s", async (limit) => {
    expect((await server.get("/v1/${plural}?limit=" + limit)).status).toBe(422);
  });
`;
}

function pagingFailure(spec: ResourceSpec, slip: Exclude<Slip, "none">): TestFailure {
  const title = `/v1/${spec.plural} > hands out pages that together are the whole list`;
  const shared = { path: testPath(spec), title };
  return slip === "no-extra-row"
    ? { ...shared, error: "expected null not to be null", at: "expect(first.body.nextCursor)" }
    : {
        ...shared,
        error: "expected [ …(3) ] to have a length of 2 but got 3",
        difference: ["- 2", "+ 3"],
        at: "expect(second.body.items)",
      };
}

const LEGACY = `  // The harbour master's tablet asks this one; it has no paging and never had.
  app.get("/v1/berths/all", async () => {
    return new BerthRepository(db, clock, newId).list();
  });

`;

function removeLegacyEndpoint(stage: Stage): void {
  const { recorder, tools } = stage;
  const output = (): string => {
    const line = stage.workspace.lineOf("src/server.ts", "newId).list()");
    return `src/server.ts(${line},12): error TS2554: Expected 1-2 arguments, but got 0.`;
  };
  recorder.respond({ calls: [tools.failingBash("npx tsc --noEmit", "Type-check", output, 3.1)] });
  recorder.respond({
    text: "Only the unpaged /v1/berths/all still calls the old form. The paged list replaces it, so I take it out.",
    calls: [tools.edit("src/server.ts", LEGACY, "")],
  });
}

/** The human overrules the agent. */
export function keepLegacyEndpoint(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.pause(2);
  recorder.human(
    "No, keep /v1/berths/all! The harbour master's tablet calls it and cannot be updated before June. Same answer as before (a bare array), but send a `Deprecation: true` header and a Sunset of 30 June 2026.",
  );
  const anchor = "  app.get<{ Querystring: { from: string;";
  const restored = `  // The harbour master's tablet asks this one until June 2026: a bare array, no paging.
  app.get("/v1/berths/all", async (_request, reply) => {
    reply.header("deprecation", "true").header("sunset", "Tue, 30 Jun 2026 23:59:59 GMT");
    const everything = { limit: 10_000, after: { createdAt: "", id: "" } };
    return new BerthRepository(db, clock, newId).list(everything).items;
  });

`;
  recorder.respond({
    text: "You're right, I should have asked before removing it. It comes back with the two headers.",
    calls: [tools.edit("src/server.ts", anchor, restored + anchor), tools.read("src/config.ts")],
  });
  recorder.respond({
    calls: [commit(stage, "fix(server): keep /v1/berths/all until the tablet is gone", ["src/server.ts"])],
  });
  conclude(
    stage,
    "`/v1/berths/all` is back: a bare array as before, now with `Deprecation: true` and `Sunset: Tue, 30 Jun 2026 23:59:59 GMT`. I won't remove endpoints without asking again.",
  );
}
