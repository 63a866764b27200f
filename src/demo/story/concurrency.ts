import { variableOf } from "../project/resource-code.ts";
import type { ResourceSpec } from "../project/resources.ts";
import type { TestFailure } from "../reports.ts";
import { commit, conclude, runTests, type Stage } from "./stage.ts";
import { leftOver, memberText, namesOf, repositoryPath, routesPath, sweep, testPath } from "./sweep.ts";

const REQUEST =
  "Next problem: two planners overwrite each other. PUT must require If-Match with the version in quotes. Missing header → 428, version differs → 412, both as problem+json; a good PUT answers with an ETag. The check has to be in the UPDATE itself, not a read before it, we run two processes. Same order as before, and again no change in migrations/.";

const QUEUED =
  "while you're at it: the CLI should print the request id when the server answers with an error";

const PRECONDITION = `import type { FastifyReply } from "fastify";

/** The version in an If-Match header, or undefined if there is none that we can read. */
export function expectedVersion(header: string | undefined): number | undefined {
  const match = /^(\\d+)$/.exec(header ?? "");
  return match === null ? undefined : Number(match[1]);
}

export function preconditionRequired(reply: FastifyReply): FastifyReply {
  return send(reply, 428, "If-Match with the version you have seen is required");
}

export function preconditionFailed(reply: FastifyReply, what: string): FastifyReply {
  return send(reply, 412, "This " + what + " was changed by somebody else meanwhile");
}

function send(reply: FastifyReply, status: number, title: string): FastifyReply {
  return reply
    .code(status)
    .header("content-type", "application/problem+json; charset=utf-8")
    .send({ type: "about:blank", title, status, requestId: reply.request.id });
}
`;

export function concurrency(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.pause(34);
  recorder.human(REQUEST);
  recorder.respond({
    thinking:
      "The UPDATE gets AND version = ?. If nothing changed, either the row is gone (404) or the version differs (412): one get afterwards tells which, and a race there only changes which error is shown.",
    calls: [
      tools.write("src/http/precondition.ts", PRECONDITION),
      tools.grep(".replace(request", "src/", ".ts"),
    ],
  });
  const done = sweep(stage, stage.plan.concurrencyTokens, guardOneResource);
  cliRequestId(stage);
  const left = leftOver(done);
  const rest = left.length === 0 ? "All ten resources have it." : `Not yet: ${namesOf(left)}.`;
  conclude(
    stage,
    `PUT now needs If-Match on ${namesOf(done)}: 428 without it, 412 when the version differs, an ETag when it went well. The comparison is part of the UPDATE. ${rest} The CLI prints the request id on errors, as you asked in between.`,
  );
}

type Slip = "quotes-not-read" | "value-not-bound" | "none";

const slipOf = (index: number): Slip =>
  index === 0 ? "quotes-not-read" : index % 2 === 1 ? "value-not-bound" : "none";

function guardOneResource(stage: Stage, spec: ResourceSpec, index: number): void {
  const { recorder, tools, workspace } = stage;
  const slip = slipOf(index);
  const startLine = workspace.lineOf(repositoryPath(spec), "  replace(id");
  recorder.respond({
    calls:
      index % 3 === 0
        ? [
            tools.read(repositoryPath(spec), { offset: startLine - 2, limit: 34 }),
            tools.read(routesPath(spec)),
          ]
        : [tools.read(repositoryPath(spec)), tools.read(routesPath(spec))],
  });
  const oldReplace = memberText(workspace.text(repositoryPath(spec)), "  replace(id");
  const oldRoute = memberText(workspace.text(routesPath(spec)), "  app.put<ById>");
  recorder.respond({
    calls: [
      tools.edit(repositoryPath(spec), oldReplace, guardedReplace(oldReplace, spec, slip)),
      tools.edit(routesPath(spec), oldRoute, guardedRoute(oldRoute, spec)),
      tools.edit(
        routesPath(spec),
        "import { notFound,",
        'import { expectedVersion, preconditionFailed, preconditionRequired } from "../../http/precondition.ts";\nimport { notFound,',
      ),
    ],
    layout: index % 2 === 0 ? "contiguous" : "interleaved",
  });
  if (index % 3 !== 2) recorder.respond({ calls: [tools.read(testPath(spec))] });
  const oldTest = memberText(workspace.text(testPath(spec)), '  it("replaces one and counts');
  recorder.respond({ calls: [tools.edit(testPath(spec), oldTest, guardedTest(spec))] });
  testAndMend(stage, spec, slip);
  describeHeader(stage, spec);
  if (index === 0) recorder.queued(QUEUED);
  recorder.respond({
    calls: [
      commit(stage, `feat(${spec.plural}): require If-Match on PUT`, [
        `src/resources/${spec.plural}`,
        testPath(spec),
        "openapi.json",
      ]),
    ],
  });
}

