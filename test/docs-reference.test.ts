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
const packages = readdirSync(join(ROOT, "packages"));
const sources = packages
  .flatMap((name) => {
    const folder = join(ROOT, "packages", name, "src");
    return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file));
  })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .map((path) => withoutComments(readFileSync(path, "utf8")))
  .join("\n");

const firstColumn = (page: string, heading: string): readonly string[] =>
  tableUnder(page, heading)
    .flatMap(([cell]) => codeIn(cell))
    .sort();
/** Returns the declared fields of a type. `file` is a package and a path in its `src`. */
const fields = (file: string, name: string): readonly string[] => {
  const [owner = "", ...path] = file.split("/");
  return declaredFields(read("packages", owner, "src", ...path), name);
};
const found = (pattern: RegExp): readonly string[] =>
  [...sources.matchAll(pattern)].map(([, name = ""]) => name);
const INSTRUCTIONS = fields("core/compaction/summary/summary-prompt.ts", "SummaryInstructions");
const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();

describe("declaredFields", () => {
  it("declaredFields finds exactly the fields of an interface", () => {
    const code =
      "export interface A extends B {\n  /** a: */\n  readonly a: C;\n  b?(c: D): { readonly e: F };\n  readonly g?: {\n    readonly h: I;\n  };\n}\n";
    expect(declaredFields(code, "A")).toEqual(["a", "b", "g"]);
  });
});

