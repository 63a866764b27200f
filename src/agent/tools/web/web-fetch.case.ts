import type { ToolContext, ToolOutcome } from "../../tool.ts";

export const context = (details: Partial<ToolContext> = {}): ToolContext => ({
  callId: "c1",
  signal: new AbortController().signal,
  onProgress: () => undefined,
  ...details,
});

/** The text between the two marks, which is the part that the server wrote. */
export function textIn(content: ToolOutcome["content"]): string {
  const [, , text] = /\n(page-[0-9a-f-]{36})\n([\s\S]*)\n\1$/.exec(String(content)) ?? [];
  if (text === undefined) throw new Error(`No text of a server in: ${String(content).slice(0, 500)}`);
  return text;
}
