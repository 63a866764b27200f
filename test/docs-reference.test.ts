import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { computeThresholds } from "@longhaul/core/measure";
import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../packages/core/src/measure/window/settings.ts";
import { codeIn, tableUnder } from "./support/markdown.ts";
import { declaredFields, withoutComments } from "./support/source-types.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (...path: readonly string[]): string => readFileSync(join(ROOT, ...path), "utf8");
const settings = read("docs", "reference", "settings.md");
const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.startsWith("demo"))
  .map((name) => withoutComments(read("src", name)))
  .join("\n");

const firstColumn = (page: string, heading: string): readonly string[] =>
  tableUnder(page, heading)
    .flatMap(([cell]) => codeIn(cell))
    .sort();
const fields = (file: string, name: string): readonly string[] =>
  declaredFields(read("src", ...file.split("/")), name);
const found = (pattern: RegExp): readonly string[] =>
  [...sources.matchAll(pattern)].map(([, name = ""]) => name);
const WISHES = fields("summary/summary-prompt.ts", "SummaryWishes");
const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();

describe("the reader of declarations", () => {
  it("finds the fields of an interface, and no others", () => {
    const code =
      "export interface A extends B {\n  /** a: */\n  readonly a: C;\n  b?(c: D): { readonly e: F };\n  readonly g?: {\n    readonly h: I;\n  };\n}\n";
    expect(declaredFields(code, "A")).toEqual(["a", "b", "g"]);
  });
});

describe("the page of settings and options", () => {
  it("has a row for every key of the settings file, and no other", () => {
    const known = [
      ...fields("window/settings.ts", "Settings"),
      ...fields("window/thresholds.ts", "WindowOptions"),
    ];
    const others = found(/field\((?:file|\w+\.?settingsFile), "(\w+)"\)/g);
    expect(firstColumn(settings, "## The settings file")).toEqual(unique([...known, ...others]));
  });

  it("says what holds when nobody sets anything", () => {
    const defaults = tableUnder(settings, "## The settings file").flatMap(([key, value]) =>
      /`(?:true|false)`/.test(value ?? "") && key !== "`disableAllHooks`"
        ? [[codeIn(key)[0], codeIn(value)[0] === "true"]]
        : [],
    );
    expect(Object.fromEntries(defaults)).toEqual(DEFAULT_SETTINGS);
    const thresholds = computeThresholds({ windowTokens: 200_000, maxOutputTokens: 32_000 });
    for (const name of ["effective", "autoCompact", "warning", "blocking"] as const) {
      expect(settings).toContain(thresholds[name].toLocaleString("en-US"));
    }
  });

  it("has a row for every variable of the environment that is read, and no other", () => {
    const names = [...found(/\benv(?:ironment)?\.([A-Z][A-Z_]+)/g), ...found(/variable: "([A-Z_]+)"/g)];
    expect(firstColumn(settings, "## Environment")).toEqual(unique(names));
  });

  it.each([
    ["## `createCompactor`", "turn/options.ts", "CompactorOptions"],
    ["### `window`", "turn/options.ts", "WindowSources"],
    ["### `cost`", "turn/options.ts", "CostOptions"],
    ["### `settings`", "window/settings.ts", "SettingsSources"],
    ["### `session`", "turn/options.ts", "SessionOptions"],
    ["### `clearing`", "turn/options.ts", "ClearingOptions"],
    ["### `compaction`", "turn/options.ts", "CompactionOptions", WISHES],
    ["### `transcript`", "turn/options.ts", "TranscriptPort"],
    ["### `host`", "turn/options.ts", "HostCallbacks"],
    ["### `chat`", "cli/command-settings.ts", "ChatSettings"],
    ["### `compact`", "cli/command-settings.ts", "CompactSettings"],
    ["### `notes`", "cli/command-settings.ts", "NotesSettings"],
    ["## `openAgent`", "agent/agent-options.ts", "AgentOptions"],
    ["### `permissions`", "agent/permission.ts", "PermissionSettings"],
    ["### `agentTypes`", "agent/agent-options.ts", "AgentType"],
  ])(
    "%s has a row for every option, and no other",
    (heading, file, name, inherited: readonly string[] = []) => {
      expect(firstColumn(settings, heading)).toEqual(unique([...fields(file, name), ...inherited]));
    },
  );

  it("has a row for every port, and no other", () => {
    const clock = fields("compaction/apply/new-entries.ts", "CompactionPorts");
    const ports = [...clock, ...fields("turn/options.ts", "EnginePorts")];
    expect(firstColumn(settings, "### `ports`")).toEqual(unique(ports));
  });

  it("names what a host can put back", () => {
    const row = tableUnder(settings, "## `createCompactor`").find(([option]) => option === "`state`");
    const named = codeIn(row?.at(-1)).filter((name) => /^\w+$/.test(name));
    expect(unique(named)).toEqual(fields("restore/host-state.ts", "HostState"));
  });

  it("names what an agent hands on to its compactor", () => {
    const row = tableUnder(settings, "## `openAgent`").find(([option]) => option === "`compactor`");
    const code = read("src", "agent", "agent-options.ts");
    const [, picked = ""] =
      /interface CompactorChoices\s+extends Pick<CompactorOptions, ([^>]*)>/.exec(code) ?? [];
    const handed = [...picked.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
    const leftOut = ["createCompactor", "evidence"];
    const named = codeIn(row?.at(-1)).filter((name) => /^\w+$/.test(name) && !leftOut.includes(name));
    expect(unique(named)).toEqual(
      unique([...handed, ...fields("agent/agent-options.ts", "CompactorChoices")]),
    );
  });

  it("names every option of a call", () => {
    const calls = new Map(
      tableUnder(settings, "## Calls").map(([call = "", options = ""]) => [call, codeIn(options)]),
    );
    const named = (call: string): readonly string[] =>
      unique((calls.get(call) ?? []).filter((name) => /^\w+$/.test(name)));
    expect(named("`before(messages, …)`")).toEqual(fields("turn/options.ts", "BeforeOptions"));
    expect(named("`compact(messages, …)`")).toEqual(
      unique([...fields("turn/options.ts", "ManualOptions"), ...WISHES]),
    );
  });
});

describe("the tables of options on other pages", () => {
  const memory = read("docs", "memory.md");
  it.each([
    ["## Session notes", "modules/notes/notes-keeper.ts", "NotesOptions"],
    ["## Memory files", "modules/memory-files/memory-reader.ts", "MemoryFilesOptions"],
    ["## Context collapse", "modules/collapse/collapse.ts", "CollapseOptions"],
  ])("%s has a row for every option, and no other", (heading, file, name) => {
    expect(firstColumn(memory, heading)).toEqual(fields(file, name));
  });

  it("the most used options of the engine's page are options", () => {
    const options = fields("turn/options.ts", "CompactorOptions");
    const named = firstColumn(read("docs", "engine.md"), "## Options");
    expect(named.filter((name) => !options.includes(name))).toEqual([]);
  });
});

describe("the page of an agent's events", () => {
  const code = withoutComments(read("src", "agent", "agent-events.ts"));
  const union = code.slice(code.indexOf("export type AgentEvent"), code.indexOf("export interface"));
  /** What stands beside `type`, and what an interface adds to it. */
  const declared = union
    .split(/\n {2}\| /)
    .slice(1)
    .map((member) => {
      const [, added] = /& (\w+)\)/.exec(member) ?? [];
      const own = [...member.matchAll(/readonly (\w+)\??:/g)].map(([, name = ""]) => name);
      const names = [...own.filter((name) => name !== "type"), ...(added ? declaredFields(code, added) : [])];
      return [/type: "([a-z-]+)"/.exec(member)?.[1] ?? "", names.sort()] as const;
    });

  it("has a row for every event with its fields, and no other", () => {
    const page = read("docs", "reference", "agent-events.md");
    const rows = tableUnder(page, "# Events of an agent").map(
      ([type, , has]) => [codeIn(type)[0], [...codeIn(has)].sort()] as const,
    );
    expect(declared.length).toBeGreaterThan(10);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(declared));
  });
});