describe("the settings page", () => {
  it("the settings page has exactly one row for each key of the settings file", () => {
    const known = [
      ...fields("core/measure/window/settings.ts", "Settings"),
      ...fields("core/measure/window/thresholds.ts", "WindowOptions"),
    ];
    const others = found(/field\((?:file|\w+\.?settingsFile), "(\w+)"\)/g);
    expect(firstColumn(settings, "## The settings file")).toEqual(unique([...known, ...others]));
  });

  it("the settings page states the defaults", () => {
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

  it("the settings page has exactly one row for each environment variable that is read", () => {
    const names = [...found(/\benv(?:ironment)?\.([A-Z][A-Z_]+)/g), ...found(/variable: "([A-Z_]+)"/g)];
    expect(firstColumn(settings, "## Environment")).toEqual(unique(names));
  });

  it.each([
    ["## `createCompactor`", "core/engine/options.ts", "CompactorOptions"],
    ["### `window`", "core/engine/options.ts", "WindowSources"],
    ["### `cost`", "core/engine/options.ts", "CostOptions"],
    ["### `settings`", "core/measure/window/settings.ts", "SettingsSources"],
    ["### `session`", "core/engine/options.ts", "SessionOptions"],
    ["### `clearing`", "core/engine/options.ts", "ClearingOptions"],
    ["### `compaction`", "core/engine/options.ts", "CompactionOptions", INSTRUCTIONS],
    ["### `transcript`", "core/engine/options.ts", "TranscriptPort"],
    ["### `host`", "core/engine/options.ts", "HostCallbacks"],
    ["### `chat`", "longhaul/command-settings.ts", "ChatSettings"],
    ["### `compact`", "longhaul/command-settings.ts", "CompactSettings"],
    ["### `notes`", "longhaul/command-settings.ts", "NotesSettings"],
    ["## `openAgent`", "agent/agent-options.ts", "AgentOptions"],
    ["### `permissions`", "agent/permission.ts", "PermissionSettings"],
    ["### `agentTypes`", "agent/agent-options.ts", "AgentType"],
  ])(
    "the settings page has exactly one row for each option under %s",
    (heading, file, name, inherited: readonly string[] = []) => {
      expect(firstColumn(settings, heading)).toEqual(unique([...fields(file, name), ...inherited]));
    },
  );

  it("the settings page has exactly one row for each port that a host can implement", () => {
    const clock = fields("core/compaction/apply/new-entries.ts", "CompactionPorts");
    const ports = [...clock, ...fields("core/engine/options.ts", "EnginePorts")];
    expect(firstColumn(settings, "### `ports`")).toEqual(unique(ports));
  });

  it("the settings page names everything that a host can restore", () => {
    const row = tableUnder(settings, "## `createCompactor`").find(([option]) => option === "`state`");
    const named = codeIn(row?.at(-1)).filter((name) => /^\w+$/.test(name));
    expect(unique(named)).toEqual(fields("core/compaction/restore/host-state.ts", "HostState"));
  });

  it("the settings page names the options that an agent passes to its compactor", () => {
    const row = tableUnder(settings, "## `openAgent`").find(([option]) => option === "`compactor`");
    const code = read("packages", "agent", "src", "agent-options.ts");
    const [, picked = ""] =
      /interface CompactorChoices\s+extends Pick<CompactorOptions, ([^>]*)>/.exec(code) ?? [];
    const inherited = [...picked.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
    const leftOut = ["createCompactor", "evidence"];
    const named = codeIn(row?.at(-1)).filter((name) => /^\w+$/.test(name) && !leftOut.includes(name));
    expect(unique(named)).toEqual(
      unique([...inherited, ...fields("agent/agent-options.ts", "CompactorChoices")]),
    );
  });

  it("the settings page names every option of `before` and `compact`", () => {
    const calls = new Map(
      tableUnder(settings, "## Calls").map(([call = "", options = ""]) => [call, codeIn(options)]),
    );
    const named = (call: string): readonly string[] =>
      unique((calls.get(call) ?? []).filter((name) => /^\w+$/.test(name)));
    expect(named("`before(messages, …)`")).toEqual(fields("core/engine/options.ts", "BeforeOptions"));
    expect(named("`compact(messages, …)`")).toEqual(
      unique([...fields("core/engine/options.ts", "ManualOptions"), ...INSTRUCTIONS]),
    );
  });
});

describe("tables of options on other pages", () => {
  const memory = read("docs", "memory.md");
  it.each([
    ["## Session notes", "notes/notes-keeper.ts", "NotesOptions"],
    ["## Memory files", "core/modules/memory-files/memory-reader.ts", "MemoryFilesOptions"],
    ["## Context collapse", "core/modules/collapse/collapse.ts", "CollapseOptions"],
  ])("the memory page has exactly one row for each option under %s", (heading, file, name) => {
    expect(firstColumn(memory, heading)).toEqual(fields(file, name));
  });

  it("the most used options on the engine page exist", () => {
    const options = fields("core/engine/options.ts", "CompactorOptions");
    const named = firstColumn(read("docs", "engine.md"), "## Options");
    expect(named.filter((name) => !options.includes(name))).toEqual([]);
  });
});

describe("the agent events page", () => {
  const code = withoutComments(read("packages", "agent", "src", "agent-events.ts"));
  const union = code.slice(code.indexOf("export type AgentEvent"), code.indexOf("export interface"));
  /** Fields of each event besides `type`, including fields of an interface that the event extends. */
  const declared = union
    .split(/\n {2}\| /)
    .slice(1)
    .map((member) => {
      const [, added] = /& (\w+)\)/.exec(member) ?? [];
      const own = [...member.matchAll(/readonly (\w+)\??:/g)].map(([, name = ""]) => name);
      const names = [...own.filter((name) => name !== "type"), ...(added ? declaredFields(code, added) : [])];
      return [/type: "([a-z-]+)"/.exec(member)?.[1] ?? "", names.sort()] as const;
    });

  it("the agent events page has exactly one row for each event with its fields", () => {
    const page = read("docs", "reference", "agent-events.md");
    const rows = tableUnder(page, "# Events of an agent").map(
      ([type, , has]) => [codeIn(type)[0], [...codeIn(has)].sort()] as const,
    );
    expect(declared.length).toBeGreaterThan(10);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(declared));
  });
});

describe("the agent guide", () => {
  it("the agent guide has exactly one row for each slash command", () => {
    const guide = read("docs", "guides", "run-the-agent.md");
    const named = firstColumn(guide, "## In the terminal").map((command) => command.split(" ")[0]);
    expect(named.sort()).toEqual(unique(found(/^ {2}name: "(\/[a-z-]+)",$/gm)));
  });
});

describe("the table of package entries in the packages guide", () => {
  const rows = tableUnder(read("docs", "guides", "packages.md"), "## Entry points").map(
    ([entry, has]) => [codeIn(entry)[0] ?? "", codeIn(has)] as const,
  );
  /** Source files of all public entries. The key is the import name, the value is the file. */
  const entries = new Map<string, string>(
    packages.flatMap((folder) => {
      const { name, exports, private: isPrivate } = JSON.parse(read("packages", folder, "package.json"));
      return Object.entries<Readonly<Record<string, string>>>(isPrivate ? {} : exports).flatMap(
        ([entry, { "@longhaul/source": file }]) =>
          file === undefined || entry.startsWith("./internal")
            ? []
            : [[`${name}${entry.slice(1)}`, read("packages", folder, file)] as const],
      );
    }),
  );

  it("the packages guide has exactly one row for each public entry of every package", () => {
    expect(rows.map(([entry]) => entry).sort()).toEqual([...entries.keys()].sort());
  });

  it.each(rows)("the packages guide names only existing exports of %s", (entry, named) => {
    const exported = new Set(entries.get(entry)?.match(/\w+/g));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((one) => !exported.has(one))).toEqual([]);
  });
});
