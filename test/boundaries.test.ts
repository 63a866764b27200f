import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import { describe, expect, it } from "vitest";
import { cyclesIn, laterRequestsIn, readGraph } from "../scripts/house/graph.ts";

const ROOT = join(import.meta.dirname, "..");
const PACKAGES = join(ROOT, "packages");
const SOURCE = "@longhaul/source";

/**
 * Allowed imports between packages. The key is a package, the value lists the packages that it may import.
 * The test enforces the table of docs/design/0001-architecture.md.
 */
const MAY_KNOW_PACKAGE: Readonly<Record<string, readonly string[]>> = {
  core: [],
  anthropic: ["core"],
  "ai-sdk": ["core"],
  openai: [],
  otel: ["core"],
  notes: ["core"],
  sessions: ["core", "notes"],
  agent: ["core", "notes", "sessions"],
  simulator: ["core", "notes", "openai"],
  lab: ["anthropic", "core", "sessions", "simulator"],
  longhaul: ["agent", "ai-sdk", "anthropic", "core", "lab", "notes", "sessions", "simulator"],
};

const BELOW_ENGINE: readonly string[] = [
  "messages",
  "request",
  "measure/tokens",
  "measure/window",
  "measure/cost",
  "models",
  "hooks",
  "compaction/clear",
  "compaction/restore",
  "compaction/summary",
  "compaction",
];

/**
 * Allowed imports within a package. The outer key is the package, the inner key is a folder, and the value
 * lists the folders that it may import. All folders may also import files outside of the listed folders.
 */
const MAY_KNOW_FOLDER: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  core: {
    messages: [],
    request: ["messages"],
    "measure/tokens": ["messages", "request"],
    "measure/window": ["messages", "request"],
    "measure/cost": ["messages", "measure/tokens", "measure/window"],
    models: ["messages", "request", "measure/tokens", "measure/window"],
    hooks: ["messages", "models"],
    "compaction/clear": ["messages", "measure/tokens", "models"],
    "compaction/restore": ["messages", "request", "measure/tokens"],
    "compaction/summary": ["messages", "request", "measure/tokens", "models"],
    compaction: [
      "messages",
      "request",
      "measure/tokens",
      "models",
      "hooks",
      "compaction/restore",
      "compaction/summary",
    ],
    engine: BELOW_ENGINE,
    modules: [...BELOW_ENGINE, "engine"],
    internal: [...BELOW_ENGINE, "engine", "modules"],
  },
  anthropic: {},
  "ai-sdk": {},
  openai: { shapes: [], checks: ["shapes"] },
  otel: {},
  notes: { "built-in": [], internal: ["built-in"] },
  sessions: {
    transcript: [],
    machine: ["transcript"],
    recall: ["transcript"],
    operations: ["machine", "recall", "transcript"],
  },
  agent: {
    agents: [],
    loop: [],
    permissions: [],
    workplace: [],
    tools: ["agents", "permissions", "workplace"],
  },
  simulator: {
    demo: [],
    contract: [],
    server: ["demo"],
    shape: [],
    prompt: [],
    reply: ["prompt"],
    "anthropic/wording": [],
    "anthropic/rules": ["anthropic/wording", "shape"],
    "anthropic/context": ["anthropic/prompt", "anthropic/wording", "prompt"],
    "anthropic/prompt": ["anthropic/context", "prompt"],
    "anthropic/answer": [
      "anthropic/context",
      "anthropic/prompt",
      "anthropic/rules",
      "anthropic/wording",
      "demo",
      "prompt",
      "reply",
      "server",
    ],
    "openai/wording": [],
    "openai/rules": ["openai/wording", "shape"],
    "openai/prompt": ["openai/wording", "prompt"],
    "openai/answer": ["demo", "openai/prompt", "openai/rules", "openai/wording", "prompt", "reply", "server"],
    "openai/chat": ["openai/answer", "openai/prompt", "openai/wording", "prompt", "reply", "server"],
    "openai/responses": [
      "openai/answer",
      "openai/chat",
      "openai/prompt",
      "openai/wording",
      "prompt",
      "reply",
      "server",
    ],
    journal: ["behaviors", "server"],
    recording: ["server"],
    behaviors: ["demo", "server"],
  },
  lab: { probes: [], replay: ["probes"] },
  longhaul: { view: [], chat: ["commands", "view"], commands: ["chat", "view"] },
};

