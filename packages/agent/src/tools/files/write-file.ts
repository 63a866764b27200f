import { z } from "zod";
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import type { FileContent, ResolvedPath } from "../../workplace.ts";
import { makeChange, textInput, whyUnseen } from "./change-file.ts";
import { currentFile, type FilePlace, needsForChange, pathInput, pathInTitle } from "./file-place.ts";
import { decodeText, encodeText, lineEndsOf, withCrlf } from "./file-text.ts";
import { countsIn, diffOf } from "./unified-diff.ts";

const inputSchema = z.object({
  file_path: pathInput,
  content: textInput.describe("The complete new content of the file."),
});

type WriteInput = z.infer<typeof inputSchema>;

const DESCRIPTION = `Creates a file and the folders that it needs, or replaces the whole content of a file. \
If the file exists, read all of it with Read first. The call fails if the file has changed since then, except by your own edits. \
Use Edit to change parts of a file.`;

export function writeTool(place: FilePlace): Tool {
  return defineTool({
    name: "Write",
    description: DESCRIPTION,
    input: inputSchema,
    title: ({ file_path }) => pathInTitle(place, file_path),
    needs: async ({ file_path, content }) => {
      const file = await place.paths.resolve(file_path);
      const found = await currentFile(place, file);
      const before = found.state === "there" ? found.content.bytes : undefined;
      const verb = found.state === "missing" ? "Create" : "Write";
      const detail = diffOf(before, encodeLike(before, content), "whole").text;
      return needsForChange(place, file, { verb, detail });
    },
    call: (input, context) => write(place, input, context),
  });
}

async function write(place: FilePlace, input: WriteInput, context: ToolContext): Promise<ToolOutcome> {
  const file = await place.paths.resolve(input.file_path);
  const found = await currentFile(place, file);
  if (!input.content.isWellFormed())
    return failure(
      "content contains half a character (a lone surrogate), which a file cannot contain. Nothing was written.",
      "invalid input",
    );
  if (found.state === "unusable")
    return failure(`${file.displayPath} was not written: ${found.why}.`, "not written");
  const old = found.state === "there" ? found.content : undefined;
  const refusal = old === undefined ? undefined : overwriteRefusal(place, file, old);
  if (refusal !== undefined) return refusal;
  const before = old?.bytes;
  const after = encodeLike(before, input.content);
  if (before?.equals(after))
    return {
      content: `${file.displayPath} already has this content, so nothing was changed.`,
      summary: "no change",
    };
  const failed = await makeChange(place, { file, before, after, range: undefined }, context);
  if (failed !== undefined) return failed;
  const diff = diffOf(before, after);
  const lines = `${diff.added} ${diff.added === 1 ? "line" : "lines"}`;
  return before === undefined
    ? { content: `Created ${file.displayPath}, ${lines}.`, summary: `created, ${lines}`, display: diff.text }
    : {
        content: `Wrote ${file.displayPath} (${countsIn(diff)} lines).${keptWords(before, input.content)}`,
        summary: countsIn(diff),
        display: diff.text,
      };
}

/**
 * Explains why a file cannot be overwritten. An empty file can always be overwritten. For any other file, the
 * agent must have seen the whole content.
 */
function overwriteRefusal(
  place: FilePlace,
  file: ResolvedPath,
  content: FileContent,
): ToolOutcome | undefined {
  const { displayPath } = file;
  if (content.bytes.length === 0) return undefined;
  if (decodeText(content.bytes) === undefined)
    return failure(
      `${displayPath} was not written: the existing file is not a text file. If you do not need it, move it away first.`,
      "not a text file",
    );
  const unknown = whyUnseen(place, file, content);
  if (unknown !== undefined) return unknown;
  const range = place.reads.get(file.realPath)?.range;
  if (range === undefined) return undefined;
  return failure(
    `${displayPath} was not written: you have not seen all of it, and the rest would be lost. ` +
      `Read showed only lines ${range.from} to ${range.to}, or it cut a long line. ` +
      "Read all of it first, or change parts of it with Edit.",
    "not read completely",
  );
}

/**
 * Encodes content like the existing file. If the line ends of that file are uniform, uses them too, because
 * Read does not show line ends.
 */
function encodeLike(before: Buffer | undefined, content: string): Buffer {
  const old = before === undefined ? undefined : decodeText(before);
  if (old === undefined) return Buffer.from(content);
  const bare = old.form.mark.length > 0 ? content.replace(/^\ufeff/, "") : content;
  return encodeText(keepsCrlf(old.text, content) ? withCrlf(bare) : bare, old.form);
}

const keepsCrlf = (old: string, content: string): boolean =>
  lineEndsOf(old) === "crlf" && !content.includes("\r");

function keptWords(before: Buffer, content: string): string {
  const isKept = keepsCrlf(decodeText(before)?.text ?? "", content);
  return isKept ? " Its lines still end in CRLF." : "";
}
