import type { Colors } from "../../terminal.ts";
import { plural } from "../../view/numbers.ts";
import { fitText, foldText, textWidth } from "../../view/text-width.ts";
import { type ChoiceState, isAtWords } from "./choice.ts";
import { type EditorRows, editorRows } from "./editor-rows.ts";
import type { Choice, ChoiceOption, Look } from "./screen.ts";
import { foldLine, safeLines } from "./styled-text.ts";

/** Rows of a question. Some of them may be omitted. */
export interface ChoiceRows extends EditorRows {
  /** True if a part of the question does not fit. Ctrl-O shows the whole question. */
  readonly isCut: boolean;
}

/** Maximum share of the rows for the title, because the detail and the answers need rows too. */
const TITLE_SHARE = 1 / 3;
/**
 * Minimum rows of the detail next to a long list of options. One row shows its beginning, one is a note, and
 * one shows its end.
 */
const MIN_DETAIL_ROWS = 3;
/**
 * Maximum rows of an option in a permission question. A long path must not push the other options off the
 * screen.
 */
const MAX_LABEL_ROWS = 3;
/** Maximum consecutive empty rows. More empty rows would push text off the screen. */
const MAX_EMPTY_ROWS = 2;
const INDENT = "  ";
/**
 * Marks each line of the detail. The detail contains text of a model or a file, which must not look like an
 * option.
 */
const GUTTER = "│ ";

/** Lays out a question: title, detail, options, and how to answer. */
export function choiceRows(state: ChoiceState, look: Look): ChoiceRows {
  const { choice } = state;
  const { height, colors } = look;
  const title = titleRows(choice.title, Math.max(1, Math.floor(height * TITLE_SHARE)), look);
  const detail = detailRows(choice, look);
  const hint = height > title.rows.length + 2 ? [hintFor(state, colors)] : [];
  const room = Math.max(1, height - title.rows.length - hint.length);
  const optionRoom = Math.max(1, room - Math.min(detail.length, MIN_DETAIL_ROWS));
  const options = optionRows(state, look, optionRoom);
  const detailRoom = room - options.rows.length;
  const shownDetail = headAndTail(detail, detailRoom, (hidden) => leftOut(hidden, INDENT, colors));
  const above = [...title.rows, ...shownDetail.rows];
  const rows = [...above, ...options.rows, ...hint];
  return {
    rows,
    // If no option is selected, the cursor is in the last row. A cursor before an option would look like a
    // selection.
    cursor:
      state.at === undefined
        ? { row: rows.length - 1, before: "" }
        : { ...options.cursor, row: above.length + options.cursor.row },
    isCut: title.isCut || shownDetail.isCut || options.isCut,
  };
}

function hintFor({ choice, hasIgnored }: ChoiceState, colors: Colors): string {
  const { grants, mayChooseSeveral, declining = "declines" } = choice;
  if (grants && hasIgnored) return colors.bold(colors.yellow("Typing has no effect. ↑ ↓, then Enter"));
  const how = grants
    ? "↑ ↓, then Enter · "
    : mayChooseSeveral
      ? "Space selects, Enter accepts · "
      : "Enter or a number · ";
  return colors.dim(`${how}Esc ${declining}`);
}

function folded(text: string, width: number, indent: string = ""): readonly string[] {
  return safeLines(text, false).lines.flatMap((line) => foldText(line, width, indent).split("\n"));
}

interface Row {
  readonly text: string;
  /** Number of text lines that this row represents. It is more than one for a note about omitted lines. */
  readonly lines: number;
}

interface CutRows {
  readonly rows: readonly string[];
  readonly isCut: boolean;
}

const rowOf = (text: string): Row => ({ text, lines: 1 });

/**
 * Splits a text into rows. If the text is much longer than the screen, wraps only its beginning and its end.
 * A model may send millions of characters, and every key press redraws the screen.
 */