/** Only these packages may import modules of Node. All others run in any JavaScript runtime. */
const MAY_IMPORT_NODE = ["sessions", "agent", "simulator", "lab", "longhaul"];

/**
 * Programs bundle our packages, so a program also declares the dependencies of the bundled packages. See
 * scripts/build.mjs.
 */
const PROGRAMS = ["simulator", "longhaul"];

interface Manifest {
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>> | string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Import {
  /** Path under `packages`. */
  readonly file: string;
  /** The import specifier as it is written in the file. */
  readonly request: string;
}

const graph = readGraph(ROOT);
const files = [...graph.keys()];
const packageOf = (file: string): string => file.split("/")[0] ?? "";
const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(PACKAGES, name, "package.json"), "utf8"));

/**
 * Returns the folder of a file: the longest matching row of the table. Empty for a file outside of all
 * folders.
 */
function folderOf(file: string): string {
  const [name = "", , ...path] = file.split("/");
  const rows = Object.keys(MAY_KNOW_FOLDER[name] ?? {}).sort((one, other) => other.length - one.length);
  return rows.find((row) => path.join("/").startsWith(`${row}/`)) ?? "";
}

/** Imports of other packages, including dynamic ones. */
const imports: readonly Import[] = files.flatMap((file) => {
  const { module, program } = parseSync(file, graph.get(file)?.text ?? "");
  const later = [
    ...JSON.stringify(program).matchAll(
      /"type":"ImportExpression".*?"source":\{"type":"Literal".*?"value":"([^"]+)"/g,
    ),
  ];
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
    ),
    ...later.map(([, request = ""]) => request),
    ...optionalPackages(graph.get(file)?.text ?? ""),
  ]
    .filter((request) => !request.startsWith("."))
    .map((request) => ({ file, request }));
});

/** Returns the files of its own package that a file imports dynamically. */
const laterImports = (file: string): readonly string[] =>
  laterRequestsIn(file, graph.get(file)?.text ?? "")
    .filter((request) => request.startsWith("."))
    .map((request) => join(dirname(file), request).replaceAll("\\", "/"));

/**
 * Returns the packages that a file imports with `importOptional`. Its specifier is a constant of the file,
 * because a bundler would resolve a literal one.
 */
function optionalPackages(text: string): readonly string[] {
  const names = [...text.matchAll(/\bimportOptional\((\w+)\)/g)].map(([, name = ""]) => name);
  return names.map((name) => new RegExp(`const ${name} = "([^"]+)"`).exec(text)?.[1] ?? `(${name})`);
}

const packageName = (request: string): string =>
  request
    .split("/")
    .slice(0, request.startsWith("@") ? 2 : 1)
    .join("/");

const isOurs = (name: string): boolean => name.startsWith("@longhaul/");
const isNode = (request: string): boolean => request.startsWith("node:");

