import type { ContentBlock, ToolDefinition } from "@longhaul/core";
import { z } from "zod";
import type { PermissionNeed } from "./permission.ts";

/** What the model can call. What it writes is checked against `definition` before anything of the tool runs. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** It only looks: it may run in plan mode, and beside others of its kind. */
  readonly isReadOnly: boolean;
  /** The call in one line for people, such as the path or the command; the input may be anything. */
  title(input: unknown): string;
  /** What has to be allowed before it runs; an empty list needs nobody. */
  needs(input: unknown, context: ToolContext): Promise<readonly PermissionNeed[]>;
  /** Rejects only when aborted, or by a mistake of ours: everything that the model can mend is an outcome. */
  call(input: unknown, context: ToolContext): Promise<ToolOutcome>;
}

export interface ToolOutcome {
  /** For the model. */
  readonly content: string | readonly ContentBlock[];
  readonly isError?: boolean;
  /** For people, in a few words behind the title: "120 lines", "exit 1 after 3.2 s". */
  readonly summary?: string;
  /** For people who unfold the call, such as a diff. Without it they see what the model sees. */
  readonly display?: string;
}

/** An outcome that says why nothing came of the call. */
export const failure = (content: string, summary: string): ToolOutcome => ({
  content,
  isError: true,
  summary,
});

/** About one call. What the tools of a conversation share comes from its `Workplace`. */
export interface ToolContext {
  readonly callId: string;
  readonly signal: AbortSignal;
  /** Something to look at while it runs: the last line of a command's output. */
  onProgress(text: string): void;
}

export interface ToolSpec<Input> {
  readonly name: string;
  readonly description: string;
  /** One source for the definition that the model sees and for the check of what it writes. */
  readonly input: z.ZodType<Input>;
  readonly isReadOnly?: boolean;
  readonly title?: (input: Input) => string;
  /** Without it, a tool that is not read-only asks before each call. */
  readonly needs?: (
    input: Input,
    context: ToolContext,
  ) => Promise<readonly PermissionNeed[]> | readonly PermissionNeed[];
  readonly call: (input: Input, context: ToolContext) => Promise<ToolOutcome> | ToolOutcome;
}

/** A tool whose input is checked before anything of it runs. */
export function defineTool<Input>(spec: ToolSpec<Input>): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(spec.input, { io: "input" });
  const read = (input: unknown): Input | undefined => {
    const parsed = spec.input.safeParse(input);
    return parsed.success ? parsed.data : undefined;
  };
  return {
    definition: {
      name: spec.name,
      description: spec.description,
      input_schema: schema as ToolDefinition["input_schema"],
    },
    isReadOnly: spec.isReadOnly ?? false,
    title: (input) => {
      const known = read(input);
      return known === undefined ? "" : (spec.title?.(known) ?? "");
    },
    // What is not valid is never run, so it needs nobody's word.
    needs: async (input, context) => {
      const known = read(input);
      if (known === undefined) return [];
      if (spec.needs !== undefined) return await spec.needs(known, context);
      return spec.isReadOnly ? [] : [callItself(spec.name, input)];
    },
    call: async (input, context) => {
      const parsed = spec.input.safeParse(input);
      if (parsed.success) return await spec.call(parsed.data, context);
      return failure(wrongInput(spec.name, parsed.error), "wrong input");
    },
  };
}

/** A tool says nothing of what it does: then the person sees the call itself. */
const callItself = (name: string, input: unknown): PermissionNeed => ({
  kind: "other",
  title: `Call ${name}`,
  detail: JSON.stringify(input, null, 2),
  key: `tool:${name}`,
  scope: `calls of ${name}`,
});

function wrongInput(name: string, error: z.ZodError): string {
  const lines = error.issues.map(({ path, message }) => `- ${path.join(".") || "input"}: ${message}`);
  return `${name} was not run, its input is not as it should be:\n${lines.join("\n")}`;
}