function rowsOf(text: string, look: Look, fold: (part: string) => readonly string[]): readonly Row[] {
  const most = 2 * Math.max(1, look.width) * Math.max(1, look.height);
  if (text.length <= 2 * most) return fold(text).map(rowOf);
  const between = text.slice(most, -most);
  const lines = Math.max(between.split("\n").length - 1, Math.ceil(between.length / look.width));
  const note = { text: leftOut(lines, "", look.colors), lines };
  return [...fold(text.slice(0, most)).map(rowOf), note, ...fold(text.slice(-most)).map(rowOf)];
}

function titleRows(title: string, room: number, look: Look): CutRows {
  const { width, colors } = look;
  const all = rowsOf(title, look, (part) => folded(part, width));
  const bold = (rows: readonly string[]): readonly string[] => rows.map((row) => colors.bold(row));
  if (all.length <= room) return { rows: bold(all.map(({ text }) => text)), isCut: false };
  if (room > 2) {
    // Breaks rows inside words. If a title with a long path were wrapped between words, its first row would
    // be almost empty.
    const full = rowsOf(title, look, (part) =>
      safeLines(part, false).lines.flatMap((line) => foldLine(line, width)),
    );
    const { rows } = headAndTail(full, room, (hidden) => leftOut(hidden, "", colors));
    return { rows: bold(rows), isCut: true };
  }
  const half = Math.floor(width / 2);
  const ends =
    room === 1
      ? [`${fitText(title, width - half)}${fitText(title, half, "front")}`]
      : [fitText(title, width), fitText(title, width, "front")];
  return { rows: bold(ends), isCut: true };
}

function detailRows({ detail, grants }: Choice, look: Look): readonly Row[] {
  if (detail === undefined) return [];
  const { width, colors } = look;
  const lead = grants ? colors.dim(GUTTER) : INDENT;
  const all = rowsOf(detail, look, (part) =>
    safeLines(part, colors.isColorSupported)
      .lines.flatMap((line) => foldLine(line, Math.max(1, width - INDENT.length)))
      .map((row) => (row.trim() === "" ? "" : lead + row)),
  );
  return withoutEmptyRuns(all, lead, colors);
}

/**
 * Replaces a long run of empty rows with one row that counts them, because empty rows would push text off the
 * screen.
 */
function withoutEmptyRuns(all: readonly Row[], lead: string, colors: Colors): readonly Row[] {
  const rows: Row[] = [];
  let empty = 0;
  const endRun = (): void => {
    if (empty > MAX_EMPTY_ROWS) {
      rows.push({ text: colors.yellow(`${INDENT}… ${plural(empty, "empty line")}`), lines: empty });
    } else for (let row = 0; row < empty; row += 1) rows.push(rowOf(lead.trimEnd()));
    empty = 0;
  };
  for (const row of all) {
    if (row.text === "") empty += 1;
    else {
      endRun();
      rows.push(row);
    }
  }
  endRun();
  return rows;
}

/**
 * Cuts rows to fit. Keeps the beginning and the end, because the end of a path or of a command matters as
 * much as its beginning. A note between them counts the omitted lines, so that nobody allows a command
 * without knowing that a part is hidden.
 */
function headAndTail(all: readonly Row[], room: number, note: (hidden: number) => string): CutRows {
  const texts = all.map(({ text }) => text);
  if (all.length <= room) return { rows: texts, isCut: all.some(({ lines }) => lines > 1) };
  if (room < 1) return { rows: [], isCut: true };
  const tail = Math.floor((room - 1) / 2);
  const head = room - 1 - tail;
  const hidden = all.slice(head, all.length - tail).reduce((sum, { lines }) => sum + lines, 0);
  return { rows: [...texts.slice(0, head), note(hidden), ...texts.slice(all.length - tail)], isCut: true };
}

const leftOut = (hidden: number, indent: string, colors: Colors): string =>
  colors.yellow(`${indent}… ${plural(hidden, "line")} left out, Ctrl-O shows all`);

