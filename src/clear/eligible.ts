import { toolsOf } from "../conversation/tool-kinds.ts";

/** Their input is the large part: what was written, and what it took the place of. */
const WRITING = ["file-edit", "file-write", "file-by-command"] as const;

/**
 * Tools whose results can be had again: those are cleared unless the caller names others. Names match as they
 * are written. Directory listings, background output and notebook edits are not among the kinds.
 */
export const ELIGIBLE_TOOLS: readonly string[] = Object.freeze(
  toolsOf("file-read", "shell", "grep", "glob", "web-fetch", "web-search", "recall", ...WRITING),
);

export const WRITE_LIKE_TOOLS: ReadonlySet<string> = new Set(toolsOf(...WRITING));
