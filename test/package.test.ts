import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
let project: string;
let installed: string;

/** Installs what would be published, and its dependencies, into an empty project. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "longhaul-package-"));
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], {
      cwd: ROOT,
      encoding: "utf8",
    }),
  );
  execFileSync("tar", ["-xzf", join(project, packed.filename), "-C", project]);
  installed = join(project, "node_modules", "longhaul");
  mkdirSync(join(project, "node_modules"));
  cpSync(join(project, "package"), installed, { recursive: true });
  for (const name of ["commander", "lru-cache", "picocolors", "proper-lockfile"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(project, "node_modules", name));
  }
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const run = (code: string): string => {
  const path = join(project, "program.mjs");
  writeFileSync(path, code);
  return execFileSync(process.execPath, [path], { cwd: project, encoding: "utf8", stdio: "pipe" });
};

describe("the published package", () => {
  it("holds what it needs and nothing else", () => {
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
    expect(
      files.filter((name) => /\.test\.|(^|[\\/])(test|bench|scripts|examples|src)[\\/]/.test(name)),
    ).toEqual([]);
    expect(readdirSync(installed).sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "dist",
      "docs",
      "package.json",
    ]);
  });

  it("offers its entries", () => {
    const output = run(`
      import { checkRequest, contextTokens, estimateTokens } from "longhaul";
      import { loadSession } from "longhaul/node";
      import { evaluateSession } from "longhaul/evaluate";
      const offered = [checkRequest, contextTokens, estimateTokens, loadSession, evaluateSession];
      console.log(offered.map((f) => typeof f).join(" "));
      console.log(estimateTokens("hello world"), contextTokens([]), checkRequest({ messages: [] }).valid);
    `);
    expect(output).toBe("function function function function function\n2 0 false\n");
  });

  it("needs no SDK until one is used, and says then what to install", () => {
    const output = run(`
      import { aiSdkModel, anthropicModel, complete } from "longhaul";
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

  it("brings the simulator, which counts by estimate where no tokenizer is installed", () => {
    const output = run(`
      import { startSimulator } from "longhaul/testing";
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

  it("hides everything else", () => {
    expect(() => run(`import "longhaul/dist/tokens/measure.js";`)).toThrow();
  });

  it("loads no part of node with its main entry", () => {
    const output = run(`
      import { readFileSync } from "node:fs";
      const seen = new Set();
      const visit = (url) => {
        if (seen.has(url.href)) return [];
        seen.add(url.href);
        const code = readFileSync(url, "utf8");
        return [...code.matchAll(/^(?:import|export)[^;"]*from "([^"]+)"/gm)].flatMap(([, name]) =>
          name.startsWith(".") ? visit(new URL(name, url)) : [name]);
      };
      console.log(JSON.stringify(visit(new URL("./node_modules/longhaul/dist/index.js", import.meta.url))));
    `);
    expect(JSON.parse(output)).toEqual([]);
  });

  it("brings the command line", () => {
    const main = join(installed, "dist", "cli", "main.js");
    expect(execFileSync(process.execPath, [main, "--version"], { encoding: "utf8" })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
  });

  it("brings the session of the demonstration", () => {
    const main = join(installed, "dist", "cli", "main.js");
    const env = { ...process.env, HOME: project, USERPROFILE: project, TMPDIR: project, TEMP: project };
    const output = execFileSync(process.execPath, [main, "demo"], { encoding: "utf8", env });
    expect(output).toContain("it is time to compact");
    expect(output).toContain("What to try next");
  });
});
