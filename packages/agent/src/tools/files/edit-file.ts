import { z } from "zod";
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { makeChange, textInput, whyUnseen } from "./change-file.ts";
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
  MAX_PLACES,
  type Place,
  placesOf,
  replaced,
  withoutOverlaps,
} from "./find-text.ts";
import { countsIn, diffOf, unifiedDiff } from "./unified-diff.ts";
import { whyNotFound } from "./why-not-found.ts";

const inputSchema = z.object({
  file_path: pathInput,
  old_string: z.string().describe("The text to replace, exactly as in the file, without line numbers."),
  new_string: textInput.describe("The new text."),
  replace_all: z
    .boolean()
    .optional()
    .describe("Replace every occurrence of old_string. Without this, old_string must occur exactly once."),
});

type EditInput = z.infer<typeof inputSchema>;

const DESCRIPTION = `Replaces text in a file. Read the file with Read first. The call fails if the file has changed since then, except by your own edits. \
old_string must match exactly, including spaces and tabs, and must occur only once unless replace_all is set. \
Include enough of the surrounding lines. The line endings and the encoding of the file stay the same.`;

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

/**
 * Returns the diff of an edit. Returns it even if the edit would be refused now, because the file may change
 * before the edit runs.
 */
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
    return failure(`${displayPath} was not changed: ${found.why}.`, "not changed");
  const unknown = whyUnseen(place, file, found.content);
  if (unknown !== undefined) return unknown;
  const before = found.content.bytes;
  const result = applyEdit(before, input);
  if ("refusal" in result) return failure(`${displayPath} was not changed. ${result.refusal}`, "not changed");
  const range = place.reads.get(file.realPath)?.range;
  const failed = await makeChange(place, { file, before, after: result.bytes, range }, context);
  if (failed !== undefined) return failed;
  const diff = diffOf(before, result.bytes);
  return {
    content: `Changed ${displayPath}: ${describeLines(result.lines)} (${countsIn(diff)} lines).`,
    summary: countsIn(diff),
    display: diff.text,
  };
}

const MAX_CHANGED_LINES_NAMED = 20;

function describeLines(lines: readonly number[]): string {
  if (lines.length === 1) return `1 place, on line ${lines[0]}`;
  const named = [...new Set(lines)];
  const more = named.length > MAX_CHANGED_LINES_NAMED ? ", …" : "";
  return `${lines.length} places, on ${named.length === 1 ? "line" : "lines"} ${named.slice(0, MAX_CHANGED_LINES_NAMED).join(", ")}${more}`;
}

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** Result of an edit. `lines` are the line numbers of the matches in the old content. */
type EditResult =
  | { readonly bytes: Buffer; readonly lines: readonly number[] }
  | { readonly refusal: string };

const MAX_LINES_NAMED = 10;

/** Replaces one text with another. All other bytes stay the same. */
export function applyEdit(bytes: Buffer, edit: TextEdit): EditResult {
  const wrong = whatIsWrong(edit);
  if (wrong !== undefined) return { refusal: wrong };
  const decoded = decodeText(bytes);
  if (decoded === undefined) return { refusal: "It is not a text file, so Edit cannot change it." };
  const content = unitsOf(bytes, decoded.form);
  const { places, newText, isLiteral } = find(content.units, edit, content.of);
  if (places.length === 0)
    return { refusal: `old_string was not found. ${whyNotFound(decoded.text, edit.old_string)}` };
  if (places.length > MAX_PLACES)
    return { refusal: `old_string occurs in more than ${MAX_PLACES} places. Use a shell command instead.` };
  if (places.length > 1 && !edit.replace_all) return { refusal: severalPlaces(content.units, places) };
  const chosen = withoutOverlaps(places);
  const endsInCrlf = crlfFinder(content.units);
  const units = replaced(content.units, chosen, (place) =>
    !isLiteral && endsInCrlf(place) ? withCrlf(newText) : newText,
  );
  if (units === content.units)
    return {
      refusal: "The edit would change nothing, because the file already contains new_string at that place.",
    };
  return { bytes: content.toBytes(units), lines: linesAt(content.units, chosen) };
}

function whatIsWrong({ old_string: oldString, new_string: newString }: TextEdit): string | undefined {
  if (oldString === "")
    return "old_string is empty. Use Write to create a file or to replace the whole content of a file.";
  if (oldString === newString)
    return "old_string and new_string are the same, so there is nothing to change.";
  if (!oldString.isWellFormed() || !newString.isWellFormed())
    return "old_string or new_string contains half a character (a lone surrogate), which a file cannot contain.";
  return undefined;
}

interface Found {
  readonly places: readonly Place[];
  readonly newText: string;
  /** True if the edit contains carriage returns. The new text then keeps its own line ends. */
  readonly isLiteral: boolean;
}

/**
 * Searches for the exact text first. If the file does not contain the exact text and the text has CRLF,
 * searches again with plain line ends.
 */
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
  const named = places.slice(0, MAX_LINES_NAMED);
  const lines = [...new Set(linesAt(units, named))];
  const more = places.length > named.length ? ", …" : "";
  return (
    `old_string occurs in ${places.length} places, on ${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}, so it is not clear which one you mean. ` +
    "Include more of the text around the one you mean, or set replace_all to change all of them."
  );
}
