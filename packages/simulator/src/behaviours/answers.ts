import { contentText, type JsonRecord } from "@longhaul/core/internal/messages";
import type { Behaviour, SeenRequest, Turn } from "../exchange.ts";

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

/**
 * Calls the tool on every human message; does not answer its result with another call.
 * @param options.thenSay said once the call has been answered. Without it, the next behaviour answers the result.
 */
export function callTool(
  name: string,
  input: JsonRecord = {},
  { thenSay }: { readonly thenSay?: string } = {},
): Behaviour {
  return ({ messages }) => {
    const content = messages.at(-1)?.content;
    const hasResult = Array.isArray(content) && content.some((block) => block.type === "tool_result");
    if (!hasResult) return toolTurn(name, input);
    return thenSay === undefined ? undefined : textTurn(thenSay);
  };
}

/**
 * Kinds of answers: the same each time, one after the other (the last for all that follow), or by the number of the
 * attempt, from 0.
 */
export type Kinds<Kind extends string> = Kind | readonly Kind[] | ((attempt: number) => Kind);

/** Answers the requests that `read` knows, each with the next kind, and no others. An empty list plays `good`. */
export function byAttempt<Kind extends string, Asked>(
  kinds: Kinds<Kind | "good">,
  read: (request: SeenRequest) => Asked | undefined,
  answer: (kind: Kind | "good", asked: Asked, request: SeenRequest) => Turn,
): Behaviour {
  const list = typeof kinds === "string" ? [kinds] : kinds;
  let attempts = 0;
  return (request) => {
    const asked = read(request);
    if (asked === undefined) return undefined;
    const attempt = attempts++;
    const kind = typeof list === "function" ? list(attempt) : (list[attempt] ?? list.at(-1) ?? "good");
    return answer(kind, asked, request);
  };
}
