import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesBehind, importsIn, type Manifest, readPackages } from "../support/packages.ts";
import { link, npm, type PackedProject, packPackages } from "../support/packed-packages.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const CLI = "longhaul";
const MAX_FILES_OF_CORE = 200;

const published = readPackages().filter(({ manifest }) => !manifest.private);
const names = published.map(({ manifest }) => manifest.name);
const libraries = names.filter((name) => name !== CLI);

/** One essential function of each package. */
const MAIN_FUNCTIONS: Readonly<Record<string, string>> = {
  "@longhaul/agent": "openAgent",
  "@longhaul/ai-sdk": "aiSdkModel",
  "@longhaul/anthropic": "anthropicModel",
  "@longhaul/core": "createCompactor",
  "@longhaul/notes": "sessionNotes",
  "@longhaul/openai": "checkChatRequest",
  "@longhaul/otel": "openTelemetry",
  "@longhaul/sessions": "loadSession",
  "@longhaul/simulator": "startSimulator",
};

let project: PackedProject;
beforeAll(() => {
  project = packPackages();
});
afterAll(() => project.remove());

const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(project.packageNamed(name).installed, "package.json"), "utf8")) as Manifest;

describe.each(names)("the packed package %s", (name) => {
  it("a packed package has exactly the expected files and folders at its top level", () => {
    const { installed } = project.packageNamed(name);
    expect(
      readdirSync(installed)
        .filter((item) => item !== "node_modules")
        .sort(),
    ).toEqual(
      [
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "dist",
        "package.json",
        ...(name === CLI ? ["bin", "docs"] : []),
      ].sort(),
    );
  });

  it("a packed package contains no tests, sources, reports or hidden files", () => {
    const paths = project.packageNamed(name).files.map(({ path }) => path);
    expect(
      paths.filter((path) => /\.test\.|(^|\/)(test|bench|scripts|examples|src|api)\//.test(path)),
    ).toEqual([]);
    expect(paths.filter((path) => /\.ts$/.test(path) && !/\.d\.ts$/.test(path))).toEqual([]);
    expect(paths.filter((path) => /(^|\/)\./.test(path))).toEqual([]);
    expect(paths.filter((path) => path.startsWith("bin/"))).toEqual(name === CLI ? ["bin/longhaul.js"] : []);
  });

  it("a packed package contains every file that its manifest names", () => {
    const { installed } = project.packageNamed(name);
    const targets = Object.values(manifestOf(name).exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : [entry.types, entry.default],
    );
    const missing = targets.filter((path) => path !== undefined && !existsSync(join(installed, path)));
    expect(missing).toEqual([]);
  });

  it("a packed package imports only its dependencies, and only published entries of our packages", () => {
    const { installed, files } = project.packageNamed(name);
    const { dependencies, peerDependencies } = manifestOf(name);
    const allowed = Object.keys({ ...dependencies, ...peerDependencies });
    const entries = published.flatMap((each) => each.entries).filter((entry) => entry.isPublished);
    const code = files.filter(({ path }) => /\.(?:js|d\.ts)$/.test(path));
    const wrong = code.flatMap(({ path }) =>
      importsIn(join(installed, path))
        .filter((each) => /^[@\w]/.test(each) && !each.startsWith("node:"))
        .filter((each) => {
          const isAllowed = allowed.some((one) => each === one || each.startsWith(`${one}/`));
          const isOurs = each.startsWith("@longhaul/");
          return !isAllowed || (isOurs && !entries.some(({ specifier }) => specifier === each));
        })
        .map((each) => [path, each]),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the packed libraries", () => {
  it("each packed library exports its most important function", () => {
    expect(Object.keys(MAIN_FUNCTIONS).sort()).toEqual([...libraries].sort());
    const output = project.run(
      Object.entries(MAIN_FUNCTIONS)
        .map(([name, main]) => `import { ${main} } from "${name}"; console.log(typeof ${main});`)
        .join("\n"),
    );
    expect(output).toBe("function\n".repeat(libraries.length));
  });

  it("each published entry exports exactly the names that its source exports", () => {
    const entries = published.flatMap((each) => each.entries).filter((entry) => entry.isPublished);
    const output = project.run(`
      const specifiers = ${JSON.stringify(entries.map(({ specifier }) => specifier))};
      const found = {};
      for (const each of specifiers) found[each] = Object.keys(await import(each)).sort();
      console.log(JSON.stringify(found));
    `);
    const expected = entries.map((entry) => {
      const values = entry.names.filter(({ isType }) => !isType).map(({ name }) => name);
      return [entry.specifier, values.sort()];
    });
    expect(JSON.parse(output)).toEqual(Object.fromEntries(expected));
  });

  it("a program can import and call functions of the packed libraries", () => {
    const output = project.run(`
      import { checkRequest, estimateTokens } from "@longhaul/core";
      import { contextTokens } from "@longhaul/core/measure";
      import { loadSession } from "@longhaul/sessions";
      const offered = [checkRequest, contextTokens, estimateTokens, loadSession];
      console.log(offered.map((f) => typeof f).join(" "));
      console.log(estimateTokens("hello world"), contextTokens([]), checkRequest({ messages: [] }).valid);
    `);
    expect(output).toBe("function function function function\n2 0 false\n");
  });

  it("the packed libraries need no SDK until a model is called, and then say which SDK to install", () => {
    const output = project.run(`
      import { aiSdkModel } from "@longhaul/ai-sdk";
      import { anthropicModel } from "@longhaul/anthropic";
      import { complete } from "@longhaul/core";
      const models = [anthropicModel({ model: "claude-sonnet-5-5" }), aiSdkModel({ model: "openai/gpt-5" })];
      for (const model of models) {
        const request = { messages: [{ role: "user", content: "hello" }] };
        await complete(model, request).catch(({ code, remedy }) => console.log(code, "|", remedy));
      }
    `);
    expect(output.split("\n")).toEqual([
      expect.stringMatching(/^model-sdk-missing \| .*npm install @anthropic-ai\/sdk/),
      expect.stringMatching(/^model-sdk-missing \| .*npm install ai/),
      "",
    ]);
  });

  it("programs cannot import unexported files of the packed libraries", () => {
    const hidden = [
      CLI,
      `${CLI}/dist/main.js`,
      ...libraries.flatMap((name) => [`${name}/dist/index.js`, `${name}/src/index.ts`]),
      ...published
        .flatMap((each) => each.entries)
        .flatMap((entry) => (entry.isPublished ? [] : entry.specifier)),
    ];
    expect(hidden).toContain("@longhaul/sessions/internal");
    const output = project.run(`
      const hidden = ${JSON.stringify(hidden)};
      for (const each of hidden) {
        const code = await import(each).then(() => "imported", (error) => error.code);
        if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") console.log(each, code);
      }
    `);
    expect(output).toBe("");
    expect(() => project.run(`import "@longhaul/core/dist/index.js";`)).toThrow();
  });

  it("a strict compiler accepts the types of all packed libraries without `skipLibCheck`", () => {
    const entries = published.flatMap((each) => each.entries).filter((entry) => entry.isPublished);
    const of = (isCore: boolean) =>
      entries.filter(({ specifier }) => /^@longhaul\/core\b/.test(specifier) === isCore);
    link("@types/node", join(project.folder, "node_modules"));
    // Core must compile with a browser's types alone.
    expect(typeErrors("core", of(true), ["es2023", "dom"], [])).toEqual([]);
    expect(typeErrors("others", of(false), ["es2023"], ["node"])).toEqual([]);
  });
});

/** Returns the compiler errors in a program that imports every name of these entries. */
function typeErrors(
  folder: string,
  entries: (typeof published)[number]["entries"],
  lib: readonly string[],
  types: readonly string[],
): readonly string[] {
  const program = join(project.folder, folder);
  mkdirSync(program);
  const imports = entries.flatMap(({ specifier, names: all }, index) => {
    const list = all.map(({ name, isType }) => `${isType ? "type " : ""}${name} as ${name}${index}`);
    return [
      `import { ${list.join(", ")} } from "${specifier}";`,
      `export { ${all.map(({ name, isType }) => `${isType ? "type " : ""}${name}${index}`).join(", ")} };`,
    ];
  });
  writeFileSync(join(program, "program.mts"), `${imports.join("\n")}\n`);
  const compilerOptions = {
    target: "es2023",
    module: "nodenext",
    moduleResolution: "nodenext",
    lib,
    types,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(join(program, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.mts"] }));
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", program, "--pretty", "false"], {
    cwd: project.folder,
    encoding: "utf8",
  });
  const errors = stdout.split("\n").filter((line) => line.includes("error TS"));
  if (status !== 0 && errors.length === 0) throw new Error(`The compiler failed: ${stdout}`);
  return errors;
}

describe("the packed @longhaul/core", () => {
  it("the packed core has no dependencies of any type", () => {
    const { dependencies, peerDependencies, optionalDependencies } = manifestOf("@longhaul/core");
    expect({ dependencies, peerDependencies, optionalDependencies }).toEqual({});
  });

  it("npm installs nothing else when the packed core is installed in an empty project", () => {
    const folder = join(project.folder, "empty");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "empty", private: true }));
    const { tarball } = project.packageNamed("@longhaul/core");
    npm(["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball], folder);
    const { dependencies } = JSON.parse(npm(["ls", "--all", "--json"], folder));
    expect(Object.keys(dependencies)).toEqual(["@longhaul/core"]);
    expect(dependencies["@longhaul/core"].dependencies).toBeUndefined();
    const modules = join(folder, "node_modules");
    expect(readdirSync(modules).filter((item) => !item.startsWith("."))).toEqual(["@longhaul"]);
    expect(readdirSync(join(modules, "@longhaul"))).toEqual(["core"]);
  });

  it(`the packed core has at most ${MAX_FILES_OF_CORE} files`, () => {
    const { installed } = project.packageNamed("@longhaul/core");
    const items = readdirSync(installed, { recursive: true, withFileTypes: true });
    expect(items.filter((item) => item.isFile()).length).toBeLessThanOrEqual(MAX_FILES_OF_CORE);
  });

  it("the types of the packed core are at most one file per entry and one shared file", () => {
    const { files, entries } = project.packageNamed("@longhaul/core");
    const types = files.filter(({ path }) => path.endsWith(".d.ts"));
    expect(types.length).toBeLessThanOrEqual(entries.length + 1);
  });

  it("no entry of the packed core loads a module of Node", () => {
    const { installed, entries } = project.packageNamed("@longhaul/core");
    const seen = new Set<string>();
    for (const { path } of entries) {
      const entry = manifestOf("@longhaul/core").exports[path];
      if (entry === undefined || typeof entry === "string" || entry.default === undefined)
        throw new Error(path);
      for (const file of filesBehind(join(installed, entry.default))) seen.add(file);
    }
    const imported = [...seen].flatMap((file) => importsIn(file).map((name) => [file, name] as const));
    expect(imported.filter(([, name]) => !name.startsWith("."))).toEqual([]);
    expect(seen.size).toBeGreaterThanOrEqual(entries.length);
    const code = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter((each) =>
      each.endsWith(".js"),
    );
    expect(code.filter((each) => !seen.has(join(installed, each)))).toEqual([]);
  });
});

describe("the packed @longhaul/simulator", () => {
  it("the packed simulator estimates tokens when no tokenizer is installed", () => {
    const output = project.run(`
      import { startSimulator } from "@longhaul/simulator";
      const simulator = await startSimulator();
      simulator.reply("Here I am.");
      const answer = await fetch(simulator.url + "/v1/messages", {
        method: "POST",
        headers: { "x-api-key": "any", "anthropic-version": "2026-10-21", "content-type": "application/json" },
        body: JSON.stringify({ model: "claude-opus-5", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }),
      });
      console.log(simulator.counter.source, (await answer.json()).content[0].text);
      await simulator.close();
    `);
    expect(output).toBe("estimate Here I am.\n");
  });

  it("the packed simulator contains its own copy of core, and its scripted model works with core's compactor", () => {
    const { dependencies } = manifestOf("@longhaul/simulator");
    expect(Object.keys(dependencies ?? {}).filter((name) => name.startsWith("@longhaul/"))).toEqual([]);
    const output = project.run(`
      import { createCompactor } from "@longhaul/core";
      import { scriptedModel } from "@longhaul/simulator";
      const model = scriptedModel(["<summary>1. Primary Request and Intent:\\n   Count the crates.\\n</summary>"]);
      const onEvent = (event) => event.type === "compacted" && console.log(event.attempts.at(-1).model);
      const compactor = createCompactor({ model, window: { tokens: 100_000 }, host: { onEvent } });
      const messages = Array.from({ length: 41 }, (_, index) => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content: "Message " + index + ": " + "all quiet in the harbour ".repeat(100),
      }));
      const turn = await compactor.compact(messages);
      console.log(model.requests.length, turn.messages.length < messages.length);
      console.log(JSON.stringify(turn.messages).includes("Count the crates."));
    `);
    expect(output).toBe("scripted\n1 true\ntrue\n");
  });

  it("core and the packed simulator recognize each other's model errors", () => {
    const output = project.run(`
      import { complete, failureOf, LonghaulError, ModelError } from "@longhaul/core";
      import { scriptedModel } from "@longhaul/simulator";
      const request = { messages: [{ role: "user", content: "hello" }] };
      const own = await complete(scriptedModel([]), request).catch((error) => error);
      console.log(own.constructor === ModelError, own instanceof ModelError, own instanceof LonghaulError);
      console.log(failureOf(own) === own, failureOf(new Error("outer", { cause: own })) === own);
      const given = new ModelError({ kind: "other", retry: false }, "given");
      console.log((await complete(scriptedModel([given]), request).catch((error) => error)) === given);
      console.log(new Error("other") instanceof ModelError);
    `);
    expect(output).toBe("false true true\ntrue true\ntrue\nfalse\n");
  });
});

describe("the packed command line longhaul", () => {
  const program = (): string => join(project.packageNamed(CLI).installed, "bin", "longhaul.js");

  it("the packed command line prints its version", () => {
    expect(execFileSync(process.execPath, [program(), "--version"], { encoding: "utf8" })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
  });

  it("the packed command line contains the demo session", () => {
    const home = project.folder;
    const env = { ...process.env, HOME: home, USERPROFILE: home, TMPDIR: home, TEMP: home };
    const output = execFileSync(process.execPath, [program(), "demo"], { encoding: "utf8", env });
    expect(output).toContain("Compact the session.");
    expect(output).toContain("What to try next");
  });

  it("the packed command line works without our other packages", () => {
    const { dependencies, peerDependencies } = manifestOf(CLI);
    const needed = Object.keys({ ...dependencies, ...peerDependencies });
    expect(needed.filter((name) => name.startsWith("@longhaul/"))).toEqual([]);
  });
});
