/** Versions that `npm run test:clients` installs. No other file names a version. */

/** Claude Code: an older version that users still have, and the newest version that was tested. */
export const CLAUDE_CODE_VERSIONS: readonly string[] = ["2.1.197", "2.1.325"];

/**
 * Version of the Claude Agent SDK. It runs the newest pinned Claude Code instead of the binary that it
 * bundles.
 */
export const AGENT_SDK_VERSION = "0.3.325";

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
  readonly node: number;
}

export const PROGRAMS: readonly PinnedProgram[] = [
  {
    name: "Anthropic SDK 0.137.0",
    program: "anthropic-sdk",
    packages: { "@anthropic-ai/sdk": "0.137.0" },
    node: 20,
  },
  {
    name: "Anthropic SDK 1.10.0",
    program: "anthropic-sdk",
    packages: { "@anthropic-ai/sdk": "1.10.0" },
    node: 20,
  },
  {
    name: "AI SDK 6.0.326",
    program: "ai-sdk",
    packages: { ai: "6.0.326", "@ai-sdk/anthropic": "3.0.138" },
    node: 20,
  },
  {
    name: "AI SDK 7.0.173",
    program: "ai-sdk",
    packages: { ai: "7.0.173", "@ai-sdk/anthropic": "4.0.105" },
    node: 22,
  },
  {
    name: "LangChain 1.5.14",
    program: "langchain",
    // npm does not find the dependencies of newer versions of langgraph.
    packages: {
      langchain: "1.5.14",
      "@langchain/anthropic": "1.5.11",
      "@langchain/core": "1.2.13",
      "@langchain/langgraph": "1.4.14",
    },
    node: 20,
  },
];
