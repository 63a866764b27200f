import { setMaxListeners } from "node:events";
import { type ToolUseBlock, untilAborted } from "../../index.ts";
import type { AgentEvent } from "../events.ts";
import type { Tool, ToolContext, ToolOutcome } from "../tool.ts";

export interface CallPorts {
  readonly tools: readonly Tool[];
  readonly signal: AbortSignal;
  /** Whether it may be done; the words are for the model. */
  mayRun(tool: Tool, input: unknown, context: ToolContext): Promise<{ readonly refusal: string } | undefined>;
  /** What is too long for the window goes into a file. */
  fit(call: ToolUseBlock, outcome: ToolOutcome): Promise<ToolOutcome>;
  /** As soon as there is one: it has happened, whatever becomes of the others. */
  answered(call: ToolUseBlock, outcome: ToolOutcome): Promise<void>;
  emit(event: AgentEvent): void;
  now(): number;
}

/** An answer may have hundreds of calls, and each may be an agent with a model of its own, or a download. */
const MOST_AT_ONCE = 10;

/** Calls that only look run together; one that changes something runs alone, in its place. */
export async function runCalls(calls: readonly ToolUseBlock[], ports: CallPorts): Promise<void> {
  // Each call listens more than once: node would print a warning in the middle of the screen.
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
    if (last !== undefined && last.length < MOST_AT_ONCE && mayJoin && onlyLooks) last.push(call);
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
  const outcome = await ports.fit(call, given);
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

/** A title is for people only: a mistake in it is no reason not to answer the call. */
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
    if (refused !== undefined) return { content: refused.refusal, isError: true, summary: "not allowed" };
    return await untilAborted(signal, tool.call(input, context));
  } catch (error) {
    signal.throwIfAborted();
    const words = error instanceof Error ? error.message : String(error);
    return { content: `${tool.definition.name} failed: ${words}`, isError: true, summary: "failed" };
  }
}

function unknownTool(name: string, { tools }: CallPorts): ToolOutcome {
  const names = tools.map(({ definition }) => definition.name).join(", ");
  return {
    content: `There is no tool ${name}. There are: ${names}.`,
    isError: true,
    summary: "no such tool",
  };
}

function textIn({ content }: ToolOutcome): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}
