import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { clientEnv } from "./client.ts";
import {
  install,
  installClaudeCode,
  installNode,
  installProgram,
  nestedBinary,
  platformBinary,
} from "./install.ts";
import {
  CLAUDE_CODE_VERSIONS,
  CLINE_VERSION,
  CODEX_VERSION,
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
  /** Number of different tools that the client calls at least. Default: 2. */
  readonly minTools?: number;
  /** Installs the client if it is missing. */
  install(): Command;
  /** Writes the settings into the client's own HOME. */
  configure?(place: ClientPlace): void;
  env(place: ClientPlace): Readonly<Record<string, string>>;
  /**
   * Returns the arguments of each process that sends these prompts in one conversation, one process after the
   * other.
   */
  processes(prompts: readonly string[]): readonly (readonly string[])[];
  /** Returns a call of the client's tool that reads this file. */
  reads(path: string): { readonly name: string; readonly input: Json };
}

const CLAUDE_CODE_VERSION = CLAUDE_CODE_VERSIONS.at(-1) ?? "";

/** The API that a client speaks with the simulator. */
type Side = "anthropic" | "openai";
const SIDES: readonly Side[] = ["anthropic", "openai"];

/** A model that every client knows, for each side. */
const MODELS: Readonly<Record<Side, string>> = { anthropic: "claude-sonnet-4-5", openai: "gpt-5.4" };
const KEY = "any";

const named = (name: string, version: string, side: Side): string =>
  side === "anthropic" ? `${name} ${version}` : `${name} ${version}, OpenAI`;

/** Variables of the official SDKs, which many clients read too. */
const sdkEnv = ({ url }: ClientPlace): Record<string, string> => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: KEY,
  ANTHROPIC_MODEL: MODELS.anthropic,
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: KEY,
  OPENAI_MODEL: MODELS.openai,
});

/** Returns a Node that this client runs on: this one, or a newer one that npm installs. */
const nodeFor = (major: number): string =>
  Number.parseInt(process.versions.node, 10) >= major ? process.execPath : installNode(NODE_VERSION);

/** One process for each prompt. `later` are the arguments that continue the newest conversation. */
const oneByOne = (
  prompts: readonly string[],
  args: (prompt: string) => readonly string[],
  later: readonly string[],
): readonly (readonly string[])[] =>
  prompts.map((prompt, index) => (index === 0 ? args(prompt) : [...later, ...args(prompt)]));

