import { markersIn } from "./script.ts";

/** One block of a request as the client sent it, or a reminder inside a block. */
export interface Piece {
  /** Index of the message in the request. */
  readonly message: number;
  readonly role: string;
  /**
   * Type of the block. `reminder` is text that the client adds. The client sends it in its own tags or as a
   * system message.
   */
  readonly kind: string;
  /** Id of the call, for a call and for its result. Empty for other blocks. */
  readonly id: string;
  /** All text that a model reads in this piece, without reminders. */
  readonly text: string;
  readonly markers: readonly string[];
  /** The block as sent. */
  readonly block: Json;
}

export type Json = Readonly<Record<string, unknown>>;

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g;

/** Splits the messages of a request into pieces, in order. Depends only on the JSON of the API. */
export function piecesOf(messages: unknown): readonly Piece[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: Json, at) => {
    const { role, content } = message;
    const blocks: readonly Json[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
    return blocks.flatMap((block) => piecesOfBlock(block, at, String(role)));
  });
}

/**
 * Returns a text without reminders, as the examiner compares it. Reminders inside a text may change between
 * requests.
 */
export const withoutReminders = (text: string): string => text.replaceAll(REMINDER, "").trim();

function piecesOfBlock(block: Json, message: number, role: string): readonly Piece[] {
  const whole = readableText(block);
  const reminders = whole.match(REMINDER) ?? [];
  const text = withoutReminders(whole);
  const id = String(block.type === "tool_result" ? block.tool_use_id : (block.id ?? ""));
  const shared = { message, role, id, block };
  const kind = role === "system" ? "reminder" : String(block.type);
  const own = { ...shared, kind, text, markers: markersIn(text) };
  const rest = reminders.map((one) => ({ ...shared, kind: "reminder", text: one, markers: markersIn(one) }));
  return text === "" && rest.length > 0 && block.type === "text" ? rest : [own, ...rest];
}

function readableText(block: Json): string {
  switch (block.type) {
    case "text":
      return String(block.text ?? "");
    case "thinking":
      return String(block.thinking ?? "");
    case "tool_use":
      return JSON.stringify(block.input) ?? "";
    case "tool_result":
      return typeof block.content === "string" ? block.content : contentText(block.content);
    default:
      return JSON.stringify(block) ?? "";
  }
}

function contentText(content: unknown): string {
  return Array.isArray(content) ? content.map((block: Json) => readableText(block)).join("\n") : "";
}
