/** Versions that `npm run test:clients` installs. No other file names a version. */

/** Claude Code: an older version that users still have, and the newest version that was tested. */
export const CLAUDE_CODE_VERSIONS: readonly string[] = ["2.1.197", "2.1.328"];

/**
 * Version of the Claude Agent SDK. It runs the newest pinned Claude Code instead of the binary that it
 * bundles.
 */
export const AGENT_SDK_VERSION = "0.3.328";

/** Node for clients that do not run on the oldest Node that longhaul supports. */
export const NODE_VERSION = "22.23.3";

/** Newest versions of the two lines of qwen-code, with the Node that each needs. */
export const QWEN_VERSIONS: readonly { readonly version: string; readonly node: number }[] = [
  { version: "0.15.10", node: 20 },
  { version: "0.24.4", node: 22 },
];

export const OPENCODE_VERSION = "1.18.33";

/**
 * pi has a new package name. 0.87.1 is its newest version that npm can install: later ones depend on versions of
 * a package that is not there.
 */
export const PI_VERSIONS: readonly PinnedClient[] = [
  { name: "@mariozechner/pi-coding-agent", version: "0.73.1", node: 20 },
  { name: "@earendil-works/pi-coding-agent", version: "0.87.1", node: 22 },
];

export const CLINE_VERSION = "3.0.65";
export const CODEX_VERSION = "0.169.0";

interface PinnedClient {
  readonly name: string;
  readonly version: string;
  readonly node: number;
}

/** SDKs, each with a program in the folder `programs` and the packages that the program imports. */
export interface PinnedProgram {
  readonly name: string;
  readonly program: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly side: "anthropic" | "openai";
  readonly node: number;
}

const program = (
  name: string,
  file: string,
  packages: PinnedProgram["packages"],
  { side = "anthropic", node = 20 }: Partial<Pick<PinnedProgram, "side" | "node">> = {},
): PinnedProgram => ({ name, program: file, packages, side, node });

const AI_SDK_6 = "6.0.326";
const AI_SDK_7 = "7.0.173";
const ANTHROPIC_SDKS = ["0.137.0", "1.10.0"];
const OPENAI_SDK = "7.55.0";
const OPENAI_AGENTS = "0.20.0";
const ZOD = "4.6.7";
const LANGCHAIN = "1.5.14";
/** npm does not find the dependencies of newer versions of langgraph. */
const LANGCHAIN_PARTS = { "@langchain/core": "1.2.13", "@langchain/langgraph": "1.4.14" };
const OPENAI = { side: "openai" } as const;
const OPENAI_22 = { side: "openai", node: 22 } as const;

export const PROGRAMS: readonly PinnedProgram[] = [
  ...ANTHROPIC_SDKS.map((version) =>
    program(`Anthropic SDK ${version}`, "anthropic-sdk", { "@anthropic-ai/sdk": version }),
  ),
  program(`AI SDK ${AI_SDK_6}`, "ai-sdk", { ai: AI_SDK_6, "@ai-sdk/anthropic": "3.0.138" }),
  program(`AI SDK ${AI_SDK_7}`, "ai-sdk", { ai: AI_SDK_7, "@ai-sdk/anthropic": "4.0.105" }, { node: 22 }),
  program(`LangChain ${LANGCHAIN}`, "langchain", {
    langchain: LANGCHAIN,
    "@langchain/anthropic": "1.5.11",
    ...LANGCHAIN_PARTS,
  }),
  program(`OpenAI SDK ${OPENAI_SDK}, chat`, "openai-chat", { openai: OPENAI_SDK }, OPENAI_22),
  program(`OpenAI SDK ${OPENAI_SDK}, Responses`, "openai-responses", { openai: OPENAI_SDK }, OPENAI_22),
  program(
    `OpenAI Agents ${OPENAI_AGENTS}`,
    "openai-agents",
    { "@openai/agents": OPENAI_AGENTS, zod: ZOD },
    OPENAI_22,
  ),
  program(`AI SDK ${AI_SDK_6}, OpenAI`, "ai-sdk", { ai: AI_SDK_6, "@ai-sdk/openai": "3.0.139" }, OPENAI),
  program(`AI SDK ${AI_SDK_7}, OpenAI`, "ai-sdk", { ai: AI_SDK_7, "@ai-sdk/openai": "4.0.118" }, OPENAI_22),
  program(
    `LangChain ${LANGCHAIN}, OpenAI`,
    "langchain",
    { langchain: LANGCHAIN, "@langchain/openai": "1.6.0", ...LANGCHAIN_PARTS },
    OPENAI_22,
  ),
];
