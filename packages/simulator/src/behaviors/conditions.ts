import { LonghaulError } from "@longhaul/core/errors";
import { contentBlocks, contentText, field, stringField } from "@longhaul/core/internal/messages";
import type { CallPurpose, ProviderName, SeenRequest, Turn } from "../exchange.ts";
import { findsInTime, PATTERN_MILLISECONDS } from "./timed-pattern.ts";

/** A part of the text, or a pattern that the text matches. */
export type TextCondition = string | RegExp;

/**
 * Conditions on a call. A call fits if every condition that is set holds. Side calls fit only if `purpose` or
 * `tools` is set, because a request for a title repeats the user's message.
 */
export interface TurnConditions {
  /** The exact name of the model, or a pattern. */
  readonly model?: TextCondition;
  readonly provider?: ProviderName;
  /** `any` includes side calls. Default: every purpose but `side-call`, unless `tools` is set. */
  readonly purpose?: CallPurpose | "any";
  /** Names of tools that the call must offer. `some` needs at least one tool, `none` a call without tools. */
  readonly tools?: readonly string[] | "some" | "none";
  /** Text of a message or a tool result that is newer than the last answer of the model. */
  readonly lastMessage?: TextCondition;
  /** Text of the system prompt. */
  readonly system?: TextCondition;
  /**
   * Number of the first call to answer among the calls that fit all other conditions, starting at 1. Calls
   * that another turn answers count too.
   */
  readonly nth?: number;
}

/** Conditions, or a function that decides alone, also about side calls. */
export type TurnMatch = TurnConditions | ((request: SeenRequest) => boolean);

/** A turn that answers only the calls that `when` describes. */
export interface ConditionalTurn extends Turn {
  /** Default: every call except side calls. */
  readonly when?: TurnMatch;
  /** Number of calls that the turn answers. Default: 1. */
  readonly times?: number | "always";
}

/** True if the call fits all conditions except `nth`. */
export function fits(when: TurnMatch, request: SeenRequest, purpose: CallPurpose): boolean {
  if (typeof when === "function") return when(request);
  const { model, provider, tools, lastMessage, system } = when;
  return (
    fitsPurpose(when, purpose) &&
    (provider === undefined || provider === request.provider) &&
    (model === undefined ||
      (typeof model === "string" ? model === request.model : holds(model, request.model))) &&
    (tools === undefined || offers(tools, request)) &&
    (system === undefined || holds(system, request.system)) &&
    (lastMessage === undefined || newestTexts(request).some((text) => holds(lastMessage, text)))
  );
}

function fitsPurpose({ purpose, tools }: TurnConditions, actual: CallPurpose): boolean {
  if (purpose === undefined) return tools !== undefined || actual !== "side-call";
  return purpose === "any" || purpose === actual;
}

function offers(wanted: NonNullable<TurnConditions["tools"]>, { tools }: SeenRequest): boolean {
  if (wanted === "none") return tools.length === 0;
  if (wanted === "some") return tools.length > 0;
  return wanted.every((name) => tools.some((tool) => stringField(tool, "name") === name));
}

function holds(condition: TextCondition, text: string): boolean {
  if (typeof condition === "string") return text.includes(condition);
  const found = findsInTime(condition, text);
  if (found !== undefined) return found;
  throw new LonghaulError(
    "simulator-script-invalid",
    `Invalid script: the pattern ${String(condition)} takes longer than ${PATTERN_MILLISECONDS} ms for a text of ${text.length} characters.`,
    { remedy: "Write the pattern without a repetition inside a repeated group." },
  );
}

/** Returns the texts of the user and of tool results that the model has not answered yet. */
function newestTexts({ messages }: SeenRequest): readonly string[] {
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  return messages
    .slice(answered + 1)
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => contentBlocks(content).map(textOf));
}

const textOf = (block: unknown): string =>
  stringField(block, "type") === "tool_result"
    ? contentText(field(block, "content"))
    : (stringField(block, "text") ?? "");