function describeHeader(stage: Stage, spec: ResourceSpec): void {
  const { recorder, tools, workspace } = stage;
  const path = "openapi.json";
  const operation = `        "operationId": "replace${spec.singular}",\n`;
  const success = `          "200": {\n            "description": "The ${variableOf(spec)}"\n          },\n`;
  const header = `        "parameters": [
          {
            "name": "if-match",
            "in": "header",
            "required": true,
            "schema": { "type": "string", "pattern": "^\\"[0-9]+\\"$" }
          }
        ],
`;
  const refusals = `          "412": { "description": "Somebody else changed the ${variableOf(spec)} meanwhile" },
          "428": { "description": "If-Match is missing" },
`;
  const offset = workspace.lineOf(path, operation.trim()) - 2;
  recorder.respond({ calls: [tools.read(path, { offset, limit: 24 })] });
  recorder.respond({
    calls: [tools.edit(path, operation, operation + header), tools.edit(path, success, success + refusals)],
  });
}

function testAndMend(stage: Stage, spec: ResourceSpec, slip: Slip): void {
  const { recorder, tools } = stage;
  if (slip === "none") {
    recorder.respond({ calls: [runTests(stage, [testPath(spec)])] });
    return;
  }
  recorder.respond({ calls: [runTests(stage, [testPath(spec)], [guardFailure(spec, slip)])] });
  const mend =
    slip === "quotes-not-read"
      ? tools.edit("src/http/precondition.ts", "/^(\\d+)$/", '/^"(\\d+)"$/')
      : tools.edit(
          repositoryPath(spec),
          "        id,\n      ],",
          "        id,\n        expectedVersion,\n      ],",
        );
  const thinking =
    slip === "quotes-not-read"
      ? 'A good PUT gets 428: the header is "1" with the quotes, and my pattern has none. An ETag is always quoted, so the pattern must demand them.'
      : "The statement has one placeholder more than values: I added AND version = ? and did not bind it. That would have been a 500 in production for every PUT.";
  recorder.respond({ thinking, calls: [mend, runTests(stage, [testPath(spec)])] });
}

function guardedReplace(old: string, spec: ResourceSpec, slip: Slip): string {
  const bound = old
    .replace(`): ${spec.singular} |`, `, expectedVersion: number): ${spec.singular} | "conflict" |`)
    .replace('WHERE id = ?"', 'WHERE id = ? AND version = ?"')
    .replace(
      "return changed === 0 ? undefined : this.get(id);",
      'if (changed > 0) return this.get(id);\n    return this.get(id) === undefined ? undefined : "conflict";',
    );
  if (slip === "value-not-bound") return bound;
  return bound.replace("        id,\n      ],", "        id,\n        expectedVersion,\n      ],");
}

function guardedRoute(old: string, spec: ResourceSpec): string {
  const variable = variableOf(spec);
  return old
    .replace(
      "    const checked",
      '    const expected = expectedVersion(request.headers["if-match"]);\n    if (expected === undefined) return preconditionRequired(reply);\n    const checked',
    )
    .replace("checked.value);", "checked.value, expected);")
    .replace(
      `    return ${variable};`,
      `    if (${variable} === "conflict") return preconditionFailed(reply, "${variable}");\n    return reply.header("etag", '"' + ${variable}.version + '"').send(${variable});`,
    );
}

function guardedTest(spec: ResourceSpec): string {
  const { plural } = spec;
  return `  it("replaces one and counts its version up", async () => {
    const { body: created } = await server.post("/v1/${plural}", ${plural}[1]);
    const answer = await server.put("/v1/${plural}/" + created.id, ${plural}[2], { "if-match": '"1"' });
    expect(answer.body).toMatchObject({ ...${plural}[2], id: created.id, version: 2 });
    expect(answer.headers["etag"]).toBe('"2"');
  });

  it("refuses to replace what somebody else has changed", async () => {
    const { body: created } = await server.post("/v1/${plural}", ${plural}[1]);
    await server.put("/v1/${plural}/" + created.id, ${plural}[2], { "if-match": '"1"' });
    const late = await server.put("/v1/${plural}/" + created.id, ${plural}[3], { "if-match": '"1"' });
    expect(late.status).toBe(412);
    expect((await server.put("/v1/${plural}/" + created.id, ${plural}[3])).status).toBe(428);
  });
`;
}

function guardFailure(spec: ResourceSpec, slip: Exclude<Slip, "none">): TestFailure {
  const shared = {
    path: testPath(spec),
    title: `/v1/${spec.plural} > replaces one and counts its version up`,
    at: "expect(answer.body).toMatchObject",
  };
  const received = slip === "quotes-not-read" ? 428 : 500;
  const body = [`-   "version": 2,`, `+   "status": ${received},`];
  const error = `expected { type: 'about:blank', …, status: ${received} } to match object { …, version: 2 }`;
  if (slip === "quotes-not-read") return { ...shared, error, difference: body };
  const cause = '+   "message": "Too few parameter values were provided",';
  return { ...shared, error, difference: [...body, cause], frames: [["src/db.ts", "run: (sql"]] };
}

function cliRequestId(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.respond({
    text: "Now the CLI, as you asked while I was at it. Every problem+json body carries the request id.",
    calls: [tools.read("src/cli/main.ts")],
  });
  recorder.respond({
    calls: [
      tools.edit(
        "src/cli/main.ts",
        '  console.error("harbour: the server answered " + response.status);',
        `  const requestId = /"requestId":"([^"]+)"/.exec(text)?.[1] ?? "unknown";
  console.error("harbour: the server answered " + response.status + " (request " + requestId + ")");`,
      ),
      commit(stage, "feat(cli): print the request id on errors", ["src/cli/main.ts"]),
    ],
  });
}
