import type { Colours } from "../../terminal.ts";
import { foldText, textWidth } from "../../view/text-width.ts";
import { type ChoiceState, isAtWords } from "./choice.ts";
import { type EditorRows, editorRows } from "./editor-rows.ts";
import type { ChoiceOption } from "./screen.ts";
import { foldLine, safeLines } from "./styled-text.ts";

export interface ChoiceLook {
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
}

/** A question may be long, but what it is about and the answers matter more. */
const TITLE_SHARE = 1 / 3;
/** Rows of the detail that even a long list of options leaves. */
const LEAST_DETAIL_ROWS = 3;
const INDENT = "  ";

/** The question in rows: title, what it is about, the options, how to answer. */
export function choiceRows(state: ChoiceState, look: ChoiceLook): EditorRows {
  const { choice } = state;
  const { width, height, colours } = look;
  const allOfTitle = folded(choice.title, width).map((row) => colours.bold(row));
  const title = allOfTitle.slice(0, Math.max(1, Math.floor(height * TITLE_SHARE)));
  const detail = detailRows(choice.detail, look);
  const hint = height > title.length + 2 ? [colours.dim(hintFor(state))] : [];
  const room = Math.max(1, height - title.length - hint.length);
  const options = optionRows(state, look, Math.max(1, room - Math.min(detail.length, LEAST_DETAIL_ROWS)));
  const shownDetail = cutDetail(detail, room - options.rows.length, look);
  const above = [...title, ...shownDetail];
  const cursor = { ...options.cursor, row: above.length + options.cursor.row };
  return { rows: [...above, ...options.rows, ...hint], cursor };
}

function hintFor({ choice }: ChoiceState): string {
  const { mayChooseSeveral, declining = "declines" } = choice;
  return `${mayChooseSeveral ? "Space picks, Enter accepts, " : "Enter or a number; "}Esc ${declining}`;
}

function folded(text: string, width: number, indent: string = ""): readonly string[] {
  return safeLines(text, false).lines.flatMap((line) => foldText(line, width, indent).split("\n"));
}

function detailRows(detail: string | undefined, { width, colours }: ChoiceLook): readonly string[] {
  if (detail === undefined) return [];
  const { lines } = safeLines(detail, colours.isColorSupported);
  return lines
    .flatMap((line) => foldLine(line, Math.max(1, width - INDENT.length)))
    .map((row) => INDENT + row);
}

/** Nobody should allow what they cannot see: what does not fit is told, and can be seen. */
function cutDetail(rows: readonly string[], room: number, { colours }: ChoiceLook): readonly string[] {
  if (rows.length <= room) return rows;
  if (room < 1) return [];
  const hidden = rows.length - room + 1;
  const note = `${INDENT}… ${hidden} ${hidden === 1 ? "line" : "lines"} more, Ctrl-O shows all`;
  return [...rows.slice(0, room - 1), colours.yellow(note)];
}

/** The options, and of a list that is too long the part around the one that Enter takes. */
function optionRows(state: ChoiceState, look: ChoiceLook, room: number): EditorRows {
  const { options } = state.choice;
  const groups: EditorRows[] = options.map((option, index) => oneOption(state, option, index, look));
  if (state.choice.otherLabel !== undefined) groups.push(otherOption(state, look, room));
  const before = groups.slice(0, state.at).reduce((sum, { rows }) => sum + rows.length, 0);
  const chosen = groups[state.at];
  const rows = groups.flatMap((group) => group.rows);
  const cursor = { row: before + (chosen?.cursor.row ?? 0), before: chosen?.cursor.before ?? "" };
  if (rows.length <= room) return { rows, cursor };
  const spare = Math.max(0, room - (chosen?.rows.length ?? 0));
  const first = Math.min(Math.max(0, before - Math.ceil(spare / 2)), rows.length - room);
  const last = first + room - 1;
  const isOfChosen = (row: number): boolean => row >= before && row < before + (chosen?.rows.length ?? 0);
  const shown = rows.slice(first, last + 1).map((row, at) => {
    const isCut = (at === 0 && first > 0) || (at === room - 1 && last < rows.length - 1);
    return isCut && !isOfChosen(first + at) ? look.colours.dim(`${INDENT}…`) : row;
  });
  return { rows: shown, cursor: { ...cursor, row: Math.min(room - 1, Math.max(0, cursor.row - first)) } };
}

function oneOption(state: ChoiceState, option: ChoiceOption, index: number, look: ChoiceLook): EditorRows {
  const { colours, width } = look;
  const isAt = state.at === index;
  const lead = leadOf(state, index);
  const indent = " ".repeat(textWidth(lead));
  const key = option.key === undefined ? "" : ` (${option.key})`;
  const label = folded(`${lead}${option.label}${key}`, width, indent);
  const description =
    option.description === undefined ? [] : folded(option.description, width - indent.length);
  const rows = [
    ...label.map((row) => (isAt ? colours.cyan(row) : row)),
    ...description.map((row) => colours.dim(indent + row)),
  ];
  return { rows, cursor: { row: 0, before: "" } };
}

function leadOf(state: ChoiceState, index: number): string {
  const marker = state.at === index ? ">" : " ";
  const isOther = index === state.choice.options.length;
  const box = state.choice.mayChooseSeveral && !isOther ? (state.picked.has(index) ? "[x] " : "[ ] ") : "";
  return `${marker} ${index + 1}. ${box}`;
}

function otherOption(state: ChoiceState, look: ChoiceLook, height: number): EditorRows {
  const { otherLabel = "", options } = state.choice;
  const isAt = isAtWords(state);
  const [label = ""] = safeLines(otherLabel, false).lines;
  const lead = leadOf(state, options.length);
  const { colours, width } = look;
  if (!isAt && state.words.text === "") return { rows: [`${lead}${label}`], cursor: { row: 0, before: "" } };
  // Where the label would leave no room to write in, it goes.
  const named = `${lead}${label}: `;
  const prompt = textWidth(named) < width / 2 ? named : lead;
  const styled = isAt ? colours.cyan(prompt) : prompt;
  return editorRows(state.words, { prompt: styled, width, height, dim: colours.dim });
}
