const NEWLINE = 0x0a;

/** @param offset where the line starts in the file; @param isComplete false when no newline ends it. */
export type LineHandler = (line: Buffer, offset: number, isComplete: boolean) => void;

/**
 * Cuts a stream of chunks into lines at byte 0x0A, which in UTF-8 is never part of another character.
 * A line is a view into the chunk where possible: the handler must be done with it when it returns.
 */
export class LineSplitter {
  readonly #onLine: LineHandler;
  #carried: Buffer[] = [];
  #offset: number;

  constructor(onLine: LineHandler, offset = 0) {
    this.#onLine = onLine;
    this.#offset = offset;
  }

  /** The chunk may be reused by the caller afterwards. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      this.#emit(this.#carried.length === 0 ? piece : this.#joined(piece), true);
      start = end + 1;
    }
    // Pieces are joined only once, when the line ends: joining at every chunk would be quadratic.
    if (start < chunk.length) this.#carried.push(Buffer.from(chunk.subarray(start)));
  }

  end(): void {
    if (this.#carried.length > 0) this.#emit(this.#joined(), false);
  }

  #joined(last?: Buffer): Buffer {
    const pieces = last === undefined ? this.#carried : [...this.#carried, last];
    this.#carried = [];
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  #emit(line: Buffer, isComplete: boolean): void {
    const offset = this.#offset;
    this.#offset += line.length + (isComplete ? 1 : 0);
    this.#onLine(line, offset, isComplete);
  }
}
