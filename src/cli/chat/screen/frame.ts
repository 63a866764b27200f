import type { Colours } from "../../terminal.ts";
import { choiceRows } from "./choice-rows.ts";
import type { InputLine } from "./input-line.ts";
import type { Frame } from "./live-region.ts";
import type { Questions } from "./questions.ts";
import type { StreamText } from "./stream-text.ts";
import { cutLine, safeLines } from "./styled-text.ts";

/** What there is to show at the bottom, at this moment. */
export interface LiveParts {
  readonly stream: StreamText;
  readonly activity: (width: number) => readonly string[];
  readonly input: InputLine;
  readonly questions: Questions;
  readonly status: (width: number) => string;
}

export interface FrameLook {
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
}

/** The input may take this much of the terminal; a longer one shows the rows around the cursor. */
const INPUT_SHARE = 1 / 2;
/** A terminal lower than this has no room for more than the input. */
const LEAST_HEIGHT_FOR_STATUS = 3;

export interface LiveFrame extends Frame {
  /** The frame leaves out a part of the question; Ctrl-O shows all of it. */
  readonly isQuestionCut: boolean;
}

/**
 * The live rows from top to bottom: the line that still comes, what runs, the input or a question, the status. What does
 * not fit goes from the top: one must see what one writes.
 */
export function liveFrame(parts: LiveParts, { width, height, colours }: FrameLook): LiveFrame {
  const one = (line: string): string =>
    cutLine(safeLines(line, colours.isColorSupported).lines.join(" "), width);
  const statusLine = height < LEAST_HEIGHT_FOR_STATUS ? "" : one(parts.status(width));
  const status = statusLine === "" ? [] : [statusLine];
  const room = height - status.length;
  const question = parts.questions.current();
  const asked =
    question === undefined
      ? {
          ...parts.input.rows({ width, height: Math.max(1, Math.floor(room * INPUT_SHARE)), colours }),
          isCut: false,
        }
      : choiceRows(question, { width, height: room, colours });
  const forActivity = room - asked.rows.length;
  const activity = lastOf(parts.activity(width).map(one), forActivity, colours);
  const stream = parts.stream.rows(width, forActivity - activity.length);
  const above = [...stream, ...activity];
  return {
    rows: [...above, ...asked.rows.map((row) => cutLine(row, width)), ...status],
    cursor: { row: above.length + asked.cursor.row, before: cutLine(asked.cursor.before, width) },
    isQuestionCut: asked.isCut,
  };
}

function lastOf(lines: readonly string[], room: number, colours: Colours): readonly string[] {
  if (lines.length <= room) return lines;
  if (room < 1) return [];
  const hidden = lines.length - room + 1;
  return [colours.dim(`… ${hidden} more`), ...lines.slice(hidden)];
}