function writeSettings(path: string, content: Json | string): void {
  mkdirSync(dirname(path), { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content, undefined, 2);
  writeFileSync(path, `${text}\n`);
}

/**
 * Speaks chat completions on the side of OpenAI. It sends `max_tokens`, which OpenAI's reasoning models refuse,
 * so it gets a model without reasoning there.
 */
function qwen({ version, node }: (typeof QWEN_VERSIONS)[number], side: Side): SimClient {
  const model = side === "openai" ? "gpt-4.1" : MODELS[side];
  const flags = ["--auth-type", side, "-m", model, "--yolo"];
  return {
    name: named("qwen-code", version, side),
    install: () => {
      const folder = install("@qwen-code/qwen-code", version);
      return { file: nodeFor(node), args: [join(folder, "node_modules/.bin/qwen")] };
    },
    env: sdkEnv,
    processes: (prompts) => oneByOne(prompts, (prompt) => [...flags, "-p", prompt], ["-c"]),
    reads: (path) => ({ name: "read_file", input: { file_path: path } }),
  };
}

/** Speaks Responses on the side of OpenAI. */
const opencode = (side: Side): SimClient => ({
  name: named("opencode", OPENCODE_VERSION, side),
  install: () => {
    const file = platformBinary("opencode-ai", OPENCODE_VERSION, "opencode-", "bin/opencode");
    return { file, args: ["run", "-m", `${side}/${MODELS[side]}`, "--auto"] };
  },
  configure: ({ home, url }) =>
    writeSettings(join(home, ".config/opencode/opencode.json"), {
      autoupdate: false,
      share: "disabled",
      provider: { [side]: { options: { baseURL: `${url}/v1`, apiKey: KEY } } },
    }),
  env: () => ({ OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }),
  processes: (prompts) => oneByOne(prompts, (prompt) => [prompt], ["-c"]),
  reads: (path) => ({ name: "read", input: { filePath: path } }),
});

/** Speaks Responses on the side of OpenAI. */
function pi({ name, version, node }: (typeof PI_VERSIONS)[number], side: Side): SimClient {
  const flags = ["--provider", side, "--model", MODELS[side], "-p"];
  return {
    name: named("pi", version, side),
    install: () => ({ file: nodeFor(node), args: [join(install(name, version), "node_modules/.bin/pi")] }),
    configure: ({ home, url }) =>
      writeSettings(join(home, ".pi/agent/models.json"), {
        providers: { [side]: { baseUrl: side === "openai" ? `${url}/v1` : url } },
      }),
    env: (place) => ({ ...sdkEnv(place), PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
    processes: (prompts) => oneByOne(prompts, (prompt) => [...flags, prompt], ["-c"]),
    reads: (path) => ({ name: "read", input: { path } }),
  };
}

/** Without a terminal, cline cannot continue a session, so each prompt starts one. */
function cline(side: Side): SimClient {
  const provider = side === "openai" ? "openai-native" : side;
  const settings = { provider, apiKey: KEY, model: MODELS[side] };
  return {
    name: named("cline", CLINE_VERSION, side),
    install: () => ({
      file: platformBinary("cline", CLINE_VERSION, "@cline/cli-", "bin/cline"),
      args: ["-P", provider, "-k", KEY, "-m", MODELS[side]],
    }),
    configure: ({ home, url }) =>
      writeSettings(join(home, ".cline/data/settings/providers.json"), {
        version: 1,
        lastUsedProvider: provider,
        providers: {
          [provider]: {
            settings: { ...settings, baseUrl: `${url}/v1` },
            updatedAt: "2026-01-01T00:00:00.000Z",
            tokenSource: "manual",
          },
        },
      }),
    env: () => ({}),
    processes: (prompts) => prompts.map((prompt) => [prompt]),
    reads: (path) => ({ name: "read_files", input: { files: [{ path }] } }),
  };
}

const CODEX_FLAGS = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];

/**
 * Speaks only Responses. With models since gpt-5.6 it offers one tool, which runs scripts.
 */
const codex = (model: string, minTools: number): SimClient => ({
  name: `codex ${CODEX_VERSION}, ${model}`,
  minTools,
  install: () => ({
    file: nestedBinary("@openai/codex", CODEX_VERSION, "@openai/codex-", "vendor", "bin/codex"),
    args: ["exec"],
  }),
  configure: ({ home, url }) =>
    writeSettings(
      join(home, ".codex/config.toml"),
      [
        `model = "${model}"`,
        'model_provider = "simulated"',
        "[model_providers.simulated]",
        'name = "simulated"',
        `base_url = "${url}/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
      ].join("\n"),
    ),
  env: sdkEnv,
  processes: (prompts) => oneByOne(prompts, (prompt) => [...CODEX_FLAGS, prompt], ["resume", "--last"]),
  reads: (path) => ({ name: "exec_command", input: { cmd: `cat '${path}'` } }),
});

/** SDKs and frameworks. A program of ours sends all prompts in one process. */
const programs: readonly SimClient[] = PROGRAMS.map(({ name, program, packages, side, node }) => ({
  name,
  install: () => ({ file: nodeFor(node), args: [installProgram(program, packages)] }),
  env: sdkEnv,
  processes: (prompts) => [[MODELS[side], ...prompts]],
  reads: (path) => ({ name: "read_file", input: { path } }),
}));

/**
 * Claude Code as a client of this kind, to record its requests. Its other rows check more, but do not see the
 * bodies.
 */
export const claudeCode = (proxy: string): SimClient => ({
  name: `Claude Code ${CLAUDE_CODE_VERSION}`,
  install: () => ({ file: installClaudeCode(CLAUDE_CODE_VERSION), args: ["--dangerously-skip-permissions"] }),
  env: ({ home, url }) => clientEnv({ home, url, proxy }),
  processes: (prompts) =>
    oneByOne(prompts, (prompt) => ["-p", prompt, "--model", MODELS.anthropic], ["--continue"]),
  reads: (path) => ({ name: "Read", input: { file_path: path } }),
});

/** Every client besides Claude Code and the Agent SDK, which have rows of their own. */
export const SIM_CLIENTS: readonly SimClient[] = [
  ...SIDES.flatMap((side) => [
    ...QWEN_VERSIONS.map((version) => qwen(version, side)),
    opencode(side),
    ...PI_VERSIONS.map((version) => pi(version, side)),
    cline(side),
  ]),
  codex("gpt-5.5", 2),
  codex("gpt-5.6-sol", 1),
  ...programs,
];
