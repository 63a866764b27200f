import { z } from "zod";
import { defineTool, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { applyEdit, type EditWish } from "./apply-edit.ts";
import { countsIn, diffOf, makeChange, notKnown, refused, textInput } from "./change.ts";
import { currentFile, type FilePlace, missingWords, needsForChange, pathInTitle } from "./file-place.ts";
import { unifiedDiff } from "./unified-diff.ts";

const inputSchema = z.object({
  file_path: z
    .string()
    .min(1)
    .describe("The file: an absolute path, or one relative to the working directory."),
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
      return needsForChange(place, file, { verb: "Edit", detail: previewOf(before, wishOf(input)) });
    },
    call: (input, context) => edit(place, input, context),
  });
}

const wishOf = ({ old_string, new_string, replace_all = false }: EditInput): EditWish => ({
  oldString: old_string,
  newString: new_string,
  replaceAll: replace_all,
});

/** Also where it will be refused as things are: until it is done, somebody may change the file so that it is not. */
function previewOf(before: Buffer | undefined, wish: EditWish): string {
  const result = before === undefined ? undefined : applyEdit(before, wish);
  return result === undefined || "refusal" in result
    ? unifiedDiff(`${wish.oldString}\n`, `${wish.newString}\n`, "whole").text
    : diffOf(before, result.bytes, "whole").text;
}

async function edit(place: FilePlace, input: EditInput, context: ToolContext): Promise<ToolOutcome> {
  const file = await place.paths.resolve(input.file_path);
  const { displayPath } = file;
  const found = await currentFile(place, file);
  if (found.state === "missing") return refused(await missingWords(place, file), "not found");
  if (found.state === "unusable")
    return refused(`${displayPath} was not changed: it ${found.words}`, "not changed");
  const unknown = notKnown(place, file, found.content);
  if (unknown !== undefined) return unknown;
  const before = found.content.bytes;
  const result = applyEdit(before, wishOf(input));
  if ("refusal" in result) return refused(`${displayPath} was not changed. ${result.refusal}`, "not changed");
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

const MOST_LINES_NAMED = 20;

function placesInWords(lines: readonly number[]): string {
  if (lines.length === 1) return `one place, in line ${lines[0]}`;
  const named = [...new Set(lines)];
  const more = named.length > MOST_LINES_NAMED ? ", …" : "";
  return `${lines.length} places, in ${named.length === 1 ? "line" : "lines"} ${named.slice(0, MOST_LINES_NAMED).join(", ")}${more}`;
}
