// npm run test:runtimes [-- --only TEXT] [--json]
// Runs the packed core in every runtime that it supports, compiles its types with every compiler, and prints a
// matrix. The command fails if a row fails.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { packPackages } from "../support/packed-packages.ts";
import { COMPILERS } from "./compilers.ts";
import { type Place, placeIn, RUNTIMES } from "./runtimes.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    json: { type: "boolean", default: false },
  },
});

interface Row {
  readonly name: string;
  readonly seconds: number;
  /** Undefined for a row that passed. */
  readonly problem?: string;
}

const INSTALLED = fileURLToPath(new URL(".installed/", import.meta.url));
/** Facts that every runtime must return. Sizes and times are not among them, so all rows must agree exactly. */
const EXPECTED = {
  builtIn: { steps: ["built-in written"] },
  withModel: { steps: ["fork unavailable", "direct written"] },
} as const;

/** Returns a problem with the facts of a run, or undefined. The first row decides the facts of all rows. */
function problemWith(facts: string, first: string): string | undefined {
  if (facts !== first) return `its facts differ from those of the first row: ${facts}`;
  const { builtIn, withModel, recovered, wrongUse } = JSON.parse(facts) as Record<
    string,
    Record<string, unknown>
  >;
  const isExpected =
    JSON.stringify([builtIn?.steps, withModel?.steps]) ===
      JSON.stringify([EXPECTED.builtIn.steps, EXPECTED.withModel.steps]) &&
    [builtIn, withModel, recovered].every((part) =>
      Object.values(part ?? {}).every((value) => value !== false),
    ) &&
    String(wrongUse) === "option-invalid";
  return isExpected ? undefined : `unexpected facts: ${facts}`;
}

let first: string | undefined;
const project = packPackages();

/** Checks of the matrix. Each returns its problem, or undefined. */
const CHECKS: readonly { readonly name: string; check(place: Place): Promise<string | undefined> }[] = [
  ...RUNTIMES.map(({ name, run }) => ({
    name,
    check: async (place: Place) => {
      const facts = await run(place);
      first ??= facts;
      return problemWith(facts, first);
    },
  })),
  ...COMPILERS.map(({ name, check }) => ({ name, check: async () => check(project, INSTALLED) })),
];

const chosen = CHECKS.filter(
  ({ name }) => values.only === undefined || values.only.some((text) => name.includes(text)),
);
if (chosen.length === 0) {
  process.stderr.write(`No row matches --only. Rows: ${CHECKS.map(({ name }) => name).join(", ")}\n`);
  project.remove();
  process.exit(2);
}

const rows: Row[] = [];
try {
  const place = placeIn(project.folder, INSTALLED);
  for (const { name, check } of chosen) {
    const startedAt = performance.now();
    const problem = await check(place).catch((error: unknown) =>
      String(error instanceof Error ? error.message : error),
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    rows.push({ name, seconds, ...(problem !== undefined && { problem }) });
    if (!values.json) process.stdout.write(lineOf(rows.at(-1) as Row));
  }
} finally {
  project.remove();
}
if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 1)}\n`);
const failed = rows.filter(({ problem }) => problem !== undefined).length;
process.stdout.write(values.json ? "" : `\n${rows.length - failed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);

function lineOf({ name, seconds, problem }: Row): string {
  const mark = problem === undefined ? "ok    " : "FAILED";
  const why = problem === undefined ? "" : `\n         ${problem}`;
  return `${mark} ${name} (${seconds.toFixed(1)} s)${why}\n`;
}
