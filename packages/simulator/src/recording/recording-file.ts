import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createInterface } from "node:readline";
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

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates the file, or continues a recording. Refuses a file that is not a recording. */
  static async open(path: string): Promise<RecordingWriter> {
    const file = await open(path, "a+", PRIVATE).catch((error: unknown) => {
      throw unusable(path, (error as Error).message, error);
    });
    try {
      const { size } = await checkedStat(path, file);
      await file.chmod(PRIVATE);
      const writer = new RecordingWriter(file);
      if (size === 0) await writer.#write(`${JSON.stringify(RECORDING_HEADER)}\n`);
      else {
        await checkHeader(path, file);
        // Ends a line that a crash left incomplete. Readers skip such a line.
        if ((await lastByte(file, size)) !== NEW_LINE) await writer.#write("\n");
      }
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

  async #write(text: string): Promise<void> {
    await this.#file.appendFile(text);
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
    throw unusable(path, (error as Error).message, error);
  });
  const exchanges: RecordedExchange[] = [];
  let damagedLines = 0;
  let number = 0;
  try {
    await checkedStat(path, file);
    const input = file.createReadStream({ autoClose: false });
    const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) {
      number++;
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

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const unusable = (path: string, why: string, cause?: unknown): LonghaulError =>
  new LonghaulError("recording-unusable", `The recording ${path} is not usable: ${why}.`, {
    remedy: "Pass a file that longhaul sim --record wrote, or a new name to record.",
    facts: { path },
    cause,
  });
