import {
  contentText,
  field,
  filePathIn,
  fileUseOf,
  listField,
  numberField,
  stringField,
  writesWholeFile,
} from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { indexPairs, type ToolPair } from "@longhaul/core/messages";
import type { FileAnswer, ProjectFiles } from "@longhaul/core/restore";

/**
 * The project's files, reconstructed from a session up to the current round. Contains the files that the
 * agent read or wrote in full, with all later edits. The files on this machine are not used, because they may
 * have changed or may not exist.
 */
export class SessionFiles implements ProjectFiles {
  readonly #texts = new Map<string, string>();

  async read(path: string): Promise<FileAnswer> {
    const text = this.#texts.get(path);
    if (text === undefined) return { state: "unavailable", reason: "gone" };
    return { state: "read", text, displayPath: path };
  }

  /** Adds whole rounds, because a call and its result are needed together. */
  add(entries: readonly Entry[]): void {
    for (const pair of indexPairs(entries).pairs.values()) this.#call(pair);
  }

  #call({ name, use, results }: ToolPair): void {
    const [result] = results;
    const { input } = use.block;
    const path = filePathIn(input);
    const fileUse = fileUseOf(name, input);
    if (path === undefined || fileUse === undefined || result === undefined) return;
    if (result.block.is_error === true) return;
    const outcome: unknown = result.entry.toolUseResult;
    const text =
      fileUse === "read"
        ? readWhole(input, outcome, contentText(result.block.content))
        : this.#changed(path, name, input, outcome);
    if (text !== undefined) this.#texts.set(path, text);
  }

  #changed(path: string, tool: string, input: unknown, outcome: unknown): string | undefined {
    if (writesWholeFile(tool, input)) return stringField(input, "content") ?? stringField(input, "file_text");
    const before = stringField(outcome, "originalFile") ?? this.#texts.get(path);
    const edits = [input, ...listField(input, "edits")];
    return before === undefined ? undefined : edits.reduce<string>(withEdit, before);
  }
}

function withEdit(text: string, edit: unknown): string {
  const was = stringField(edit, "old_string") ?? stringField(edit, "old_str");
  const now = stringField(edit, "new_string") ?? stringField(edit, "new_str");
  if (!was || now === undefined) return text;
  return field(edit, "replace_all") === true ? text.replaceAll(was, () => now) : text.replace(was, () => now);
}

const LINE_NUMBER = /^ *\d+[→\t]/;

/** Returns the text of a file that the agent read. Undefined if the agent read only a part of the file. */
function readWhole(input: unknown, outcome: unknown, shown: string): string | undefined {
  const file = field(outcome, "file");
  const content = stringField(file, "content");
  if (content !== undefined) {
    return numberField(file, "numLines") === numberField(file, "totalLines") ? content : undefined;
  }
  if (field(input, "offset") !== undefined || field(input, "limit") !== undefined) return undefined;
  const lines = shown.split("\n").filter((line) => LINE_NUMBER.test(line));
  return lines.length === 0 ? undefined : lines.map((line) => line.replace(LINE_NUMBER, "")).join("\n");
}
