import { z } from "zod";
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import type { FileProblem } from "../../workplace/file-contents.ts";
import { fingerprintOf } from "../../workplace/seen-files.ts";
import type { FileContent, ResolvedPath, SeenFile } from "../../workplace.ts";
import {
  currentFile,
  type FilePlace,
  missingWords,
  needsForReading,
  pathInput,
  pathInTitle,
} from "./file-place.ts";
import { type DecodedText, decodeText, lineEndsOf } from "./file-text.ts";
import { readMedia } from "./read-media.ts";

/** Default number of lines. Most files are shorter. For longer files, the result says how to continue. */
const DEFAULT_LINES = 2_000;
/** Maximum length of a result: about 15,000 tokens. One turn needs space for several reads. */
const MAX_RESULT_CHARS = 50_000;
/** Characters that are reserved for the notes after the lines. */
const NOTES_CHARS = 1_000;
/**
 * Maximum length of a line. Longer lines are data or generated code. Their beginning is enough to recognize
 * them.
 */
const MAX_LINE_CHARS = 2_000;
const NUMBER_WIDTH = 6;

const inputSchema = z.object({
  file_path: pathInput,
  offset: z.int().min(0).optional().describe("The first line to show, counted from 1."),
  limit: z.int().min(1).optional().describe(`How many lines to show. Default: ${DEFAULT_LINES}.`),
});

type ReadInput = z.infer<typeof inputSchema>;

const DESCRIPTION = `Shows a file. Each line of a text file starts with its line number and a tab, which are not part of the file. \
Without a range, Read shows the first ${DEFAULT_LINES} lines and says what it left out and how to get the rest. Lines over \
${MAX_LINE_CHARS} characters are cut. You see images (PNG, JPEG, GIF, WebP) and short PDFs directly. \
Read a file before you change it with Edit or Write. Use Glob for folders. You can read several files in one turn.`;

export function readTool(place: FilePlace): Tool {
  return defineTool({
    name: "Read",
    description: DESCRIPTION,
    input: inputSchema,
    isReadOnly: true,
    title: ({ file_path, offset, limit }) => pathInTitle(place, file_path) + rangeInTitle(offset, limit),
    needs: ({ file_path }) => needsForReading(place, file_path),
    call: (input, context) => read(place, input, context),
  });
}

function rangeInTitle(offset: number | undefined, limit: number | undefined): string {
  if (offset === undefined && limit === undefined) return "";
  const from = Math.max(1, offset ?? 1);
  return limit === undefined ? ` from line ${from}` : `, lines ${from} to ${from + limit - 1}`;
}

async function read(place: FilePlace, input: ReadInput, context: ToolContext): Promise<ToolOutcome> {
  const file = await place.paths.resolve(input.file_path);
  const found = await currentFile(place, file);
  if (found.state === "missing") return failure(await missingWords(place, file), "not found");
  if (found.state === "unusable") {
    const summary = found.reason === "folder" ? "a folder" : "not readable";
    return failure(`${file.displayPath} cannot be used: ${found.why}.${HINTS[found.reason] ?? ""}`, summary);
  }
  // After an abort nobody receives the content, so it must not count as seen.
  context.signal.throwIfAborted();
  const { bytes } = found.content;
  const media = readMedia(bytes);
  if (media !== undefined) {
    if ("refusal" in media)
      return failure(`${file.displayPath} cannot be shown. ${media.refusal}`, "not shown");
    const words = `${file.displayPath}: ${media.words}`;
    return { content: [{ type: "text", text: words }, media.block], summary: media.words, display: words };
  }
  const decoded = decodeText(bytes);
  if (decoded === undefined) return failure(noText(file, bytes), "not a text file");
  return showText(place, { file, content: found.content, decoded, input, callId: context.callId });
}

const HINTS: Readonly<Partial<Record<FileProblem, string>>> = {
  folder: ' To list its content, call Glob with the pattern "*" and this path.',
  "too-large": " Grep searches its content. A command such as sed -n '1,200p' shows parts.",
};

const noText = ({ displayPath }: ResolvedPath, bytes: Buffer): string =>
  `${displayPath} is not a text file: ${bytes.length.toLocaleString("en")} bytes in a format that Read does not show. Read shows text in UTF-8, ` +
  "text in UTF-16 with a byte order mark, PNG, JPEG, GIF, WebP, and PDF. A command such as file, strings, or xxd can show more.";

interface TextToShow {
  readonly file: ResolvedPath;
  readonly content: FileContent;
  readonly decoded: DecodedText;
  readonly input: ReadInput;
  readonly callId: string;
}

