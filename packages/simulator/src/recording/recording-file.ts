import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { LonghaulError } from "@longhaul/core/errors";
import {
  checkedExchange,
  isRecordingHeader,
  RECORDING_HEADER,
  type RecordedExchange,
} from "./exchange-record.ts";

/** Only the user may read a recording, because it contains conversations. */
const PRIVATE = 0o600;
const NEW_LINE = 0x0a;

/** A recording that grows. A line is on the disk when `append` returns. */
export class RecordingWriter {
  readonly #file: FileHandle;
  /** End of the last write. Appends run one after another. */
  #written: Promise<void> = Promise.resolve();
  /** True if a crash or a full disk left the last line incomplete. Readers skip such a line. */
  #isLineOpen = false;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates the file, or continues a recording. Refuses a file that is not a recording. */
  static async open(path: string): Promise<RecordingWriter> {
    const file = await open(path, "a+", PRIVATE).catch((error: unknown) => {
      throw unusable(path, reasonOf(error), error);
    });
    try {
      const { size } = await checkedStat(path, file);
      if (size > 0) await checkHeader(path, file);
      await file.chmod(PRIVATE);
      const writer = new RecordingWriter(file);
      if (size === 0) await writer.#write(`${JSON.stringify(RECORDING_HEADER)}\n`);
      else writer.#isLineOpen = (await lastByte(file, size)) !== NEW_LINE;
      return writer;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  append(exchange: RecordedExchange): Promise<void> {
    const line = `${JSON.stringify(exchange)}\n`;
    const written = this.#written.then(() => this.#write(line));
    this.#written = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.#written;
    await this.#file.close();
  }

  /** Writes a line with one call of the system, so that the lines of two recorders do not mix. */
  async #write(line: string): Promise<void> {
    let rest = Buffer.from(this.#isLineOpen ? `\n${line}` : line);
    this.#isLineOpen = true;
    while (rest.length > 0) {
      const { bytesWritten } = await this.#file.write(rest);
      rest = rest.subarray(bytesWritten);
    }
    this.#isLineOpen = false;
    await this.#file.datasync();
  }
}

async function checkedStat(path: string, file: FileHandle): Promise<{ readonly size: number }> {
  const stat = await file.stat();
  if (!stat.isFile()) throw unusable(path, "it is not a regular file");
  return stat;
}

async function lastByte(file: FileHandle, size: number): Promise<number | undefined> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0];
}

/** Length of the first line with some room. */
const HEADER_BYTES = 200;

async function checkHeader(path: string, file: FileHandle): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  const [line = ""] = buffer.subarray(0, bytesRead).toString().split("\n");
  if (!isRecordingHeader(parsed(line))) throw unusable(path, NOT_A_RECORDING);
}

const NOT_A_RECORDING = "its first line is not that of a recording";

/** The content of a recording. */
export interface Recording {
  readonly exchanges: readonly RecordedExchange[];
  /** Number of lines that are not JSON. A crash while recording leaves one. */
  readonly damagedLines: number;
}

export async function readRecording(path: string): Promise<Recording> {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unusable(path, reasonOf(error), error);
  });
  const exchanges: RecordedExchange[] = [];
  let damagedLines = 0;
  let number = 0;
  try {
    await checkedStat(path, file);
    for await (const bytes of linesOf(file)) {
      number++;
      if (bytes === undefined) throw unusable(path, `line ${number} is too long`);
      const line = bytes.toString();
      if (number === 1) {
        if (!isRecordingHeader(parsed(line))) throw unusable(path, NOT_A_RECORDING);
        continue;
      }
      if (line === "") continue;
      const json = parsed(line);
      if (json === undefined) {
        damagedLines++;
        continue;
      }
      // A second recorder that created the file at the same time wrote its own header.
      if (isRecordingHeader(json)) continue;
      const exchange = checkedExchange(json);
      if (typeof exchange === "string") throw unusable(path, `line ${number} is wrong: ${exchange}`);
      exchanges.push(exchange);
    }
  } finally {
    await file.close();
  }
  if (number === 0) throw unusable(path, "it is empty");
  return { exchanges, damagedLines };
}

/** Longest line in bytes. A longer one does not fit into a string. */
const MAX_LINE_BYTES = 500_000_000;

/**
 * Returns the lines of a file, and undefined in place of one that is too long. The module `node:readline` also
 * splits lines at U+2028, which JSON does not escape.
 */
async function* linesOf(file: FileHandle): AsyncGenerator<Buffer | undefined> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(NEW_LINE); end >= 0; end = rest.indexOf(NEW_LINE)) {
      yield Buffer.concat([...pieces, rest.subarray(0, end)]);
      rest = rest.subarray(end + 1);
      pieces = [];
      bytes = 0;
    }
    pieces.push(rest);
    bytes += rest.length;
    if (bytes > MAX_LINE_BYTES) {
      yield undefined;
      return;
    }
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "you have no permission to open it",
};

function reasonOf(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return SYSTEM_REASONS[code] ?? message;
}

const unusable = (path: string, why: string, cause?: unknown): LonghaulError =>
  new LonghaulError("recording-unusable", `The recording ${path} is not usable: ${why}.`, {
    remedy: "Pass a file that longhaul sim --record wrote, or a new name to record.",
    facts: { path },
    cause,
  });
