import { asList, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import { type ComposedTurn, refusalText, type TurnCall, type TurnPart } from "../answer/compose-turn.ts";
import { idPrefix } from "./input-items.ts";
import type { ResponseOutcome } from "./response-object.ts";
import { type CallableTool, type SeenTools, toolOf } from "./seen-tools.ts";

export interface OutputMakers {
  readonly tools: SeenTools;
  /** True if the client asked for summaries of the reasoning. Otherwise it gets only the encrypted content. */
  readonly showsSummary: boolean;
  /** True if messages say whether they are commentary between calls or the final answer. */
  readonly hasPhases: boolean;
  /** Creates an id of an item or of a call. */
  newId(prefix: string): string;
  sealReasoning(itemId: string, text: string): string;
}

type Phase = "commentary" | "final_answer";

/** First generation of models whose messages have a phase, according to the types of the official SDK. */
const PHASES_SINCE = 5.3;

/** True for a model whose messages have a phase. */
export const hasPhases = (model: string): boolean =>
  Number(/^gpt-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0) >= PHASES_SINCE;

/** Writes the turn of the model as output items. */
export function composeOutput(turn: ComposedTurn, makers: OutputMakers): ResponseOutcome {
  const lastCall = turn.parts.findLastIndex(({ type }) => type === "call");
  const { end, unknownReason, stopDetails } = turn;
  const output = turn.parts.flatMap((part, index): readonly JsonRecord[] => {
    // The text of a refusal is a part of another type.
    if (end === "refusal" && part.type === "text") return [];
    const item = outputItem(part, index < lastCall ? "commentary" : "final_answer", makers);
    return item === undefined ? [] : [item];
  });
  if (end === "length")
    return { status: "incomplete", output: lastIncomplete(output), incompleteReason: "max_output_tokens" };
  if (end === "content_filter")
    return { status: "incomplete", output: lastIncomplete(output), incompleteReason: "content_filter" };
  if (unknownReason === "failed") return { status: "failed", output, error: failureOf(stopDetails) };
  if (end !== "refusal") return { status: "completed", output };
  const content = [{ type: "refusal", refusal: refusalText(turn) }];
  return { status: "completed", output: [...output, messageItem(makers, "final_answer", content)] };
}

/** Error of a turn that fails without details. The message is the one of the API for its own failures. */
const FAILURE = {
  code: "server_error",
  message: "An error occurred while processing your request. You can retry your request.",
} as const;

const failureOf = (details: JsonRecord | undefined): NonNullable<ResponseOutcome["error"]> => ({
  code: stringField(details, "code") ?? FAILURE.code,
  message: stringField(details, "message") ?? FAILURE.message,
});

/** Marks the last item as incomplete, because the limit was reached while the model wrote it. */
const lastIncomplete = (output: readonly JsonRecord[]): readonly JsonRecord[] =>
  output.map((item, index) =>
    index === output.length - 1 && item.status !== undefined ? { ...item, status: "incomplete" } : item,
  );

/** Returns undefined for a call that was cut and whose form has no place for incomplete JSON. */
function outputItem(part: TurnPart, phase: Phase, makers: OutputMakers): JsonRecord | undefined {
  switch (part.type) {
    case "text":
      return messageItem(makers, phase, [
        { type: "output_text", text: part.text, annotations: [], logprobs: [] },
      ]);
    case "reasoning": {
      const { text } = part;
      const id = makers.newId(idPrefix("reasoning"));
      const summary = makers.showsSummary && text !== "" ? [{ type: "summary_text", text }] : [];
      return { id, type: "reasoning", summary, encrypted_content: makers.sealReasoning(id, text) };
    }
    case "call":
      return callItem(part, toolOf(part.name, makers.tools), makers);
    case "raw":
      return part.block;
  }
}

const messageItem = (
  { newId, hasPhases }: OutputMakers,
  phase: Phase,
  content: readonly JsonRecord[],
): JsonRecord => ({
  id: newId(idPrefix("message")),
  type: "message",
  status: "completed",
  role: "assistant",
  content,
  ...(hasPhases ? { phase } : {}),
});

function callItem(
  call: TurnCall,
  { form, name, namespace }: CallableTool,
  { newId }: OutputMakers,
): JsonRecord | undefined {
  const base = (type: string): JsonRecord => ({
    id: newId(idPrefix(type)),
    type,
    status: "completed",
    call_id: call.id ?? newId("call"),
  });
  const place = namespace === undefined ? {} : { namespace };
  if (form === "function") return { ...base("function_call"), name, ...place, arguments: call.input };
  if (form === "custom") return { ...base("custom_tool_call"), name, ...place, input: call.input };
  const input = parsed(call.input);
  if (input === undefined) return undefined;
  switch (form) {
    case "local_shell": {
      const action = { type: "exec", env: {}, ...input, command: texts(input.command) };
      return { ...base("local_shell_call"), action };
    }
    case "shell": {
      const commands = texts(input.commands ?? input.command);
      const action = { timeout_ms: null, max_output_length: null, ...input, commands };
      return { ...base("shell_call"), action, environment: null };
    }
    case "apply_patch":
      return { ...base("apply_patch_call"), operation: isRecord(input.operation) ? input.operation : input };
    case "computer":
      return {
        ...base("computer_call"),
        action: isRecord(input.action) ? input.action : input,
        pending_safety_checks: [],
      };
  }
}

function parsed(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const texts = (value: unknown): readonly string[] =>
  (typeof value === "string" ? [value] : asList(value)).filter((one) => typeof one === "string");
