import { asList, field, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import { claudeFeatures } from "@longhaul/core/measure";
import type { SeenRequest } from "../exchange.ts";

/** Tools that a request lets the model call. */
export interface ToolChoice {
  /** `none` forbids calls, `any` forces a call. */
  readonly mode: "auto" | "none" | "any";
  /** Names of the only tools that the model may call. Undefined for all tools. */
  readonly only: readonly string[] | undefined;
  readonly allowsParallel: boolean;
}

/** Form of the answer that a request asks for. */
export type AnswerForm =
  | { readonly kind: "text" }
  /** Any JSON object. */
  | { readonly kind: "json" }
  | { readonly kind: "schema"; readonly schema: unknown };

/** Reads the tool choice from the body, in the form of its provider. */
export function toolChoiceOf({ body, provider }: Pick<SeenRequest, "body" | "provider">): ToolChoice {
  return provider === "openai" ? openAiChoice(body) : anthropicChoice(body.tool_choice);
}

function anthropicChoice(choice: unknown): ToolChoice {
  const allowsParallel = field(choice, "disable_parallel_tool_use") !== true;
  const type = stringField(choice, "type");
  if (type === "tool") return { mode: "any", only: [stringField(choice, "name") ?? ""], allowsParallel };
  return { mode: type === "none" || type === "any" ? type : "auto", only: undefined, allowsParallel };
}

function openAiChoice(body: JsonRecord): ToolChoice {
  const allowsParallel = body.parallel_tool_calls !== false;
  const choice = body.tool_choice ?? body.function_call;
  if (choice === "none") return { mode: "none", only: undefined, allowsParallel };
  if (choice === "required") return { mode: "any", only: undefined, allowsParallel };
  if (stringField(choice, "type") === "allowed_tools") {
    // Chat completions nest the list. Responses do not.
    const allowed = field(choice, "allowed_tools") ?? choice;
    const only = asList(field(allowed, "tools")).flatMap((tool) => toolName(tool) ?? []);
    return { mode: stringField(allowed, "mode") === "required" ? "any" : "auto", only, allowsParallel };
  }
  const name = toolName(choice);
  if (name !== undefined) return { mode: "any", only: [name], allowsParallel };
  return { mode: "auto", only: undefined, allowsParallel };
}

/** Built-in tools that the client runs. A choice names them by their type alone. */
const BUILT_IN: ReadonlySet<string> = new Set(["local_shell", "shell", "apply_patch"]);

/** Returns the name in a choice or a tool of OpenAI, in the forms of both APIs. */
function toolName(tool: unknown): string | undefined {
  const type = stringField(tool, "type") ?? "";
  return (
    stringField(field(tool, "function"), "name") ??
    stringField(field(tool, "custom"), "name") ??
    stringField(tool, "name") ??
    (BUILT_IN.has(type) ? type : undefined)
  );
}

/** Reads the form of the answer from the body, in the form of its provider. */
export function answerFormOf({ body, provider }: Pick<SeenRequest, "body" | "provider">): AnswerForm {
  const format =
    provider === "openai"
      ? (body.response_format ?? field(body.text, "format"))
      : (field(body.output_config, "format") ?? body.output_format);
  const type = stringField(format, "type");
  if (type === "json_object") return { kind: "json" };
  if (type !== "json_schema") return { kind: "text" };
  // Chat completions nest the schema. All other APIs do not.
  return { kind: "schema", schema: field(field(format, "json_schema") ?? format, "schema") };
}

/** How often the model thinks before it answers. */
export type ThinkingWish = "never" | "sometimes" | "between-tools" | "always";

/** Reads the thinking mode. The answering side drops thinking of models of OpenAI that do not reason. */
export function thinkingOf({
  body,
  provider,
  model,
}: Pick<SeenRequest, "body" | "provider" | "model">): ThinkingWish {
  if (provider === "openai") {
    const effort = stringField(body, "reasoning_effort") ?? stringField(body.reasoning, "effort");
    return effort === "none" ? "never" : "sometimes";
  }
  const type = stringField(body.thinking, "type");
  if (type === "disabled") return "never";
  // In the mode `enabled`, a turn with tools must begin with thinking.
  if (type === "enabled") return "always";
  if (type === "between_tools") return "between-tools";
  return type === undefined && !claudeFeatures(model).thinksByDefault ? "never" : "sometimes";
}
