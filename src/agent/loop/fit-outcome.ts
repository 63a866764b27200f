import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Thresholds } from "../../index.ts";
import type { ToolOutcome } from "../tool.ts";

/** Whatever the window: more than this nobody reads through. */
const LONGEST_RESULT_CHARS = 100_000;
/** A fifth of the window at about two and a half characters a token: a turn must have room for several results. */
const CHARS_PER_WINDOW_TOKEN = 0.5;
const SHORTEST_LIMIT_CHARS = 2_000;
/** Beginnings tell most; the end has the outcome. */
const HEAD_SHARE = 0.75;

/** How long a tool's result may be. */
export const resultLimit = ({ effective }: Thresholds): number =>
  Math.round(
    Math.min(LONGEST_RESULT_CHARS, Math.max(SHORTEST_LIMIT_CHARS, effective * CHARS_PER_WINDOW_TOKEN)),
  );

export interface FitOptions {
  readonly limitChars: number;
  readonly callId: string;
  outputFolder(): Promise<string>;
}

/** A result that would take too much of the window is cut in its middle; the whole is in a file that can be read. */
export async function fitOutcome(outcome: ToolOutcome, options: FitOptions): Promise<ToolOutcome> {
  const { content } = outcome;
  if (typeof content === "string") {
    return content.length <= options.limitChars
      ? outcome
      : { ...outcome, content: await cutText(content, options) };
  }
  const blocks = await Promise.all(
    content.map(async (block) =>
      block.type === "text" && block.text.length > options.limitChars
        ? { ...block, text: await cutText(block.text, options) }
        : block,
    ),
  );
  return { ...outcome, content: blocks };
}

async function cutText(text: string, options: FitOptions): Promise<string> {
  const { limitChars } = options;
  const whole = await keptWhole(text, options);
  const head = text.slice(0, Math.floor(limitChars * HEAD_SHARE)).toWellFormed();
  const tail = text.slice(text.length - (limitChars - head.length)).toWellFormed();
  const left = text.length - limitChars;
  return `${head}\n\n[… ${left} characters left out here; ${whole}]\n\n${tail}`;
}

/** Where the whole is, in words. What was done is done: it must be told also where no file can be written. */
async function keptWhole(text: string, { callId, outputFolder }: FitOptions): Promise<string> {
  try {
    const path = join(await outputFolder(), `${callId.replaceAll(/[^\w-]/g, "_")}.txt`);
    await writeFile(path, text, { mode: 0o600 });
    return `the whole is in ${path}: read it in parts`;
  } catch (error) {
    return `the whole could not be written to a file: ${error instanceof Error ? error.message : String(error)}`;
  }
}
