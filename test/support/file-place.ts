import { join } from "node:path";
import type { PermissionNeed, Tool, ToolContext, ToolOutcome } from "@longhaul/agent";
import type { FilePlace } from "../../packages/agent/src/tools/files/file-place.ts";
import { createFileContents } from "../../packages/agent/src/workplace/file-contents.ts";
import { pathRules } from "../../packages/agent/src/workplace/path-rules.ts";
import { createReadState } from "../../packages/agent/src/workplace/seen-files.ts";

/** Creates the environment of file tools in a folder. Each environment belongs to a separate agent. */
export function filePlace(cwd: string, more: Partial<FilePlace> = {}): FilePlace {
  return {
    cwd,
    paths: pathRules({ cwd, home: join(cwd, "..", "home") }),
    reads: createReadState(),
    files: createFileContents(),
    sessionPath: join(cwd, "..", "longhaul-home", "projects", "0123456789abcdef", "session.jsonl"),
    resultLimit: () => 100_000,
    ...more,
  };
}

const callContext = (callId = "toolu_1"): ToolContext => ({
  callId,
  signal: new AbortController().signal,
  onProgress: () => undefined,
});

export const callTool = (tool: Tool, input: unknown, callId?: string): Promise<ToolOutcome> =>
  tool.call(input, callContext(callId));

/** Returns the tool's answer as text, marked if it is an error. */
export async function answerOf(tool: Tool, input: unknown, callId?: string): Promise<string> {
  const { content, isError = false } = await callTool(tool, input, callId);
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return isError ? `REFUSED: ${text}` : text;
}

export const needsOf = (tool: Tool, input: unknown): Promise<readonly PermissionNeed[]> =>
  tool.needs(input, callContext());
