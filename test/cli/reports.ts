import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { ContentBlock, Entry } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import { ESTIMATORS, measureContent } from "@longhaul/core/measure";
import { compact } from "../../packages/longhaul/src/commands/compact-command.ts";
import { inspect } from "../../packages/longhaul/src/commands/inspect-command.ts";
import { replay } from "../../packages/longhaul/src/commands/replay-command.ts";
import { type Composition, compose } from "../../packages/longhaul/src/composition.ts";
import { usage } from "../support/builders.ts";
import { terminal } from "../support/terminal.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

export const home: string = temporaryFolder();
/** The --json output of a command. */
export type Report = ReturnType<typeof JSON.parse>;

/**
 * Returns the --json output of a command. Undefined if the command refuses, for example because the session
 * is too short.
 */
export async function reported(
  command: (composition: Composition) => Promise<void>,
  environment: NodeJS.ProcessEnv = {},
): Promise<Report | undefined> {
  const printed: string[] = [];
  const env = {
    LONGHAUL_HOME: join(home, ".longhaul"),
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    ...environment,
  };
  const composition = await compose({ ...terminal(80), print: (text) => printed.push(text) }, env);
  try {
    await command({ ...composition, now: () => new Date("2026-11-16T12:00:00Z") });
  } catch (error) {
    if (error instanceof LonghaulError) return undefined;
    throw error;
  }
  return JSON.parse(printed.join("\n"));
}

export const json = true;
export const inspected = (path: string): Promise<Report> => reported((it) => inspect(path, { json }, it));
export const previewed = (path: string): Promise<Report> =>
  reported((it) => compact(path, { json, dryRun: true, hooks: false }, it));
export const replayed = (path: string): Promise<Report> =>
  reported((it) => replay([path], { json, policies: ["everything"] }, it));

/** Creates a writable copy in a separate folder. */
export function copyOf(path: string): string {
  const copy = join(mkdtempSync(join(home, "s-")), basename(path));
  writeFileSync(copy, readFileSync(path));
  return copy;
}

export function written(entries: readonly Entry[]): string {
  const path = join(mkdtempSync(join(home, "s-")), "session.jsonl");
  mkdirSync(join(home, "project"), { recursive: true });
  writeFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  return path;
}

function longerBlock(block: ContentBlock, filler: string): ContentBlock {
  if (block.type === "text") return { ...block, text: block.text + filler };
  const isText = block.type === "tool_result" && typeof block.content === "string";
  return isText ? { ...block, content: block.content + filler } : block;
}

/**
 * Returns the session with longer texts. Its usage is the usage that a provider would have reported for these
 * texts.
 */
export function inflated(lines: readonly Entry[], perToken: number, besides: number): readonly Entry[] {
  const filler = " and so on,".repeat(800);
  let said = 0;
  return lines.map((line): Entry => {
    if (line.type !== "user" && line.type !== "assistant") return line;
    const { content } = line.message;
    const longer =
      typeof content === "string" ? content + filler : content.map((block) => longerBlock(block, filler));
    const input = Math.round(besides + said * perToken);
    said += measureContent(longer, ESTIMATORS.o200k);
    if (line.type === "user") return { ...line, message: { ...line.message, content: longer } };
    const message = {
      ...line.message,
      content: longer,
      model: "claude-sonnet-4-5",
      usage: usage(input + 1, 3),
    };
    return { ...line, message };
  });
}
