import { z } from "zod";
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { makeChange, notKnown, textInput } from "./change-file.ts";
import {
  currentFile,
  type FilePlace,
  missingWords,
  needsForChange,
  pathInput,
  pathInTitle,
} from "./file-place.ts";
import { decodeText, unitsOf, withCrlf } from "./file-text.ts";
import {
  crlfFinder,
  linesAt,
  MOST_PLACES,
  type Place,
  placesOf,
  replaced,
  withoutOverlaps,
} from "./find-text.ts";
import { countsIn, diffOf, unifiedDiff } from "./unified-diff.ts";
import { whyNotFound } from "./why-not-found.ts";

const inputSchema = z.object({
  file_path: pathInput,
  old_string: z
    .string()
    .describe("The text to replace, exactly as it stands in the file, without line numbers."),
  new_string: textInput.describe("The text that takes its place."),
  replace_all: z
    .boolean()
    .optional()
    .describe("Replace every place where old_string stands; otherwise there must be just one."),
});

type EditInput = z.infer<typeof inputSchema>;

const DESCRIPTION = `Replaces a text in a file by another. The file must have been read with Read, and not have changed since. \
old_string has to match exactly, spaces and tabs included, and to stand in one place only, unless replace_all is set: \
give enough of the lines around it. Line ends and encoding of the file are kept.`;

export function editTool(place: FilePlace): Tool {
  return defineTool({
    name: "Edit",
    description: DESCRIPTION,
    input: inputSchema,
    title: ({ file_path }) => pathInTitle(place, file_path),
    needs: async (input) => {
      const file = await place.paths.resolve(input.file_path);
      const found = await currentFile(place, file);
      const before = found.state === "there" ? found.content.bytes : undefined;
      return needsForChange(place, file, { verb: "Edit", detail: previewOf(before, input) });
    },
    call: (input, context) => edit(place, input, context),
  });
}

/** Also where it will be refused as things are: until it is done, somebody may change the file so that it is not. */
function previewOf(before: Buffer | undefined, edit: TextEdit): string {
  const result = before === undefined ? undefined : applyEdit(before, edit);
  return result === undefined || "refusal" in result
    ? unifiedDiff(`${edit.old_string}\n`, `${edit.new_string}\n`, "whole").text
    : diffOf(before, result.bytes, "whole").text;
}

async function edit(place: FilePlace, input: EditInput, context: ToolContext): Promise<ToolOutcome> {
  const file = await place.paths.resolve(input.file_path);
  const { displayPath } = file;
  const found = await currentFile(place, file);
  if (found.state === "missing") return failure(await missingWords(place, file), "not found");
  if (found.state === "unusable")
    return failure(`${displayPath} was not changed: it ${found.words}`, "not changed");
  const unknown = notKnown(place, file, found.content);
  if (unknown !== undefined) return unknown;
  const before = found.content.bytes;
  const result = applyEdit(before, input);
  if ("refusal" in result) return failure(`${displayPath} was not changed. ${result.refusal}`, "not changed");
  const range = place.reads.get(file.realPath)?.range;
  const failed = await makeChange(place, { file, before, after: result.bytes, range }, context);
  if (failed !== undefined) return failed;
  const diff = diffOf(before, result.bytes);
  return {
    content: `Changed ${displayPath}: ${placesInWords(result.lines)} (${countsIn(diff)} lines).`,
    summary: countsIn(diff),
    display: diff.text,
  };
}

const MOST_CHANGED_LINES_NAMED = 20;

function placesInWords(lines: readonly number[]): string {
  if (lines.length === 1) return `one place, in line ${lines[0]}`;
  const named = [...new Set(lines)];
  const more = named.length > MOST_CHANGED_LINES_NAMED ? ", …" : "";
  return `${lines.length} places, in ${named.length === 1 ? "line" : "lines"} ${named.slice(0, MOST_CHANGED_LINES_NAMED).join(", ")}${more}`;
}

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** `lines` are those in which the places begin, in the content as it was. */
type EditResult =
  | { readonly bytes: Buffer; readonly lines: readonly number[] }
  | { readonly refusal: string };

const MOST_LINES_NAMED = 10;

/** The content with one text in place of another; everything else stays as it is, byte by byte. */
export function applyEdit(bytes: Buffer, edit: TextEdit): EditResult {
  const wrong = whatIsWrong(edit);
  if (wrong !== undefined) return { refusal: wrong };
  const decoded = decodeText(bytes);
  if (decoded === undefined) return { refusal: "It is no text, so Edit cannot change it." };
  const content = unitsOf(bytes, decoded.form);
  const { places, newText, isLiteral } = find(content.units, edit, content.of);
  if (places.length === 0)
    return { refusal: `old_string was not found. ${whyNotFound(decoded.text, edit.old_string)}` };
  if (places.length > MOST_PLACES)
    return { refusal: `old_string stands in more than ${MOST_PLACES} places. Use a command for that.` };
  if (places.length > 1 && !edit.replace_all) return { refusal: severalPlaces(content.units, places) };
  const chosen = withoutOverlaps(places);
  const endsInCrlf = crlfFinder(content.units);
  const units = replaced(content.units, chosen, (place) =>
    !isLiteral && endsInCrlf(place) ? withCrlf(newText) : newText,
  );
  if (units === content.units)
    return { refusal: "That would change nothing: new_string stands there already." };
  return { bytes: content.toBytes(units), lines: linesAt(content.units, chosen) };
}

function whatIsWrong({ old_string: oldString, new_string: newString }: TextEdit): string | undefined {
  if (oldString === "")
    return "old_string is empty. Write makes a new file, or gives a file a whole new content.";
  if (oldString === newString) return "old_string and new_string are the same: there is nothing to change.";
  if (!oldString.isWellFormed() || !newString.isWellFormed())
    return "old_string or new_string has half a character (a lone surrogate), which no file can hold.";
  return undefined;
}

interface Found {
  readonly places: readonly Place[];
  readonly newText: string;
  /** A text with carriage returns states its own line ends. */
  readonly isLiteral: boolean;
}

/** First as it is written; then, where that has CRLF and the file has not, with plain line ends. */
function find(units: string, edit: TextEdit, of: (text: string) => string): Found {
  const { old_string: oldString, new_string: newString } = edit;
  const places = placesOf(units, of(oldString));
  if (places.length > 0 || !oldString.includes("\r\n"))
    return { places, newText: of(newString), isLiteral: `${oldString}${newString}`.includes("\r") };
  const withoutReturns = (text: string): string => of(text.replaceAll("\r\n", "\n"));
  const newText = withoutReturns(newString);
  return { places: placesOf(units, withoutReturns(oldString)), newText, isLiteral: newText.includes("\r") };
}

function severalPlaces(units: string, places: readonly Place[]): string {
  const named = places.slice(0, MOST_LINES_NAMED);
  const lines = [...new Set(linesAt(units, named))];
  const more = places.length > named.length ? ", …" : "";
  return (
    `old_string stands in ${places.length} places, in ${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}, so it is not clear which is meant. ` +
    "Give more of the text around the one you mean, or set replace_all to change them all."
  );
}
