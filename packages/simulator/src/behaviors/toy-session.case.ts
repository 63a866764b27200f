import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import type { Behavior, SeenRequest, Turn, TurnBlock } from "../exchange.ts";

export const text: JsonRecord = { type: "string" };
export const tool = (name: string, properties: JsonRecord, required: readonly string[]): JsonRecord => ({
  name,
  description: name,
  input_schema: { type: "object", properties, required, additionalProperties: false },
});

/** Tools with which the demo session was recorded. */
export const TOOLS: readonly JsonRecord[] = [
  tool("Read", { file_path: text, offset: { type: "integer" }, limit: { type: "integer" } }, ["file_path"]),
  tool("Write", { file_path: text, content: text }, ["file_path", "content"]),
  tool("Edit", { file_path: text, old_string: text, new_string: text, replace_all: { type: "boolean" } }, [
    "file_path",
    "old_string",
    "new_string",
  ]),
  tool("Bash", { command: text, description: text, timeout: { type: "integer", maximum: 600_000 } }, [
    "command",
  ]),
  tool(
    "Grep",
    {
      pattern: text,
      path: text,
      glob: text,
      output_mode: { enum: ["content", "count"] },
      "-n": { type: "boolean" },
    },
    ["pattern"],
  ),
  tool("Glob", { pattern: text, path: text }, ["pattern"]),
  tool("WebFetch", { url: { type: "string", format: "uri" }, prompt: text }, ["url", "prompt"]),
  tool("Task", { description: text, prompt: text, subagent_type: text }, [
    "description",
    "prompt",
    "subagent_type",
  ]),
  tool(
    "TodoWrite",
    {
      todos: {
        type: "array",
        items: {
          type: "object",
          properties: {
            content: { type: "string", minLength: 1 },
            status: { enum: ["pending", "in_progress", "completed"] },
            activeForm: { type: "string", minLength: 1 },
          },
          required: ["content", "status", "activeForm"],
          additionalProperties: false,
        },
      },
    },
    ["todos"],
  ),
];

export function seen(messages: readonly ApiMessage[], more: Partial<SeenRequest> = {}): SeenRequest {
  return {
    model: "claude-sonnet-4-5",
    messages,
    system: "You work in a project.\nWorking directory: /home/dev/shop\n",
    tools: TOOLS,
    maxTokens: 16_000,
    body: {},
    purpose: "conversation",
    provider: "anthropic",
    index: 0,
    ...more,
  };
}

export const human = (words: string): ApiMessage => ({ role: "user", content: words });

/** Returns the assistant message that a client would append for this turn, with made-up signatures. */
export function reply(turn: Turn | undefined): ApiMessage {
  const content = (turn?.blocks ?? []).map((block): ContentBlock => {
    if (block.type === "tool_use") return { ...block, id: block.id ?? "missing" };
    if (block.type === "thinking") return { ...block, signature: "c2lnbmVk" };
    if (block.type === "text") return block;
    throw new Error("The coder has no raw blocks");
  });
  return { role: "assistant", content };
}

type Call = Extract<TurnBlock, { type: "tool_use" }>;
export const callsOf = (turn: Turn | undefined): Call[] =>
  (turn?.blocks ?? []).filter((block): block is Call => block.type === "tool_use");
export const wordsOf = (turn: Turn | undefined): string =>
  (turn?.blocks ?? []).map((block) => (block.type === "text" ? block.text : "")).join("\n");

/** An in-memory project with tools that fail like real ones. */
class ToyProject {
  readonly files: Map<string, string> = new Map([
    ["/home/dev/shop/src/main.ts", "export const started = true;\nrun(started);\n"],
  ]);
  failures = 0;
  edits = 0;

  answer(turn: Turn | undefined): ApiMessage {
    const content = callsOf(turn).map((call): ContentBlock => {
      const result = this.run(call);
      const failed = result.startsWith("Error");
      if (failed) this.failures++;
      return {
        type: "tool_result",
        tool_use_id: call.id ?? "",
        content: result,
        ...(failed && { is_error: true }),
      };
    });
    return { role: "user", content };
  }

  run({ name, input }: Call): string {
    const path = String(input.file_path);
    const file = this.files.get(path);
    if (name === "Write") {
      this.files.set(path, String(input.content));
      return `Wrote ${path}`;
    }
    if (name === "Read") {
      if (file === undefined) return `Error: ${path} does not exist`;
      const from = Number(input.offset ?? 1);
      const lines = file.split("\n").slice(from - 1, from - 1 + Number(input.limit ?? 2_000));
      return lines.map((line, index) => `${from + index}\t${line}`).join("\n");
    }
    if (name === "Edit") {
      const old = String(input.old_string);
      if (file === undefined || file.split(old).length !== 2) return `Error: no single match in ${path}`;
      this.files.set(
        path,
        file.replace(old, () => String(input.new_string)),
      );
      this.edits++;
      return `Changed ${path}`;
    }
    if (name === "Glob" || name === "Grep") return [...this.files.keys()].slice(-30).join("\n");
    return name === "Bash" && String(input.command).length % 5 === 0 ? "Error: exit code 1" : "done";
  }
}

/**
 * Plays the behavior to the end of its task, with tools that work on a toy project. `compact` may replace the
 * history between turns.
 */
export function play(
  behavior: Behavior,
  start: readonly ApiMessage[],
  options: {
    more?: Partial<SeenRequest>;
    compact?: (messages: readonly ApiMessage[], step: number) => ApiMessage[];
    limit?: number;
  } = {},
): { messages: ApiMessage[]; turns: Turn[]; project: ToyProject } {
  let messages = [...start];
  const project = new ToyProject();
  const turns: Turn[] = [];
  for (let step = 1; step <= (options.limit ?? 3_000); step++) {
    const turn = behavior(seen(messages, options.more));
    if (turn === undefined) throw new Error("The coder always answers");
    turns.push(turn);
    messages.push(reply(turn));
    if (callsOf(turn).length === 0) break;
    messages.push(project.answer(turn));
    messages = options.compact?.(messages, step) ?? messages;
  }
  return { messages, turns, project };
}

export const countOf = (values: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};
