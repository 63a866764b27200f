import type { Entry } from "@longhaul/core/messages";

/** One thing that was said or done in a session, in order. */
export type Turn = UserTurn | AssistantTurn | CallTurn | ResultTurn;

interface TurnPlace {
  /** Position among all turns of the session. */
  readonly at: number;
  readonly entryId: string;
}

/** Text that a person typed. */
export interface UserTurn extends TurnPlace {
  readonly type: "user";
  readonly text: string;
}

export interface AssistantTurn extends TurnPlace {
  readonly type: "assistant";
  readonly text: string;
}

export interface CallTurn extends TurnPlace {
  readonly type: "call";
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ResultTurn extends TurnPlace {
  readonly type: "result";
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const textField = (value: unknown, name: string): string =>
  isFields(value) && typeof value[name] === "string" ? value[name] : "";

/**
 * Reads what was said in a session. Summaries, boundaries, hints of the agent's program and the conversations
 * of subagents are left out.
 */
export function readSession(entries: readonly Entry[]): Turn[] {
  const values: readonly unknown[] = entries;
  const hasMainThread = values.some((entry) => isMessage(entry) && entry.isSidechain !== true);
  const seen = new Set<string>();
  const turns: Turn[] = [];
  for (const entry of values) {
    if (!isFields(entry)) continue;
    if (hasMainThread && entry.isSidechain === true) continue;
    const entryId = textField(entry, "uuid");
    if (entryId !== "" && seen.has(entryId)) continue;
    seen.add(entryId);
    for (const turn of turnsOf(entry)) turns.push({ ...turn, at: turns.length, entryId } as Turn);
  }
  return turns;
}

const isMessage = (entry: unknown): entry is Fields =>
  isFields(entry) && (entry.type === "user" || entry.type === "assistant");

type UnplacedTurn =
  | Omit<UserTurn, keyof TurnPlace>
  | Omit<AssistantTurn, keyof TurnPlace>
  | Omit<CallTurn, keyof TurnPlace>
  | Omit<ResultTurn, keyof TurnPlace>;

function turnsOf(entry: Fields): UnplacedTurn[] {
  if (entry.isCompactSummary === true || entry.isApiErrorMessage === true) return [];
  if (entry.type === "attachment") return queuedPrompt(entry.attachment);
  if (!isMessage(entry) || !isFields(entry.message)) return [];
  const { content, model } = entry.message;
  if (model === "<synthetic>") return [];
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block: unknown) => blockTurn(entry, block));
}

/** A prompt that the person typed while the agent worked. */
function queuedPrompt(attachment: unknown): UnplacedTurn[] {
  if (!isFields(attachment) || attachment.type !== "queued_command") return [];
  const { prompt } = attachment;
  const texts = Array.isArray(prompt) ? prompt.map((block) => textField(block, "text")) : [prompt];
  return texts.flatMap((text) => (typeof text === "string" ? userTurns(text) : []));
}

function blockTurn(entry: Fields, block: unknown): UnplacedTurn[] {
  if (!isFields(block)) return [];
  if (block.type === "text") {
    const text = textField(block, "text");
    if (entry.type === "user") return entry.isMeta === true ? [] : userTurns(text);
    return text.trim() === "" ? [] : [{ type: "assistant", text: withoutControls(text) }];
  }
  if (block.type === "tool_use") {
    const input = isFields(block.input) ? block.input : {};
    return [{ type: "call", id: textField(block, "id"), tool: textField(block, "name"), input }];
  }
  if (block.type !== "tool_result") return [];
  const text = withoutControls(resultText(block.content));
  return [{ type: "result", id: textField(block, "tool_use_id"), text, isError: block.is_error === true }];
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => textField(block, "text")).join("\n");
}

/** Starts of texts that the agent's program writes in the name of the user. */
const PROGRAM_TEXTS = [
  ...[
    "<command-name>",
    "<command-message>",
    "<local-command",
    "<task-notification>",
    "<bash-",
    "<user-memory",
  ],
  ...["[Request interrupted", "Caveat: The messages below", "This session is being continued"],
  ...["<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions"],
  ...["<permissions instructions>", "<turn_aborted>", "<collaboration_mode>", "<skills_instructions>"],
  ...["The conversation history before this point", "Another language model started"],
];

function userTurns(raw: string): UnplacedTurn[] {
  const text = withoutControls(withoutProgramElements(raw)).trim();
  if (text === "" || PROGRAM_TEXTS.some((start) => text.startsWith(start))) return [];
  return [{ type: "user", text }];
}

/** Elements that the agent's program adds to the text of the user. */
const PROGRAM_ELEMENTS = ["system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics"];

const withoutProgramElements = (text: string): string => PROGRAM_ELEMENTS.reduce(withoutElement, text);

function withoutElement(text: string, name: string): string {
  const [opening, closing] = [`<${name}>`, `</${name}>`];
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(opening, from);
    const end = start === -1 ? -1 : text.indexOf(closing, start);
    if (end === -1) break;
    parts.push(text.slice(from, start));
    from = end + closing.length;
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(from);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colored output contains escape sequences
const ESCAPE_SEQUENCE = /\u001b\[[0-9;?]*[A-Za-z]/g;

const withoutControls = (text: string): string =>
  (text.includes("\u001b") ? text.replace(ESCAPE_SEQUENCE, "") : text).replaceAll("\r", "");

/** A call with its result. The result is undefined if the session has none. */
export interface ToolRun {
  readonly call: CallTurn;
  readonly result: ResultTurn | undefined;
}

/** Pairs each call with the first result of its id. */
export function toolRuns(turns: readonly Turn[]): ToolRun[] {
  const results = new Map<string, ResultTurn>();
  for (const turn of turns) {
    if (turn.type === "result" && !results.has(turn.id)) results.set(turn.id, turn);
  }
  return turns.flatMap((turn) =>
    turn.type === "call" ? [{ call: turn, result: results.get(turn.id) }] : [],
  );
}

/** Returns the shell command of a call, or undefined for calls of other tools. */
export function commandOf(call: CallTurn): string | undefined {
  const { command, cmd } = call.input;
  const value = command ?? cmd;
  if (typeof value === "string") return textField(call.input, "path") === "" ? value : undefined;
  if (Array.isArray(value)) return value.filter((part) => typeof part === "string").join(" ");
  return undefined;
}
