import { setMaxListeners } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolUseBlock } from "@longhaul/core";
import type { Thresholds } from "@longhaul/core/measure";
import { untilAborted } from "@longhaul/core/models";
import type { AgentEvent } from "../agent-events.ts";
import { failure, type Tool, type ToolContext, type ToolOutcome } from "../tool.ts";

export interface CallPorts {
  readonly tools: readonly Tool[];
  readonly signal: AbortSignal;
  /** Decides whether a call may run. The refusal is text for the model. */
  mayRun(tool: Tool, input: unknown, context: ToolContext): Promise<{ readonly refusal: string } | undefined>;
  /**
   * Returns the maximum characters of a result at the current fill level of the window. A longer result is
   * saved in full to a file.
   */
  resultLimit(): number;
  outputFolder(): Promise<string>;
  /**
   * Reports each result as soon as it exists. The call has had its effect, whatever happens to other calls.
   */
  answered(call: ToolUseBlock, outcome: ToolOutcome): Promise<void>;
  emit(event: AgentEvent): void;
  now(): number;
}

/**
 * Maximum number of calls at once. One answer can have hundreds of calls, and each call can be a download or
 * a subagent with its own model.
 */
const MAX_AT_ONCE = 10;

/**
 * Runs read-only calls in parallel. A call that changes something runs alone, in its position among the
 * calls.
 */
export async function runCalls(calls: readonly ToolUseBlock[], ports: CallPorts): Promise<void> {
  // Each call adds several listeners. Without this setting, Node prints a warning in the middle of the
  // screen.
  setMaxListeners(0, ports.signal);
  const toolOf = new Map(ports.tools.map((tool) => [tool.definition.name, tool]));
  for (const group of groupsOf(calls, (name) => toolOf.get(name)?.isReadOnly ?? true)) {
    const done = await Promise.allSettled(group.map((call) => runCall(call, toolOf.get(call.name), ports)));
    const failed = done.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

function groupsOf(
  calls: readonly ToolUseBlock[],
  isReadOnly: (name: string) => boolean,
): readonly (readonly ToolUseBlock[])[] {
  const groups: ToolUseBlock[][] = [];
  let mayJoin = false;
  for (const call of calls) {
    const onlyLooks = isReadOnly(call.name);
    const last = groups.at(-1);
    if (last !== undefined && last.length < MAX_AT_ONCE && mayJoin && onlyLooks) last.push(call);
    else groups.push([call]);
    mayJoin = onlyLooks;
  }
  return groups;
}

async function runCall(call: ToolUseBlock, tool: Tool | undefined, ports: CallPorts): Promise<void> {
  const { emit, now } = ports;
  const { id: callId, name, input } = call;
  const startedAt = now();
  const title = tool === undefined ? "" : titleOf(tool, input);
  emit({ type: "call-started", callId, tool: name, title, input });
  const given = tool === undefined ? unknownTool(name, ports) : await carryOut(call, tool, ports);
  const outcome = await fitOutcome(given, callId, ports);
  await ports.answered(call, outcome);
  emit({
    type: "call-ended",
    callId,
    tool: name,
    title,
    isError: outcome.isError ?? false,
    summary: outcome.summary,
    display: outcome.display ?? textIn(outcome),
    durationMs: now() - startedAt,
  });
}

/**
 * Returns the title of a call, which only people see. An error in the tool's code for titles must not stop
 * the call.
 */
function titleOf(tool: Tool, input: unknown): string {
  try {
    return tool.title(input);
  } catch {
    return "";
  }
}

async function carryOut({ id, input }: ToolUseBlock, tool: Tool, ports: CallPorts): Promise<ToolOutcome> {
  const { signal, emit } = ports;
  const onProgress = (text: string): void => emit({ type: "call-progress", callId: id, text });
  const context: ToolContext = { callId: id, signal, onProgress };
  try {
    const refused = await untilAborted(signal, ports.mayRun(tool, input, context));
    if (refused !== undefined) return failure(refused.refusal, "not allowed");
    return await untilAborted(signal, tool.call(input, context));
  } catch (error) {
    signal.throwIfAborted();
    const words = error instanceof Error ? error.message : String(error);
    return failure(`${tool.definition.name} failed: ${words}`, "failed");
  }
}

function unknownTool(name: string, { tools }: CallPorts): ToolOutcome {
  const names = tools.map(({ definition }) => definition.name).join(", ");
  return failure(`There is no tool ${name}. Available tools: ${names}.`, "no such tool");
}

function textIn({ content }: ToolOutcome): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

/** Maximum length of a result in any window. Nobody reads more than this. */
const LONGEST_RESULT_CHARS = 100_000;
/**
 * Maximum characters of a result per token of the window. At 2.5 characters per token, a result takes at most
 * a fifth of the window. One turn can have several results, so a single result must not fill the window.
 */
const CHARS_PER_WINDOW_TOKEN = 0.5;
const SHORTEST_LIMIT_CHARS = 2_000;
/**
 * Share of a cut result that comes from its beginning. The beginning has most of the information, and the end
 * has the outcome.
 */
const HEAD_SHARE = 0.75;

export const resultLimit = ({ effective }: Thresholds): number =>
  Math.round(
    Math.min(LONGEST_RESULT_CHARS, Math.max(SHORTEST_LIMIT_CHARS, effective * CHARS_PER_WINDOW_TOKEN)),
  );

/**
 * Cuts a result in the middle if it takes too much of the window. A file keeps the full result for later
 * reads.
 */
async function fitOutcome(outcome: ToolOutcome, callId: string, ports: CallPorts): Promise<ToolOutcome> {
  const { content } = outcome;
  const limit = ports.resultLimit();
  const fitted = async (text: string): Promise<string> =>
    text.length <= limit ? text : cutText(text, limit, await keptWhole(text, callId, ports));
  if (typeof content === "string") return { ...outcome, content: await fitted(content) };
  const blocks = await Promise.all(
    content.map(async (block) =>
      block.type === "text" ? { ...block, text: await fitted(block.text) } : block,
    ),
  );
  return { ...outcome, content: blocks };
}

function cutText(text: string, limit: number, whole: string): string {
  const head = text.slice(0, Math.floor(limit * HEAD_SHARE)).toWellFormed();
  const tail = text.slice(text.length - (limit - head.length)).toWellFormed();
  const left = text.length - limit;
  return `${head}\n\n[… ${left} characters are left out here. ${whole}]\n\n${tail}`;
}

/**
 * Saves the full result to a file, and returns a sentence with its path. Never rejects, because a call that
 * ran must be reported even if no file can be written.
 */
async function keptWhole(text: string, callId: string, ports: CallPorts): Promise<string> {
  try {
    const path = join(await ports.outputFolder(), `${callId.replaceAll(/[^\w-]/g, "_")}.txt`);
    await writeFile(path, text, { mode: 0o600 });
    return `Read the whole result in parts: ${path}`;
  } catch (error) {
    return `The whole result could not be saved to a file: ${error instanceof Error ? error.message : String(error)}`;
  }
}
