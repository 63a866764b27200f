import { contentText, type JsonRecord } from "@longhaul/core/internal/messages";
import type { Behavior, SeenRequest, Turn } from "../exchange.ts";

export function textTurn(text: string): Turn {
  return { blocks: [{ type: "text", text }] };
}

export function toolTurn(name: string, input: JsonRecord = {}): Turn {
  return { blocks: [{ type: "tool_use", name, input }] };
}

/** Creates a behavior that gives the same answer to every call. */
export function always(turn: Turn | string): Behavior {
  const answer = typeof turn === "string" ? textTurn(turn) : turn;
  return () => answer;
}

/**
 * Creates a behavior that repeats the text of the newest user message. For a message without text, it lists
 * the block types.
 */
export function echo(): Behavior {
  return ({ messages }) => {
    const last = messages.findLast((message) => message.role === "user");
    if (last === undefined) return textTurn("(no user message)");
    const text = contentText(last.content);
    if (text.trim() !== "") return textTurn(text);
    const kinds = typeof last.content === "string" ? [] : last.content.map((block) => block.type);
    return textTurn(`(message without text: ${kinds.join(", ") || "no content"})`);
  };
}

/**
 * Creates a behavior that calls the tool after every human message, but not after a tool result.
 * @param options.thenSay text that answers the tool result. Without `thenSay`, the next behavior answers the
 * tool result.
 */
export function callTool(
  name: string,
  input: JsonRecord = {},
  { thenSay }: { readonly thenSay?: string } = {},
): Behavior {
  return ({ messages }) => {
    const content = messages.at(-1)?.content;
    const hasResult = Array.isArray(content) && content.some((block) => block.type === "tool_result");
    if (!hasResult) return toolTurn(name, input);
    return thenSay === undefined ? undefined : textTurn(thenSay);
  };
}

/**
 * Kinds to play. A single kind applies to every attempt. A list has one kind per attempt, and its last kind
 * repeats. A function gets the number of the attempt, which starts at 0.
 */
export type Kinds<Kind extends string> = Kind | readonly Kind[] | ((attempt: number) => Kind);

/**
 * Creates a behavior that answers only the requests that `read` recognizes. Each answer has the next kind of
 * the list. With an empty list, every answer is `good`.
 */
export function byAttempt<Kind extends string, Asked>(
  kinds: Kinds<Kind | "good">,
  read: (request: SeenRequest) => Asked | undefined,
  answer: (kind: Kind | "good", asked: Asked, request: SeenRequest) => Turn,
): Behavior {
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
