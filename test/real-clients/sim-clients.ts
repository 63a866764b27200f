import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { install, installNode, installProgram, platformBinary } from "./install.ts";
import {
  CLINE_VERSION,
  NODE_VERSION,
  OPENCODE_VERSION,
  PI_VERSIONS,
  PROGRAMS,
  QWEN_VERSIONS,
} from "./pins.ts";
import type { Json } from "./wire.ts";

/** The folders and addresses of one conversation. */
export interface ClientPlace {
  readonly home: string;
  readonly workspace: string;
  /** Address of the simulator, without a path. */
  readonly url: string;
}

/** The program of a client, with the first arguments of each call. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** A client that works with `longhaul sim` without a person. */
export interface SimClient {
  /** Name and version, as the matrix shows them. */
  readonly name: string;
  /** Installs the client if it is missing. */
  install(): Command;
  /** Writes the settings into the client's own HOME. */
  configure?(place: ClientPlace): void;
  env(place: ClientPlace): Readonly<Record<string, string>>;
  /**
   * Returns the arguments of each process that sends these prompts in one conversation, one process after the
   * other.
   */
  processes(prompts: readonly string[], place: ClientPlace): readonly (readonly string[])[];
  /** Returns a call of the client's tool that reads this file. */
  reads(path: string): { readonly name: string; readonly input: Json };
}

/** A model that every client knows. */
const MODEL = "claude-sonnet-4-5";
const KEY = "any";

const anthropicEnv = ({ url }: ClientPlace): Record<string, string> => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: KEY,
  ANTHROPIC_MODEL: MODEL,
});

/** Returns the arguments of one process for each prompt. `later` continues the newest conversation. */
const oneByOne = (
  prompts: readonly string[],
  args: (prompt: string) => readonly string[],
  later: readonly string[],
): readonly (readonly string[])[] =>
  prompts.map((prompt, index) => (index === 0 ? args(prompt) : [...later, ...args(prompt)]));

function writeJson(path: string, value: Json): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

const NODE_22 = 22;

function qwen({ version, node }: (typeof QWEN_VERSIONS)[number]): SimClient {
  return {
    name: `qwen-code ${version}`,
    install: () => {
      const file = node >= NODE_22 ? installNode(NODE_VERSION) : process.execPath;
      return { file, args: [join(install("@qwen-code/qwen-code", version), "node_modules/.bin/qwen")] };
    },
    env: anthropicEnv,
    processes: (prompts) =>
      oneByOne(prompts, (prompt) => ["--auth-type", "anthropic", "-m", MODEL, "--yolo", "-p", prompt], [
        "-c",
      ]),
    reads: (path) => ({ name: "read_file", input: { file_path: path } }),
  };
}

const opencode: SimClient = {
  name: `opencode ${OPENCODE_VERSION}`,
  install: () => ({
    file: platformBinary("opencode-ai", OPENCODE_VERSION, "opencode-", "bin/opencode"),
    args: [],
  }),
  configure: ({ home, url }) =>
    writeJson(join(home, ".config/opencode/opencode.json"), {
      autoupdate: false,
      share: "disabled",
      provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: KEY } } },
    }),
  env: () => ({ OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }),
  processes: (prompts) =>
    oneByOne(prompts, (prompt) => ["run", "-m", `anthropic/${MODEL}`, "--auto", prompt], []).map(
      (args, index) => (index === 0 ? args : ["run", "-c", ...args.slice(1)]),
    ),
  reads: (path) => ({ name: "read", input: { filePath: path } }),
};

function pi({ name, version, node }: (typeof PI_VERSIONS)[number]): SimClient {
  return {
    name: `pi ${version}`,
    install: () => {
      const file = node >= NODE_22 ? installNode(NODE_VERSION) : process.execPath;
      return { file, args: [join(install(name, version), "node_modules/.bin/pi")] };
    },
    configure: ({ home, url }) =>
      writeJson(join(home, ".pi/agent/models.json"), { providers: { anthropic: { baseUrl: url } } }),
    env: () => ({ ANTHROPIC_API_KEY: KEY, PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
    processes: (prompts) =>
      oneByOne(prompts, (prompt) => ["--provider", "anthropic", "--model", MODEL, "-p", prompt], ["-c"]),
    reads: (path) => ({ name: "read", input: { path } }),
  };
}

const cline: SimClient = {
  name: `cline ${CLINE_VERSION}`,
  install: () => ({ file: platformBinary("cline", CLINE_VERSION, "@cline/cli-", "bin/cline"), args: [] }),
  configure: ({ home, url }) =>
    writeJson(join(home, ".cline/data/settings/providers.json"), {
      version: 1,
      lastUsedProvider: "anthropic",
      providers: {
        anthropic: {
          settings: { provider: "anthropic", apiKey: KEY, model: MODEL, baseUrl: `${url}/v1` },
          updatedAt: "2026-01-01T00:00:00.000Z",
          tokenSource: "manual",
        },
      },
    }),
  env: () => ({}),
  processes: (prompts) => prompts.map((prompt) => ["-P", "anthropic", "-k", KEY, "-m", MODEL, prompt]),
  reads: (path) => ({ name: "read_files", input: { paths: [path] } }),
};

/** SDKs and frameworks. A program of ours sends all prompts in one process. */
const programs: readonly SimClient[] = PROGRAMS.map(({ name, program, packages, node }) => ({
  name,
  install: () => ({
    file: node >= NODE_22 ? installNode(NODE_VERSION) : process.execPath,
    args: [installProgram(program, packages)],
  }),
  env: (place) => ({ ...anthropicEnv(place), OPENAI_BASE_URL: `${place.url}/v1`, OPENAI_API_KEY: KEY }),
  processes: (prompts) => [[MODEL, ...prompts]],
  reads: (path) => ({ name: "read_file", input: { path } }),
}));

/** Every client besides Claude Code and the Agent SDK, which have rows of their own. */
export const SIM_CLIENTS: readonly SimClient[] = [
  ...QWEN_VERSIONS.map(qwen),
  opencode,
  ...PI_VERSIONS.map(pi),
  cline,
  ...programs,
];
