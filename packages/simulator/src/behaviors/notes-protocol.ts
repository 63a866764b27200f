import type { RequestFrame } from "@longhaul/core/compaction";
import type { JsonRecord } from "@longhaul/core/internal/messages";
import { contentBlocks } from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";
import {
  type EditTool,
  findEditTool,
  isItalicLine,
  NOT_EVERYTHING,
  type NotesRequestFacts,
  type NotesSection,
  nameKey,
  readNotesRequest,
  sectionName,
} from "@longhaul/notes/internal/format";
import type { SeenRequest, Turn, TurnBlock } from "../exchange.ts";
import { textTurn } from "./answers.ts";

/** A request for notes from the model's point of view. */
export interface SeenNotesRequest {
  readonly facts: NotesRequestFacts;
  /** The conversation to take notes on. */
  readonly conversation: readonly ApiMessage[];
  /** Number of answers so far. */
  readonly answers: number;
  /** True if the last answer was refused, fully or partly. */
  readonly isRefused: boolean;
}

/**
 * Maximum number of answers after a notes request. The search for the request stops there, because no caller
 * accepts more answers.
 */
const MAX_ANSWERS = 8;

/**
 * Returns the notes request at the end of the conversation. Answers and feedback on them may follow the
 * request. Returns undefined if there is no notes request.
 */
export function notesRequestIn(messages: readonly ApiMessage[]): SeenNotesRequest | undefined {
  for (let answers = 0; answers <= MAX_ANSWERS; answers++) {
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

/**
 * Parses the sections of notes as a model sees them. Each section begins with a heading and an italic line
 * below it.
 */
export function sectionsShown(shown: string): readonly NotesSection[] {
  const lines = shown.split("\n");
  const starts = lines.flatMap((line, at) =>
    line.startsWith("# ") && isItalicLine(lines[at + 1] ?? "") ? [at] : [],
  );
  return starts.map((start, index) => ({
    heading: lines[start] ?? "",
    guide: lines[start + 1] ?? "",
    body: lines
      .slice(start + 2, starts[index + 1])
      .join("\n")
      .trim(),
  }));
}

export const isNamed = ({ heading }: Pick<NotesSection, "heading">, name: string): boolean =>
  nameKey(heading) === nameKey(name);

/** New text for a section. */
export interface SectionChange {
  readonly section: NotesSection;
  readonly mode: "replace" | "append";
  readonly text: string;
}

/** An edit that replaces text in a file. */
interface Replacement {
  readonly oldText: string;
  readonly newText: string;
}

/** Returns the tool that the request offers to edit the notes, or undefined if the answer must be text. */
export const offeredTool = ({ tools, body }: SeenRequest): EditTool | undefined =>
  findEditTool({ tools, tool_choice: body.tool_choice } as unknown as RequestFrame);

export function noteBlock({ section, mode, text }: SectionChange): string {
  return `<note section="${sectionName(section.heading)}" mode="${mode}">\n${text}\n</note>`;
}

/**
 * Creates an answer with these changes. If there is an edit tool, the changes are tool calls. Otherwise they
 * are text.
 */
export function answerWithEdits(
  wishes: readonly SectionChange[],
  request: SeenRequest,
  { path, shown }: { readonly path: string; readonly shown: string },
): Turn {
  const tool = offeredTool(request);
  if (tool === undefined) return textTurn(wishes.map(noteBlock).join("\n\n"));
  const edits = wishes.map((wish) => replacementFor(wish, shown));
  return { blocks: callsOf(edits, tool, path) };
}

export function callsOf(edits: readonly Replacement[], tool: EditTool, path: string): TurnBlock[] {
  const inputs: JsonRecord[] = edits.map(({ oldText, newText }) => ({
    [tool.oldText]: oldText,
    [tool.newText]: newText,
  }));
  const common = { ...(tool.command !== undefined && { command: tool.command }), [tool.path]: path };
  const calls = tool.list === undefined ? inputs : [{ [tool.list]: inputs }];
  return calls.map((input) => ({ type: "tool_use", name: tool.name, input: { ...common, ...input } }));
}

/**
 * Returns an edit of the file. Its old text is a heading with the line below it, because this text occurs
 * only once in the file.
 */
function replacementFor({ section, mode, text }: SectionChange, shown: string): Replacement {
  const { heading, guide, body } = section;
  const head = `${heading}\n${guide}`;
  if (body === "") return { oldText: head, newText: `${head}\n\n${text}` };
  const whole = `${head}\n\n${body}`;
  if (mode === "replace") return { oldText: whole, newText: `${head}\n\n${text}` };
  // To append, inserts the text before the next section, if there is one.
  const after = shown.slice(shown.indexOf(whole) + whole.length);
  const next = /^\n\n# [^\n]*\n[^\n]*/.exec(after)?.[0];
  if (next !== undefined) return { oldText: next, newText: `\n${text}${next}` };
  const line = `\n${body.split("\n").at(-1)}`;
  const isOnce = shown.indexOf(line) === shown.lastIndexOf(line);
  return isOnce
    ? { oldText: line, newText: `${line}\n${text}` }
    : { oldText: whole, newText: `${whole}\n${text}` };
}
