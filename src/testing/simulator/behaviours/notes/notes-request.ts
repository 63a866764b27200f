import { type ApiMessage, contentBlocks } from "../../../../conversation/message.ts";
import { NOT_EVERYTHING } from "../../../../modules/notes/notes-answer.ts";
import { type NotesRequestFacts, readNotesRequest } from "../../../../modules/notes/notes-prompt.ts";

/** A request for notes, as the model sees it. */
export interface SeenNotesRequest {
  readonly facts: NotesRequestFacts;
  /** The conversation that the notes are about. */
  readonly conversation: readonly ApiMessage[];
  /** How often it has been answered already. */
  readonly answers: number;
  /** The last answer was refused, or a part of it. */
  readonly isRefused: boolean;
}

/** More answers than any caller waits for. */
const MOST_ANSWERS = 8;

/** Undefined for a conversation that does not end with such a request, or with what was said about its answers. */
export function notesRequestIn(messages: readonly ApiMessage[]): SeenNotesRequest | undefined {
  for (let answers = 0; answers <= MOST_ANSWERS; answers++) {
    const at = messages.length - 1 - 2 * answers;
    const message = messages[at];
    if (message?.role !== "user") return undefined;
    const blocks = contentBlocks(message.content);
    const last = blocks.at(-1);
    const facts = last?.type === "text" ? readNotesRequest(last.text) : undefined;
    if (facts !== undefined) {
      const rest = blocks.slice(0, -1);
      const conversation = [
        ...messages.slice(0, at),
        ...(rest.length > 0 ? [{ ...message, content: rest }] : []),
      ];
      return { facts, conversation, answers, isRefused: answers > 0 && isRefusal(messages.at(-1)) };
    }
    if (messages[at - 1]?.role !== "assistant") return undefined;
  }
  return undefined;
}

const isRefusal = (message: ApiMessage | undefined): boolean =>
  contentBlocks(message?.content ?? []).some((block) =>
    block.type === "text"
      ? block.text.startsWith(NOT_EVERYTHING)
      : block.type === "tool_result" && block.is_error === true,
  );
