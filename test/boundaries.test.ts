import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { cyclesIn, readGraph } from "../scripts/house/graph.ts";

const SOURCE = join(import.meta.dirname, "..", "src");

const BELOW_TURN: readonly string[] = [
  "conversation",
  "tokens",
  "window",
  "cost",
  "models",
  "clear",
  "hooks",
  "restore",
  "summary",
  "compaction",
];
const BELOW_TESTING = [...BELOW_TURN, "turn", "modules", "telemetry", "transcript", "recall", "demo", "host"];

/** Which rooms a room may know. The table of docs/design/0001-architecture.md, enforced. */
const MAY_KNOW: Readonly<Record<string, readonly string[]>> = {
  conversation: [],
  tokens: ["conversation"],
  window: ["conversation"],
  cost: ["conversation", "tokens", "window"],
  models: ["conversation", "tokens", "window"],
  clear: ["conversation", "tokens", "models"],
  hooks: ["conversation", "models"],
  restore: ["conversation", "tokens"],
  summary: ["conversation", "tokens", "models"],
  compaction: ["conversation", "tokens", "models", "hooks", "restore", "summary"],
  turn: BELOW_TURN,
  modules: [...BELOW_TURN, "turn"],
  telemetry: ["turn", "models", "compaction"],
  transcript: ["conversation"],
  recall: ["conversation", "tokens", "transcript"],
  demo: ["conversation", "tokens"],
  host: [...BELOW_TURN, "modules", "transcript", "recall"],
  /** Only what everybody has: see the test about it below. */
  agent: [],
  testing: BELOW_TESTING,
  evaluate: [...BELOW_TESTING, "testing"],
  cli: [...BELOW_TESTING, "testing", "evaluate", "agent"],
};

/** Effects live at the edge: everything else runs wherever JavaScript runs. */
const MAY_IMPORT_NODE = ["transcript", "recall", "host", "agent", "testing", "evaluate", "cli"];
/** Packages of others, by room. */
const MAY_IMPORT_PACKAGE: Readonly<Record<string, readonly string[]>> = {
  transcript: ["proper-lockfile"],
  agent: ["diff", "html-to-text", "ignore", "lru-cache", "tinyglobby", "zod"],
  testing: ["lru-cache"],
  cli: ["commander", "picocolors", "zod"],
};

interface Import {
  readonly file: string;
  readonly room: string;
  readonly target: string;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => join(SOURCE, name));

const roomOf = (path: string): string => relative(SOURCE, path).split(sep)[0] ?? "";

/** The demonstration's project is code in template literals, with imports of its own. */
const withoutTemplates = (code: string): string => code.replace(/`(?:\\.|[^`\\])*`/gs, "``");

const imports: Import[] = files.flatMap((file) =>
  [
    ...withoutTemplates(readFileSync(file, "utf8")).matchAll(/^(?:import|export)\b[^;"]*from\s+"([^"]+)"/gm),
  ].map(([, target = ""]) => ({
    file: relative(SOURCE, file),
    room: roomOf(file),
    target: target.startsWith(".") ? roomOf(resolve(dirname(file), target)) : target,
  })),
);

describe("import directions", () => {
  it("every folder of src is in the table", () => {
    const folders = readdirSync(SOURCE, { withFileTypes: true }).filter((item) => item.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual(Object.keys(MAY_KNOW).sort());
  });

  it("no files import each other, type imports included", () => {
    expect(cyclesIn(readGraph(join(SOURCE, "..")))).toEqual([]);
  });

  it("a room knows only the rooms below it", () => {
    const wrong = imports.filter(
      ({ room, target }) =>
        room in MAY_KNOW && target in MAY_KNOW && target !== room && !MAY_KNOW[room]?.includes(target),
    );
    expect(wrong).toEqual([]);
  });

  it("the engine knows no module, and a module knows no other", () => {
    const folders = readdirSync(join(SOURCE, "modules"));
    const wrong = files.filter((file) => {
      const [room, own] = relative(SOURCE, file).split(sep);
      const others = folders.filter((folder) => room !== "modules" || folder !== own);
      const code = readFileSync(file, "utf8");
      const isBound = room === "modules" || BELOW_TURN.includes(room ?? "") || room === "turn";
      return isBound && others.some((folder) => new RegExp(`from "[./]+(modules/)?${folder}/`).test(code));
    });
    expect(wrong).toEqual([]);
  });

  it("the core imports nothing from node, and each room only the packages it is allowed", () => {
    const outside = imports.filter(({ target }) => !(target in MAY_KNOW) && !target.endsWith(".ts"));
    const wrong = outside.filter(({ room, target }) =>
      target.startsWith("node:")
        ? !MAY_IMPORT_NODE.includes(room)
        : !MAY_IMPORT_PACKAGE[room]?.includes(target),
    );
    expect(wrong).toEqual([]);
  });

  it("the agent is built on the public entries alone, as anybody else's would be", () => {
    const wrong = imports.filter(
      ({ room, target }) =>
        room === "agent" && target.endsWith(".ts") && !/^(?:index|node)\.ts$/.test(target),
    );
    expect(wrong).toEqual([]);
    expect(imports.some(({ room, target }) => room === "agent" && target === "index.ts")).toBe(true);
  });

  it("everybody reads sessions through the entry of the readers", () => {
    const folder = join(SOURCE, "summary", "readers");
    const inside = files
      .filter((file) => dirname(file) !== folder)
      .flatMap((file) => {
        const found = [...readFileSync(file, "utf8").matchAll(/from\s+"(\.[^"]+)"/g)];
        return found.map(([, target = ""]) => resolve(dirname(file), target));
      });
    const reached = inside.filter((target) => dirname(target) === folder);
    expect([...new Set(reached)]).toEqual([join(folder, "readers.ts")]);
  });

  it("nothing imports a test or a support file into what is published", () => {
    const wrong = files.filter((file) => /(\.\.\/)+test\//.test(readFileSync(file, "utf8")));
    expect(wrong).toEqual([]);
  });
});