describe("import directions", () => {
  it("the tables of allowed imports list every package and every folder", () => {
    const names = readdirSync(PACKAGES).sort();
    expect(Object.keys(MAY_KNOW_PACKAGE).sort()).toEqual(names);
    for (const name of names) {
      const folders = new Set(
        files
          .filter((file) => packageOf(file) === name && file.split("/").length > 3)
          .map((file) => file.split("/")[2]),
      );
      const rows = new Set(Object.keys(MAY_KNOW_FOLDER[name] ?? {}).map((row) => row.split("/")[0]));
      expect({ name, folders: [...folders].sort() }).toEqual({ name, folders: [...rows].sort() });
    }
  });

  it("the imports between files have no cycle, type imports included", () => {
    expect(cyclesIn(graph)).toEqual([]);
  });

  it("a package imports only the packages that the table allows", () => {
    const wrong = imports.filter(
      ({ file, request }) =>
        isOurs(request) &&
        !MAY_KNOW_PACKAGE[packageOf(file)]?.includes(packageName(request).replace("@longhaul/", "")),
    );
    expect(wrong).toEqual([]);
  });

  it("a folder imports only the folders that the table allows", () => {
    const wrong = files.flatMap((file) =>
      [...(graph.get(file)?.imports ?? []), ...laterImports(file)]
        .filter((target) => packageOf(target) === packageOf(file))
        .filter((target) => {
          const [folder, other] = [folderOf(file), folderOf(target)];
          const known = MAY_KNOW_FOLDER[packageOf(file)]?.[folder];
          return known !== undefined && other !== "" && other !== folder && !known.includes(other);
        })
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("the rules of the simulator for OpenAI share no code with the checker, because each tests the other", () => {
    const checkers = imports.filter(
      ({ file, request }) => packageOf(file) === "simulator" && packageName(request) === "@longhaul/openai",
    );
    expect(checkers.map(({ file }) => file)).toEqual(["simulator/src/openai/openai-api.ts"]);
  });

  it("packages import each other only through entries, and no file imports the entry of its own package", () => {
    const entries = new Map(
      Object.keys(MAY_KNOW_PACKAGE).flatMap((name) =>
        Object.values(manifestOf(name).exports).flatMap((entry) =>
          typeof entry === "string" ? [] : [[join(name, entry[SOURCE] ?? ""), name] as const],
        ),
      ),
    );
    const outside = files.flatMap((file) =>
      [...(graph.get(file)?.imports ?? [])]
        .filter((target) => packageOf(target) !== packageOf(file) && !entries.has(target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(outside).toEqual([]);
    const within = files.flatMap((file) =>
      [...(graph.get(file)?.imports ?? [])]
        .filter((target) => entries.get(target) === packageOf(file))
        .map((target) => `${file} imports ${target}`),
    );
    expect(within).toEqual([]);
  });

  it("the engine imports no optional module, and no optional module imports another", () => {
    const modules = files.filter((file) => file.startsWith("core/src/modules/"));
    const moduleOf = (file: string): string | undefined =>
      modules.includes(file) ? file.split("/")[3] : undefined;
    const wrong = files
      .filter((file) => folderOf(file) !== "" && folderOf(file) !== "internal" && packageOf(file) === "core")
      .flatMap((file) =>
        [...(graph.get(file)?.imports ?? [])]
          .filter((target) => moduleOf(target) !== undefined && moduleOf(target) !== moduleOf(file))
          .map((target) => `${file} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it("the core and its adapters import nothing from Node", () => {
    const wrong = imports.filter(
      ({ file, request }) => isNode(request) && !MAY_IMPORT_NODE.includes(packageOf(file)),
    );
    expect(wrong).toEqual([]);
  });

  it("the core imports no package", () => {
    expect(imports.filter(({ file }) => packageOf(file) === "core")).toEqual([]);
    const { dependencies, peerDependencies } = manifestOf("core");
    expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
  });

  it.each(Object.keys(MAY_KNOW_PACKAGE))("%s declares exactly the packages that it imports", (name) => {
    const isProgram = PROGRAMS.includes(name);
    const carried = isProgram ? [name, ...(MAY_KNOW_PACKAGE[name] ?? [])] : [name];
    const used = imports
      .filter(({ file, request }) => carried.includes(packageOf(file)) && !isNode(request))
      .map(({ request }) => packageName(request))
      .filter((each) => !(isProgram && isOurs(each)));
    const { dependencies, devDependencies, peerDependencies } = manifestOf(name);
    const declared = Object.keys({ ...dependencies, ...peerDependencies });
    expect([...new Set(used)].sort()).toEqual(declared.sort());
    const inside = isProgram ? (MAY_KNOW_PACKAGE[name] ?? []).map((each) => `@longhaul/${each}`) : [];
    expect(Object.keys(devDependencies ?? {}).sort()).toEqual([...inside].sort());
  });

  it("the package agent imports only public entries of our packages", () => {
    const own = imports.filter(({ file, request }) => packageOf(file) === "agent" && isOurs(request));
    expect(own.filter(({ request }) => request.includes("/internal"))).toEqual([]);
    expect(own.some(({ request }) => request === "@longhaul/core")).toBe(true);
  });

  it("the files that read parts of a session for a summary are imported only through readers.ts", () => {
    const folder = "core/src/compaction/summary/readers";
    const reached = files
      .filter((file) => dirname(file) !== folder)
      .flatMap((file) => [...(graph.get(file)?.imports ?? [])])
      .filter((target) => dirname(target) === folder);
    expect([...new Set(reached)]).toEqual([`${folder}/readers.ts`]);
  });

  it("no published file imports a test or a support file", () => {
    const wrong = files.filter((file) => /from "(?:\.\.\/)+test\//.test(graph.get(file)?.text ?? ""));
    expect(wrong).toEqual([]);
  });
});
