import { contentText, type JsonRecord } from "../../../conversation/untrusted.ts";
import type { Behaviour, Turn } from "../exchange.ts";

export function textTurn(text: string): Turn {
  return { blocks: [{ type: "text", text }] };
}

export function toolTurn(name: string, input: JsonRecord = {}): Turn {
  return { blocks: [{ type: "tool_use", name, input }] };
}

/** The same answer to every call. */
export function always(turn: Turn | string): Behaviour {
  const answer = typeof turn === "string" ? textTurn(turn) : turn;
  return () => answer;
}

/** Says back the text of the newest user message. A message without text is answered with its kinds of blocks. */
export function echo(): Behaviour {
  return ({ messages }) => {
    const last = messages.findLast((message) => message.role === "user");
    if (last === undefined) return textTurn("(no user message)");
    const text = contentText(last.content);
    if (text.trim() !== "") return textTurn(text);
    const kinds = typeof last.content === "string" ? [] : last.content.map((block) => block.type);
    return textTurn(`(no text, but: ${kinds.join(", ") || "nothing"})`);
  };
}

export interface CallToolOptions {
  /** Said once the call has been answered. Without it, the next behaviour answers the result. */
  readonly thenSay?: string;
}

/** Calls the tool on every human message; does not answer its result with another call. */
export function callTool(name: string, input: JsonRecord = {}, options: CallToolOptions = {}): Behaviour {
  return ({ messages }) => {
    const content = messages.at(-1)?.content;
    const hasResult = Array.isArray(content) && content.some((block) => block.type === "tool_result");
    if (!hasResult) return toolTurn(name, input);
    return options.thenSay === undefined ? undefined : textTurn(options.thenSay);
  };
}
