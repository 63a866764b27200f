import type { ContentBlock, ToolDefinition } from "@longhaul/core";
import { z } from "zod";
import type { PermissionNeed } from "./permission.ts";

/**
 * Tool that the model can call. The input is validated against `definition` before any code of the tool runs.
 */
export interface Tool {
  readonly definition: ToolDefinition;
  /** True if the tool only reads. It may then run in plan mode and in parallel with other read-only tools. */
  readonly isReadOnly: boolean;
  /** Describes the call in one line for people, such as the path or the command. The input may be invalid. */
  title(input: unknown): string;
  /**
   * Returns the permissions that the call needs before it runs. If the list is empty, no question is needed.
   */
  needs(input: unknown, context: ToolContext): Promise<readonly PermissionNeed[]>;
  /**
   * Runs the tool. Rejects only when aborted or because of a bug. If the model can correct an error, returns
   * the error as an outcome.
   */
  call(input: unknown, context: ToolContext): Promise<ToolOutcome>;
}

export interface ToolOutcome {
  /** Result for the model. */
  readonly content: string | readonly ContentBlock[];
  readonly isError?: boolean;
  /**
   * Summary in a few words, which people see after the title, such as "120 lines" or "exit 1 after 3.2 s".
   */
  readonly summary?: string;
  /**
   * Details for people who expand the call, such as a diff. Without this field, people see the result for the
   * model.
   */
  readonly display?: string;
}

/** Creates an outcome that explains why the call failed. */
export const failure = (content: string, summary: string): ToolOutcome => ({
  content,
  isError: true,
  summary,
});

/** Context of one call. `Workplace` has everything that the tools of a conversation share. */
export interface ToolContext {
  readonly callId: string;
  readonly signal: AbortSignal;
  /** Shows progress while the tool runs, such as the last line of a command's output. */
  onProgress(text: string): void;
}

export interface ToolSpec<Input> {
  readonly name: string;
  readonly description: string;
  /**
   * Schema of the input. The definition that the model sees and the validation of the input are both derived
   * from it.
   */
  readonly input: z.ZodType<Input>;
  readonly isReadOnly?: boolean;
  readonly title?: (input: Input) => string;
  /**
   * Returns the needed permissions. Without this function, a tool that is not read-only asks before each
   * call.
   */
  readonly needs?: (
    input: Input,
    context: ToolContext,
  ) => Promise<readonly PermissionNeed[]> | readonly PermissionNeed[];
  readonly call: (input: Input, context: ToolContext) => Promise<ToolOutcome> | ToolOutcome;
}

/** Creates a tool that validates its input before any of its code runs. */
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
    // An invalid call never runs, so it needs no permission.
    needs: async (input, context) => {
      const known = read(input);
      if (known === undefined) return [];
      if (spec.needs !== undefined) return await spec.needs(known, context);
      return spec.isReadOnly ? [] : [callItself(spec.name, input)];
    },
    call: async (input, context) => {
      const parsed = spec.input.safeParse(input);
      if (parsed.success) return await spec.call(parsed.data, context);
      return failure(wrongInput(spec.name, parsed.error), "invalid input");
    },
  };
}

/** Describes the raw call to the person. Used for a tool that does not describe its own needs. */
const callItself = (name: string, input: unknown): PermissionNeed => ({
  kind: "other",
  title: `Call ${name}`,
  detail: JSON.stringify(input, null, 2),
  key: `tool:${name}`,
  scope: `calls to ${name}`,
});

function wrongInput(name: string, error: z.ZodError): string {
  const lines = error.issues.map(({ path, message }) => `- ${path.join(".") || "input"}: ${message}`);
  return `${name} was not run, because its input is not valid:\n${lines.join("\n")}`;
}
