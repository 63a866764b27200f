import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

const PAGE = readFileSync(join(import.meta.dirname, "..", "..", "docs", "json.md"), "utf8");
/** Fields whose content has another format, or whose keys are names of tools. */
const OPAQUE = new Set([
  "boundary",
  "usage",
  "toolRequests",
  "toolResults",
  "attachments",
  "otherByKind",
  "metrics",
  "entry",
  "event",
]);
/** Lists the paths of all fields, such as `a.b[].c`. */
function fieldsOf(value: unknown, path = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = path === "" || path === "[]" ? `${path}${key}` : `${path}.${key}`;
    return OPAQUE.has(key) ? [name] : [name, ...fieldsOf(inner, name)];
  });
}

/** Returns the fields that the section of this command does not name. */
export function undocumented(heading: string, report: unknown): readonly string[] {
  const start = PAGE.indexOf(`## \`longhaul ${heading}\``);
  expect(start).toBeGreaterThan(0);
  const section = PAGE.slice(start, PAGE.indexOf("\n## ", start + 1));
  const named = new Set(
    [...section.matchAll(/`([\w.-]+)(?:\[\]|\{\})?`/g)].flatMap(([, name = ""]) => name.split(".")),
  );
  const fields = new Set(fieldsOf(report));
  expect(fields.size).toBeGreaterThan(3);
  return [...fields].filter((field) => !named.has(field.split(/[.[\]]+/).at(-1) ?? ""));
}