/** Shows the rows of the options. If the list is too long, shows only the part around the selection. */
function optionRows(state: ChoiceState, look: Look, room: number): ChoiceRows {
  const { options } = state.choice;
  const { at = 0 } = state;
  const groups: ChoiceRows[] = options.map((option, index) => oneOption(state, option, index, look));
  if (state.choice.otherLabel !== undefined) {
    groups.push({ ...otherOption(state, look, room), isCut: false });
  }
  const before = groups.slice(0, at).reduce((sum, { rows }) => sum + rows.length, 0);
  const chosen = groups[at];
  const isCut = groups.some((group) => group.isCut);
  const rows = groups.flatMap((group) => group.rows);
  const cursor = { row: before + (chosen?.cursor.row ?? 0), before: chosen?.cursor.before ?? "" };
  if (rows.length <= room) return { rows, cursor, isCut };
  const spare = Math.max(0, room - (chosen?.rows.length ?? 0));
  const first = Math.min(Math.max(0, before - Math.ceil(spare / 2)), rows.length - room);
  const last = first + room - 1;
  const isOfChosen = (row: number): boolean => row >= before && row < before + (chosen?.rows.length ?? 0);
  const shown = rows.slice(first, last + 1).map((row, at) => {
    const isCut = (at === 0 && first > 0) || (at === room - 1 && last < rows.length - 1);
    return isCut && !isOfChosen(first + at) ? look.colors.dim(`${INDENT}…`) : row;
  });
  const row = Math.min(room - 1, Math.max(0, cursor.row - first));
  return { rows: shown, cursor: { ...cursor, row }, isCut: true };
}

function oneOption(state: ChoiceState, option: ChoiceOption, index: number, look: Look): ChoiceRows {
  const { colors, width } = look;
  const { grants } = state.choice;
  const isAt = state.at === index;
  const lead = leadOf(state, index);
  const indent = " ".repeat(textWidth(lead));
  const key = option.key === undefined || grants ? "" : ` (${option.key})`;
  const all = rowsOf(`${lead}${option.label}${key}`, look, (part) => folded(part, width, indent));
  const label = headAndTail(all, grants ? MAX_LABEL_ROWS : all.length, () => `${indent}…`);
  const description =
    option.description === undefined ? [] : folded(option.description, width - indent.length);
  const rows = [
    ...label.rows.map((row) => (isAt ? colors.cyan(row) : row)),
    ...description.map((row) => colors.dim(indent + row)),
  ];
  return { rows, cursor: { row: 0, before: "" }, isCut: label.isCut };
}

function leadOf(state: ChoiceState, index: number): string {
  const marker = state.at === index ? ">" : " ";
  // A permission question shows no numbers, because a number would suggest that the person can answer by
  // typing that number.
  if (state.choice.grants) return `${marker} `;
  const isOther = index === state.choice.options.length;
  const box = state.choice.mayChooseSeveral && !isOther ? (state.picked.has(index) ? "[x] " : "[ ] ") : "";
  return `${marker} ${index + 1}. ${box}`;
}

function otherOption(state: ChoiceState, look: Look, height: number): EditorRows {
  const { otherLabel = "", options } = state.choice;
  const isAt = isAtWords(state);
  const [label = ""] = safeLines(otherLabel, false).lines;
  const lead = leadOf(state, options.length);
  const { colors, width } = look;
  if (!isAt && state.words.text === "") return { rows: [`${lead}${label}`], cursor: { row: 0, before: "" } };
  // Omits the label if it would leave no room to write.
  const named = `${lead}${label}: `;
  const prompt = textWidth(named) < width / 2 ? named : lead;
  const styled = (text: string): string => (isAt ? colors.cyan(text) : text);
  if (prompt === named || !state.choice.grants || height < 2) {
    return editorRows(state.words, { prompt: styled(prompt), width, height, dim: colors.dim });
  }
  // A permission option has no number. Without a label above it, the text would look like the input line.
  const words = editorRows(state.words, { prompt: INDENT, width, height: height - 1, dim: colors.dim });
  const cursor = { ...words.cursor, row: words.cursor.row + 1 };
  return { rows: [styled(`${lead}${label}:`), ...words.rows], cursor };
}
