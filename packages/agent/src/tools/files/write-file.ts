import { z } from "zod";
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import type { FileContent, ResolvedPath } from "../../workplace.ts";
import { makeChange, notKnown, textInput } from "./change-file.ts";
import { currentFile, type FilePlace, needsForChange, pathInput, pathInTitle } from "./file-place.ts";
import { decodeText, encodeText, lineEndsOf, withCrlf } from "./file-text.ts";
import { countsIn, diffOf } from "./unified-diff.ts";

const inputSchema = z.object({
  file_path: pathInput,
  content: textInput.describe("The whole content that the file is to have."),
});

type WriteInput = z.infer<typeof inputSchema>;

const DESCRIPTION = `Makes a file, with the folders that it needs, or gives a file a whole new content. \
A file that is there already must have been read whole with Read, and not have changed since. \
To change parts of a file use Edit.`;

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
      "content has half a character (a lone surrogate), which no file can hold. Nothing was written.",
      "wrong input",
    );
  if (found.state === "unusable")
    return failure(`${file.displayPath} was not written: it ${found.words}`, "not written");
  const old = found.state === "there" ? found.content : undefined;
  const refusal = old === undefined ? undefined : whyNot(place, file, old);
  if (refusal !== undefined) return refusal;
  const before = old?.bytes;
  const after = encodeLike(before, input.content);
  if (before?.equals(after))
    return {
      content: `${file.displayPath} has this content already; nothing was changed.`,
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

/** Nothing can be lost of an empty file; of any other the agent must know all. */
function whyNot(place: FilePlace, file: ResolvedPath, content: FileContent): ToolOutcome | undefined {
  const { displayPath } = file;
  if (content.bytes.length === 0) return undefined;
  if (decodeText(content.bytes) === undefined)
    return failure(
      `${displayPath} was not written: what is there is no text. Move it away first if it is not needed.`,
      "no text",
    );
  const unknown = notKnown(place, file, content);
  if (unknown !== undefined) return unknown;
  const range = place.reads.get(file.realPath)?.range;
  if (range === undefined) return undefined;
  return failure(
    `${displayPath} was not written: of what is there you have seen only lines ${range.from} to ${range.to}, or not all of a long line, ` +
      "and the rest would be lost. Read it whole first, or change parts of it with Edit.",
    "not read whole",
  );
}

/** In the encoding of the file that is there, and with its line ends where they are all alike: Read does not show them. */
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
