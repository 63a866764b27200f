/** Versions that `npm run test:clients` installs. No other file names a version. */

/** Claude Code: an older version that users still have, and the newest version that was tested. */
export const CLAUDE_CODE_VERSIONS: readonly string[] = ["2.1.197", "2.1.325"];

/**
 * Version of the Claude Agent SDK. It runs the newest pinned Claude Code instead of the binary that it
 * bundles.
 */
export const AGENT_SDK_VERSION = "0.3.325";