describe("the guide to the agent", () => {
  it("has a row for every command of a chat, and no other", () => {
    const guide = read("docs", "guides", "run-the-agent.md");
    const named = firstColumn(guide, "## In the terminal").map((command) => command.split(" ")[0]);
    expect(named.sort()).toEqual(unique(found(/^ {2}name: "(\/[a-z-]+)",$/gm)));
  });
});

describe("the README's table of entries", () => {
  const rows = tableUnder(read("README.md"), "## The library").map(([entry, has]) => [
    codeIn(entry)[0],
    codeIn(has),
  ]);
  const { exports } = JSON.parse(read("package.json"));

  it.each(rows)("names only what %s exports", (entry, named) => {
    const { types } = exports[String(entry).replace(/^longhaul/, ".")];
    const file = types.replace("./dist/", "").replace(".d.ts", ".ts");
    const exported = new Set(read("src", ...file.split("/")).match(/\w+/g));
    expect(named?.length).toBeGreaterThan(0);
    expect([...(named ?? [])].filter((one) => !exported.has(one))).toEqual([]);
  });
});

describe("the page of errors", () => {
  const page = read("docs", "reference", "errors.md");
  const declared = unique(
    [...read("src", "errors.ts").matchAll(/\| "([a-z-]+)"/g)].map(([, code = ""]) => code),
  );
  const rows = tableUnder(page, "## Codes");

  it("has a row for every code, and no other", () => {
    expect(rows.flatMap(([code]) => codeIn(code)).sort()).toEqual(declared);
  });

  it("says of each what it means and what to do", () => {
    expect(rows.filter(([, meaning = "", remedy = ""]) => meaning.length < 10 || remedy.length < 5)).toEqual(
      [],
    );
  });
});
