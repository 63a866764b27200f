import { describe, expect, it } from "vitest";
import { installedManifest, installRemedy, type RunningProgram } from "./install-command.ts";

const PACKAGES = ["ai@6", "@ai-sdk/openai@3"];

/** Creates a program on a machine that has only these files. */
function programAt(
  file: string,
  files: Readonly<Record<string, string>> = {},
  facts: Partial<RunningProgram> = {},
): RunningProgram {
  return {
    file,
    platform: file.includes("\\") ? "win32" : "linux",
    currentFolder: "/home/ann/elsewhere",
    nodePath: "/usr/bin/node",
    nodeVersion: "20.19.0",
    environment: {},
    args: ["chat", "--model", "openai:gpt-5"],
    read: (path) => files[path],
    ...facts,
  };
}

/** Returns the command of a remedy, which is on a separate line. */
const commandOf = (program: RunningProgram, packages = PACKAGES): string | undefined =>
  /\n {2}(.+)$/.exec(installRemedy(packages, program))?.[1];

describe("installRemedy, the command to install missing packages", () => {
  const GLOBAL = "/usr/lib/node_modules/longhaul/dist/main.js";

  it("suggests installing packages globally if longhaul is installed globally", () => {
    const linked = { "/usr/bin/longhaul": "#!/usr/bin/env node" };
    expect(installRemedy(PACKAGES, programAt(GLOBAL, linked))).toBe(
      "Run this command and try again:\n  npm install -g ai@6 @ai-sdk/openai@3",
    );
    expect(installRemedy(["@ai-sdk/openai@3"], programAt(GLOBAL))).toBe(
      "Run this command and try again:\n  npm install -g @ai-sdk/openai@3",
    );
  });

  it("suggests --prefix with the global folder of longhaul if npm installs into another global folder", () => {
    const file = "/home/ann/.npm-global/lib/node_modules/longhaul/dist/main.js";
    expect(commandOf(programAt(file))).toBe(
      "npm install -g ai@6 @ai-sdk/openai@3 --prefix /home/ann/.npm-global",
    );
    const environment = { npm_config_prefix: "/home/ann/.npm-global" };
    expect(commandOf(programAt(file, {}, { environment }))).toBe("npm install -g ai@6 @ai-sdk/openai@3");
    expect(commandOf(programAt(GLOBAL, {}, { environment }))).toBe(
      "npm install -g ai@6 @ai-sdk/openai@3 --prefix /usr",
    );
  });

  it("suggests installing packages globally even if a package.json is in the global folder", () => {
    const files = { "/usr/lib/package.json": "{}", "/usr/bin/longhaul": "#!/usr/bin/env node" };
    expect(commandOf(programAt(GLOBAL, files))).toBe("npm install -g ai@6 @ai-sdk/openai@3");
  });

  it("suggests installing packages in the project that contains longhaul", () => {
    const file = "/home/dev/app/node_modules/longhaul/dist/main.js";
    const files = { "/home/dev/app/package.json": "{}" };
    expect(commandOf(programAt(file, files, { currentFolder: "/home/dev/app" }))).toBe(
      "npm install ai@6 @ai-sdk/openai@3",
    );
    expect(commandOf(programAt(file, files))).toBe(
      "npm install ai@6 @ai-sdk/openai@3 --prefix /home/dev/app",
    );
  });

  it("treats a folder named lib with a package.json as a project, not as a global folder", () => {
    const file = "/home/dev/app/lib/node_modules/longhaul/dist/main.js";
    expect(commandOf(programAt(file, { "/home/dev/app/lib/package.json": "{}" }))).toBe(
      "npm install ai@6 @ai-sdk/openai@3 --prefix /home/dev/app/lib",
    );
  });

  it("quotes a project folder with spaces and quotes in the install command", () => {
    const file = "/home/dev/Ann's app/node_modules/longhaul/dist/main.js";
    expect(commandOf(programAt(file, { "/home/dev/Ann's app/package.json": "{}" }))).toBe(
      "npm install ai@6 @ai-sdk/openai@3 --prefix '/home/dev/Ann'\\''s app'",
    );
  });

  it.each([
    ["package-lock.json", "npm install ai@6 @ai-sdk/openai@3 --prefix /home/dev/app"],
    ["pnpm-lock.yaml", "pnpm --dir /home/dev/app add ai@6 @ai-sdk/openai@3"],
    ["yarn.lock", "yarn --cwd /home/dev/app add ai@6 @ai-sdk/openai@3"],
    ["bun.lock", "bun --cwd /home/dev/app add ai@6 @ai-sdk/openai@3"],
  ])("suggests the package manager that wrote the lock file %s", (lockFile, command) => {
    const file = "/home/dev/app/node_modules/.pnpm/longhaul@0.1.0/node_modules/longhaul/dist/main.js";
    const files = { "/home/dev/app/package.json": "{}", [`/home/dev/app/${lockFile}`]: "" };
    expect(commandOf(programAt(file, files))).toBe(command);
  });

  it("suggests repeating the npx call with more packages if longhaul runs through npx", () => {
    const cache = "/home/ann/.npm/_npx/d3e93eb130bf21a7";
    const manifest = JSON.stringify({ _npx: { packages: ["longhaul@0.1.0"] } });
    const args = ["chat", "--model", "openai:gpt-5", "-p", "Say it's done"];
    const program = programAt(
      `${cache}/node_modules/longhaul/dist/main.js`,
      { [`${cache}/package.json`]: manifest },
      { args },
    );
    expect(installRemedy(PACKAGES, program)).toBe(
      "Run this command instead:\n" +
        "  npx -p longhaul@0.1.0 -p ai@6 -p @ai-sdk/openai@3 longhaul chat --model openai:gpt-5 -p 'Say it'\\''s done'",
    );
    expect(commandOf({ ...program, read: () => undefined })).toMatch(/^npx -p longhaul -p ai@6 /);
  });

  it("suggests --no-save in the longhaul repository, so that its package.json stays unchanged", () => {
    const file = "/home/dev/longhaul/packages/longhaul/dist/main.js";
    const files = {
      "/home/dev/longhaul/packages/longhaul/package.json": "{}",
      "/home/dev/longhaul/package.json": '{"workspaces":["packages/*"]}',
      "/home/dev/package.json": "{}",
    };
    expect(commandOf(programAt(file, files))).toBe(
      "npm install ai@6 @ai-sdk/openai@3 --no-save --prefix /home/dev/longhaul",
    );
    expect(commandOf(programAt(file, files, { currentFolder: "/home/dev/longhaul" }))).toBe(
      "npm install ai@6 @ai-sdk/openai@3 --no-save",
    );
  });

  it("suggests installing into the package folder if longhaul was copied out of the repository", () => {
    const files = { "/opt/longhaul/package.json": "{}" };
    expect(commandOf(programAt("/opt/longhaul/dist/main.js", files))).toMatch(/ --prefix \/opt\/longhaul$/);
    expect(commandOf(programAt("/opt/longhaul/main.js"))).toMatch(/ --prefix \/opt\/longhaul$/);
  });

  describe("installRemedy on Windows", () => {
    const APPDATA = "C:\\Users\\Ann\\AppData\\Roaming";
    const environment = { APPDATA };

    it("suggests installing packages globally if longhaul is in the npm folder of Windows", () => {
      const file = `${APPDATA}\\npm\\node_modules\\longhaul\\dist\\main.js`;
      expect(commandOf(programAt(file, {}, { environment }))).toBe("npm install -g ai@6 @ai-sdk/openai@3");
    });

    it("suggests --prefix on Windows if longhaul is not in the global folder that npm uses", () => {
      const file = "C:\\Program Files\\nodejs\\node_modules\\longhaul\\dist\\main.js";
      const files = { "C:\\Program Files\\nodejs\\longhaul.cmd": "@ECHO off" };
      expect(commandOf(programAt(file, files, { environment }))).toBe(
        'npm install -g ai@6 @ai-sdk/openai@3 --prefix "C:\\Program Files\\nodejs"',
      );
    });

    it("on Windows, suggests installing packages in the project that contains longhaul", () => {
      const file = "C:\\work\\app\\node_modules\\longhaul\\dist\\main.js";
      const files = { "C:\\work\\app\\package.json": "{}" };
      expect(commandOf(programAt(file, files, { environment }))).toBe(
        "npm install ai@6 @ai-sdk/openai@3 --prefix C:\\work\\app",
      );
    });

    it("on Windows, suggests repeating the npx call with more packages", () => {
      const cache = "C:\\Users\\Ann\\AppData\\Local\\npm-cache\\_npx\\d3e93eb130bf21a7";
      const files = { [`${cache}\\package.json`]: '{"_npx":{"packages":["longhaul"]}}' };
      const program = programAt(`${cache}\\node_modules\\longhaul\\dist\\main.js`, files, {
        args: ["chat", "-p", 'Say "done"'],
      });
      expect(commandOf(program)).toBe(
        'npx -p longhaul -p ai@6 -p @ai-sdk/openai@3 longhaul chat -p "Say \\"done\\""',
      );
    });

    it("on Windows, suggests installing packages in the root of the longhaul repository", () => {
      const files = { "D:\\longhaul\\package.json": '{"workspaces":["packages/*"]}' };
      expect(commandOf(programAt("D:\\longhaul\\packages\\longhaul\\dist\\main.js", files))).toBe(
        "npm install ai@6 @ai-sdk/openai@3 --no-save --prefix D:\\longhaul",
      );
    });
  });
});

describe("installedManifest", () => {
  const FILE = "/home/dev/app/node_modules/longhaul/dist/main.js";

  it("finds an installed package in the nearest node_modules folder above the files of longhaul", () => {
    const files = {
      "/home/dev/app/node_modules/longhaul/node_modules/ai/package.json": '{"version":"7.0.0"}',
      "/home/dev/app/node_modules/ai/package.json": '{"version":"6.0.0"}',
      "/home/dev/app/node_modules/@ai-sdk/openai/package.json": '{"version":"3.0.0"}',
    };
    expect(installedManifest("ai", programAt(FILE, files))).toEqual({ version: "7.0.0" });
    expect(installedManifest("@ai-sdk/openai", programAt(FILE, files))).toEqual({ version: "3.0.0" });
  });

  it("never searches the current folder for an installed package", () => {
    const files = { "/home/ann/elsewhere/node_modules/ai/package.json": '{"version":"6.0.0"}' };
    expect(installedManifest("ai", programAt(FILE, files))).toBeUndefined();
  });
});