function showText(place: FilePlace, { file, content, decoded, input, callId }: TextToShow): ToolOutcome {
  const { realPath, displayPath } = file;
  const seen = { fingerprint: fingerprintOf(content.bytes), mtimeMs: content.mtimeMs, callId };
  if (content.bytes.length === 0) {
    place.reads.saw(realPath, { ...seen, range: undefined });
    return { content: `${displayPath} exists and is empty.`, summary: "empty" };
  }
  const from = Math.max(1, input.offset ?? 1);
  const maxChars = Math.min(MAX_RESULT_CHARS, place.resultLimit()) - NOTES_CHARS;
  const lines = numberedLines(decoded.text, { from, maxLines: input.limit ?? DEFAULT_LINES, maxChars });
  if (lines.to < from) {
    const words = `${displayPath} has ${lines.totalLines} lines, so line ${from} does not exist.`;
    return failure(words, "past the end of the file");
  }
  const isWhole = from === 1 && lines.to === lines.totalLines;
  const range = isWhole ? undefined : { from, to: lines.to };
  const before = place.reads.get(realPath);
  if (before !== undefined && isSameContent(before, { ...seen, range }))
    return unchanged(place, file, before);
  // With a cut line, the agent has not seen the whole file.
  const sight = lines.cut.length > 0 ? { from, to: lines.to } : range;
  place.reads.saw(realPath, { ...seen, range: sight });
  const notes = notesOn(lines, decoded);
  return {
    content: notes === "" ? lines.text : `${lines.text}\n\n${notes}`,
    summary: isWhole ? `${lines.totalLines} ${lines.totalLines === 1 ? "line" : "lines"}` : inWords(lines),
  };
}

function isSameContent(before: SeenFile, now: SeenFile): boolean {
  return (
    before.callId !== undefined &&
    before.fingerprint === now.fingerprint &&
    before.range?.from === now.range?.from &&
    before.range?.to === now.range?.to
  );
}

/**
 * Creates the result for a file that is still in the context. The first words of the result tell the engine
 * that the content is missing. The next read returns the content. Otherwise an agent that lost the content
 * would repeat the call forever.
 */
function unchanged(
  { reads }: FilePlace,
  { realPath, displayPath }: ResolvedPath,
  before: SeenFile,
): ToolOutcome {
  reads.saw(realPath, { ...before, callId: undefined });
  const part = before.range === undefined ? "all of it" : `lines ${before.range.from} to ${before.range.to}`;
  return {
    content:
      `File unchanged since you read it: ${displayPath}, ${part}. The result of that earlier Read (${before.callId}) ` +
      "is still in your context and still correct, so it is not repeated here.",
    summary: "unchanged since it was read",
  };
}

const inWords = ({ from, to, totalLines }: NumberedLines): string =>
  `lines ${from} to ${to} of ${totalLines}`;

/** Describes the parts that are not shown, and how to read them. */
function notesOn(lines: NumberedLines, { text, form, isExact }: DecodedText): string {
  const { from, to, totalLines, cut } = lines;
  const notes: string[] = [];
  if (to < totalLines) notes.push(`These are ${inWords(lines)}. Continue with offset ${to + 1}.`);
  else if (from > 1) notes.push(`These are ${inWords(lines)}, the end of the file.`);
  const [first] = cut;
  if (first !== undefined) {
    const which =
      cut.length === 1
        ? `Line ${first.line} has ${first.chars} characters and is cut at ${MAX_LINE_CHARS}.`
        : `${cut.length} lines are cut at ${MAX_LINE_CHARS} characters. The first of them, line ${first.line}, has ${first.chars}.`;
    notes.push(
      `${which} To read more of it: sed -n '${first.line}p' FILE | cut -c ${MAX_LINE_CHARS + 1}-${2 * MAX_LINE_CHARS}`,
    );
  }
  const ends = lineEndsOf(text);
  if (ends === "crlf") notes.push("Its lines end in CRLF. Edit and Write keep that.");
  if (ends === "mixed") notes.push("Some of its lines end in CRLF, others in LF. Edit keeps that.");
  if (form.encoding !== "utf-8")
    notes.push(`It is in ${form.encoding.toUpperCase()}. Edit and Write keep that.`);
  if (!isExact)
    notes.push("Some bytes are not valid UTF-8 and are shown as \ufffd. Edit does not change them.");
  if (to === totalLines && !text.endsWith("\n")) notes.push("Its last line has no line ending.");
  return notes.map((note) => `[${note}]`).join("\n");
}

interface NumberedLines {
  readonly text: string;
  readonly from: number;
  /** Last line shown. Less than `from` if no line is shown. */
  readonly to: number;
  readonly totalLines: number;
  /** Lines that are cut, with their full lengths. */
  readonly cut: readonly { readonly line: number; readonly chars: number }[];
}

/** Returns numbered lines from `from`, as many as the limits allow, but at least one. */
function numberedLines(
  text: string,
  {
    from,
    maxLines,
    maxChars,
  }: { readonly from: number; readonly maxLines: number; readonly maxChars: number },
): NumberedLines {
  const shown: string[] = [];
  const cut: { line: number; chars: number }[] = [];
  let line = 0;
  let chars = 0;
  let isFull = false;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const next = end === -1 ? text.length : end + 1;
    line += 1;
    if (line >= from && !isFull && shown.length < maxLines) {
      const whole = text.slice(start, end === -1 ? text.length : end).replace(/\r$/, "");
      const row = `${String(line).padStart(NUMBER_WIDTH)}\t${beginningOf(whole)}`;
      isFull = shown.length > 0 && chars + row.length + 1 > maxChars;
      if (!isFull) {
        shown.push(row);
        chars += row.length + 1;
        if (whole.length > MAX_LINE_CHARS) cut.push({ line, chars: whole.length });
      }
    }
    start = next;
  }
  return { text: shown.join("\n"), from, to: from + shown.length - 1, totalLines: line, cut };
}

/** Returns the beginning of a line. Avoids half a surrogate pair at the cut, which would be invalid text. */
const beginningOf = (line: string): string =>
  line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}…`;
