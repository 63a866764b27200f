import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeIn, tableUnder } from "./support/markdown.ts";
import { braces, withoutComments } from "./support/source-types.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (...path: readonly string[]): string => readFileSync(join(ROOT, ...path), "utf8");

const page = read("docs", "events.md");
const events = withoutComments(read("packages", "core", "src", "engine", "events.ts"));

const firstColumn = (heading: string): readonly string[] =>
  tableUnder(page, heading)
    .flatMap(([cell]) => codeIn(cell))
    .sort();

/**
 * Reads a table of the page. The key is the code word of a row's first column, the value lists the code words
 * of its last column.
 */
const fieldsInTable = (heading: string): ReadonlyMap<string, readonly string[]> =>
  new Map(tableUnder(page, heading).map((row) => [codeIn(row[0])[0] ?? "", [...codeIn(row.at(-1))].sort()]));

/**
 * Returns the field names of an object type in the notation of the page. A list is `items[]`, and a field
 * inside the list is `items[].name`.
 */
function fieldsOf(type: string): readonly string[] {
  const names: string[] = [];
  const path: string[] = [];
  for (const [, field, value] of type.matchAll(
    /readonly (\w+)\??:\s*((?:readonly )?\{|readonly \w+\[\])?|\}/g,
  )) {
    if (field === undefined) {
      path.pop();
      continue;
    }
    const name = value?.startsWith("readonly") ? `${field}[]` : field;
    names.push([...path, name].join("."));
    if (value?.endsWith("{")) path.push(name);
  }
  return names;
}

/** Returns the source text of an exported union type. */
function declaration(code: string, name: string): string {
  const start = code.indexOf(`export type ${name} =`);
  expect(start, name).toBeGreaterThanOrEqual(0);
  const next = code.indexOf("\nexport ", start + 1);
  return code.slice(start, next === -1 ? undefined : next);
}

function declaredEvents(): ReadonlyMap<string, readonly string[]> {
  const union = declaration(events, "EventDetail");
  const found = new Map<string, readonly string[]>();
  for (let start = union.indexOf("{"); start !== -1; ) {
    const member = braces(union, start);
    const type = /readonly type: "([a-z-]+)"/.exec(member)?.[1] ?? "";
    found.set(
      type,
      fieldsOf(member)
        .filter((name) => name !== "type")
        .sort(),
    );
    start = union.indexOf("{", start + member.length);
  }
  return found;
}

const interfaceFields = (code: string, name: string): readonly string[] => {
  const start = code.indexOf(`export interface ${name} `);
  expect(start, name).toBeGreaterThanOrEqual(0);
  return [...fieldsOf(braces(code, code.indexOf("{", start)))].sort();
};

const literals = (name: string): readonly string[] =>
  [...declaration(events, name).matchAll(/"([\w-]+)"/g)].map(([, value = ""]) => value).sort();

describe("the page docs/events.md", () => {
  it("the test of the events page reads the event types and their fields from the source", () => {
    const type =
      "{ readonly a: A; readonly b?: readonly B[]; readonly c: readonly { readonly d: D }[]; readonly e: { readonly f: F }; readonly g: G }";
    expect(fieldsOf(type)).toEqual(["a", "b[]", "c[]", "c[].d", "e", "e.f", "g"]);
    expect(declaredEvents().size).toBeGreaterThan(20);
    expect(declaredEvents().get("compaction-started")).toEqual(["tokens", "trigger"]);
  });

  it("the page about events has exactly one row for each event", () => {
    expect(firstColumn("## All events")).toEqual([...declaredEvents().keys()].sort());
  });

  it("the page about events names exactly the fields of each event", () => {
    expect(Object.fromEntries(fieldsInTable("## All events"))).toEqual(Object.fromEntries(declaredEvents()));
  });

  it("the page about events says when each event occurs", () => {
    expect(tableUnder(page, "## All events").filter(([, when = ""]) => when.length < 10)).toEqual([]);
  });

  it("the page about events names every field of nested objects", () => {
    const shapes = fieldsInTable("## Shapes within events");
    expect(shapes.get("chain")).toEqual(interfaceFields(events, "ChainRecord"));
    const written = withoutComments(read("packages", "core", "src", "compaction", "write", "attempts.ts"));
    expect(shapes.get("attempts[]")).toEqual(interfaceFields(written, "SummaryAttempt"));
    const costs = withoutComments(read("packages", "core", "src", "measure", "cost", "rewrite-cost.ts"));
    expect(shapes.get("options[]")).toEqual(interfaceFields(costs, "WeighedOption"));
    expect(shapes.get("netSaving")).toEqual(interfaceFields(costs, "NetSaving"));
  });

  it("the page about events lists exactly the reasons for failed and for skipped compactions", () => {
    expect(firstColumn("### Why a compaction failed")).toEqual(literals("FailureReason"));
    expect(firstColumn("### Why nothing was compacted")).toEqual(literals("SkipReason"));
  });
});

describe("the OpenTelemetry section of the events page", () => {
  const names = withoutComments(read("packages", "otel", "src", "names.ts"));
  const values = (constant: string): readonly string[] =>
    [...braces(names, names.indexOf("{", names.indexOf(`const ${constant} =`))).matchAll(/"([^"]+)"/g)]
      .map(([, value = ""]) => value)
      .sort();

  it("the OpenTelemetry section lists exactly the attributes", () => {
    expect(firstColumn("### Attributes")).toEqual(values("ATTRIBUTE"));
  });

  it("the OpenTelemetry section lists exactly the metrics, with existing attributes", () => {
    expect(firstColumn("### Metrics")).toEqual(values("METRIC"));
    const used = tableUnder(page, "### Metrics").flatMap((row) => codeIn(row.at(-1)));
    expect(used.filter((name) => !values("ATTRIBUTE").includes(name))).toEqual([]);
  });
});
