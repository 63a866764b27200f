import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { headOf, tailOf } from "@longhaul/core/messages";
import type { ShellOutput } from "../../workplace.ts";
import { TerminalText } from "./terminal-text.ts";

const PROGRESS_LINE_CHARS = 200;

interface OutputOptions {
  /** Maximum characters of one read. */
  readonly shownChars: number;
  readonly file: OutputFile;
  /**
   * True if the output is read more than once. The file then also keeps the parts that earlier reads
   * returned.
   */
  readonly isKeptFromStart: boolean;
  readonly onLine?: ((line: string) => void) | undefined;
}

/** Output of a command. The model gets a part of a long output, and a file contains all of it. */
export class CommandOutput {
  readonly #options: OutputOptions;
  readonly #decoder = new StringDecoder("utf8");
  readonly #terminal = new TerminalText();
  #shown: CappedText;
  #isInFile: boolean;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#shown = new CappedText(options.shownChars);
    this.#isInFile = options.isKeptFromStart;
  }

  /** Adds a piece. Resolves when the next piece can be added. */
  async add(bytes: Buffer): Promise<void> {
    const settled = this.#terminal.add(this.#decoder.write(bytes));
    const written = this.#keep(settled);
    this.#tellLine(settled);
    await written;
  }

  async look(): Promise<ShellOutput> {
    await this.#keep(this.#terminal.flush());
    await this.#options.file.settled();
    const shown = this.#shown;
    this.#shown = new CappedText(this.#options.shownChars);
    return { text: shown.render((leftOut) => this.#leftOutWords(leftOut)), lines: shown.lines };
  }

  /** Ends the output. */
  async finish(): Promise<void> {
    await this.#keep(this.#terminal.add(this.#decoder.end()) + this.#terminal.flush());
    await this.#options.file.close();
  }

  async #keep(text: string): Promise<void> {
    if (text === "") return;
    const before = this.#shown;
    if (this.#isInFile) {
      before.add(text);
      return this.#options.file.write(text);
    }
    if (before.length + text.length <= this.#options.shownChars) return before.add(text);
    this.#isInFile = true;
    const earlier = before.render(() => "");
    before.add(text);
    return this.#options.file.write(earlier + text);
  }

  #leftOutWords({ characters, lines }: LeftOut): string {
    return `\n[… ${characters} characters (${lines} lines) are left out here. ${this.#options.file.words} …]\n`;
  }

  #tellLine(settled: string): void {
    const { onLine } = this.#options;
    if (onLine === undefined) return;
    const near = settled.slice(-2 * PROGRESS_LINE_CHARS) + this.#terminal.line.slice(0, PROGRESS_LINE_CHARS);
    const line = near.trimEnd().split("\n").at(-1)?.trim().slice(0, PROGRESS_LINE_CHARS) ?? "";
    if (line !== "") onLine(line.toWellFormed());
  }
}

interface LeftOut {
  readonly characters: number;
  readonly lines: number;
}

/**
 * Share of a cut output that comes from its beginning. Errors are at the end more often than at the
 * beginning.
 */
const HEAD_SHARE = 1 / 3;

/** Beginning and end of a text of any length, in bounded memory. */
export class CappedText {
  readonly #limit: number;
  #head = "";
  #tail = "";
  #length = 0;
  #lineEnds = 0;
  #last = "";

  constructor(limitChars: number) {
    this.#limit = limitChars;
  }

  get length(): number {
    return this.#length;
  }

  get lines(): number {
    return this.#lineEnds + (this.#last === "" || this.#last === "\n" ? 0 : 1);
  }

  add(text: string): void {
    if (text === "") return;
    if (this.#head.length < this.#limit) this.#head += text.slice(0, this.#limit - this.#head.length);
    this.#tail += text;
    // Cuts the text only at twice the limit. A piece can be a single character, so cutting after each piece
    // would be slow.
    if (this.#tail.length > 2 * this.#limit) this.#tail = this.#tail.slice(-this.#limit);
    this.#length += text.length;
    this.#lineEnds += lineEndsIn(text);
    this.#last = text.slice(-1);
  }

  /** Returns all text, or the beginning and the end with a note between them. Never exceeds the limit. */
  render(words: (leftOut: LeftOut) => string): string {
    if (this.#length <= this.#limit) return this.#head;
    const longest = words({ characters: this.#length, lines: this.lines }).length;
    const room = Math.max(0, this.#limit - longest);
    const head = headOf(this.#head, Math.floor(room * HEAD_SHARE));
    const tail = tailOf(this.#tail, room - head.length);
    const lines = this.#lineEnds - lineEndsIn(head) - lineEndsIn(tail);
    return head + words({ characters: this.#length - head.length - tail.length, lines }) + tail;
  }
}

function lineEndsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** Maximum size of the file. Nobody reads more of a log. An endless command must not fill the disk. */
const LARGEST_FILE_BYTES = 64 * 1024 * 1024;

/**
 * File with the whole output of a command, readable only by the user. Never rejects, because a failed write
 * must not stop the command.
 */
export class OutputFile {
  readonly #folder: () => Promise<string>;
  readonly #name: string;
  readonly #limit: number;
  #handle: FileHandle | undefined;
  #path: string | undefined;
  #bytes = 0;
  #isCut = false;
  #problem: string | undefined;
  #queue: Promise<void> = Promise.resolve();

  constructor(folder: () => Promise<string>, name: string, limitBytes: number = LARGEST_FILE_BYTES) {
    this.#folder = folder;
    this.#name = name;
    this.#limit = limitBytes;
  }

  /** Writes text. Resolves when it is written, so that a waiting caller never gets far ahead of the disk. */
  write(text: string): Promise<void> {
    this.#queue = this.#queue.then(() => this.#append(text));
    return this.#queue;
  }

  /** Resolves when everything passed so far is written. */
  settled(): Promise<void> {
    return this.#queue;
  }

  close(): Promise<void> {
    this.#queue = this.#queue.then(() => this.#handle?.close()).catch(() => undefined);
    return this.#queue;
  }

  /** Describes the file's path and completeness in a sentence without a period. */
  get words(): string {
    if (this.#problem !== undefined) return `The output could not be saved to a file (${this.#problem})`;
    if (this.#isCut)
      return `The first ${Math.floor(this.#limit / 1024 / 1024)} MB of the output are in ${this.#path}`;
    return `The whole output is in ${this.#path}`;
  }

  async #append(text: string): Promise<void> {
    if (this.#isCut || this.#problem !== undefined) return;
    try {
      this.#handle ??= await this.#open();
      const bytes = Buffer.from(text);
      const fitting = wholeCharacters(bytes, this.#limit - this.#bytes);
      await this.#handle.appendFile(fitting);
      this.#bytes += fitting.length;
      this.#isCut = fitting.length < bytes.length;
    } catch (error) {
      this.#problem = error instanceof Error && "code" in error ? String(error.code) : String(error);
    }
  }

  async #open(): Promise<FileHandle> {
    this.#path = join(await this.#folder(), this.#name);
    // Never writes to an existing file or link.
    return open(this.#path, "wx", 0o600);
  }
}

function wholeCharacters(bytes: Buffer, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  let end = limit;
  // Continuation bytes of a character begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}
