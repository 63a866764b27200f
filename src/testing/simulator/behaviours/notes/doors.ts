import type { RequestFrame } from "../../../../compaction/write/shared-prefix.ts";
import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import { type EditTool, findEditTool } from "../../../../modules/notes/model-edits.ts";
import type { NotesSection } from "../../../../modules/notes/notes-format.ts";
import { sectionName } from "../../../../modules/notes/notes-format.ts";
import type { SeenRequest, Turn, TurnBlock } from "../../exchange.ts";

/** What a section is to say. */
export interface Wish {
  readonly section: NotesSection;
  readonly mode: "replace" | "append";
  readonly text: string;
}

/** An edit by the words in a file. */
export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
}

/** The tool by which the request lets the notes be edited; undefined where that is done by text. */
export const offeredTool = ({ tools, body }: SeenRequest): EditTool | undefined =>
  findEditTool({ tools, tool_choice: body.tool_choice } as unknown as RequestFrame);

export function noteBlock({ section, mode, text }: Wish): string {
  return `<note section="${sectionName(section.heading)}" mode="${mode}">\n${text}\n</note>`;
}

/** As calls of the tool where there is one, else as text. */
export function answerByDoor(
  wishes: readonly Wish[],
  request: SeenRequest,
  { path, shown }: { readonly path: string; readonly shown: string },
): Turn {
  const tool = offeredTool(request);
  if (tool === undefined) return { blocks: [{ type: "text", text: wishes.map(noteBlock).join("\n\n") }] };
  return {
    blocks: callsOf(
      wishes.map((wish) => replacementFor(wish, shown)),
      tool,
      path,
    ),
  };
}

export function callsOf(edits: readonly Replacement[], tool: EditTool, path: string): TurnBlock[] {
  const inputs: JsonRecord[] = edits.map(({ oldText, newText }) => ({
    [tool.oldText]: oldText,
    [tool.newText]: newText,
  }));
  const common: JsonRecord = {
    ...(tool.command === undefined ? {} : { command: tool.command }),
    [tool.path]: path,
  };
  const calls = tool.list === undefined ? inputs : [{ [tool.list]: inputs }];
  return calls.map((input) => ({ type: "tool_use", name: tool.name, input: { ...common, ...input } }));
}

/** In words that are in the file once: headings are, with the line below them. */
function replacementFor({ section, mode, text }: Wish, shown: string): Replacement {
  const { heading, guide, body } = section;
  const head = `${heading}\n${guide}`;
  if (body === "") return { oldText: head, newText: `${head}\n\n${text}` };
  const whole = `${head}\n\n${body}`;
  if (mode === "replace") return { oldText: whole, newText: `${head}\n\n${text}` };
  // Where the next section begins; the last one has only its own words to go by.
  const after = shown.slice(shown.indexOf(whole) + whole.length);
  const next = /^\n\n# [^\n]*\n[^\n]*/.exec(after)?.[0];
  if (next !== undefined) return { oldText: next, newText: `\n${text}${next}` };
  const line = `\n${body.split("\n").at(-1)}`;
  const isOnce = shown.indexOf(line) === shown.lastIndexOf(line);
  return isOnce
    ? { oldText: line, newText: `${line}\n${text}` }
    : { oldText: whole, newText: `${whole}\n${text}` };
}
