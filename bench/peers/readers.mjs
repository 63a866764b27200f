// Plain ways to read a file of JSON lines, for comparison. None of them handles damaged files.
import { closeSync, createReadStream, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { createInterface } from "node:readline";

const CHUNK = 1024 * 1024;
const CHUNK_BACKWARDS = 64 * 1024;
const NEWLINE = 0x0a;
const BOUNDARY = Buffer.from('"subtype":"compact_boundary"');

export function readAll(path) {
  const entries = [];
  for (const line of readFileSync(path, "utf8").split("\n")) if (line) entries.push(JSON.parse(line));
  return entries.length;
}

export async function readByReadline(path) {
  const entries = [];
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) if (line) entries.push(JSON.parse(line));
  return entries.length;
}

/**
 * Reads a whole file, as a reference for the other readers. This reader spends nearly all of its time in
 * JSON.parse.
 */
export function readChunks(path) {
  const file = openSync(path, "r");
  const buffer = Buffer.allocUnsafeSlow(CHUNK);
  const entries = [];
  let rest = [];
  const take = (bytes) => {
    if (bytes.length > 0) entries.push(JSON.parse(bytes.toString("utf8")));
  };
  for (let length = readSync(file, buffer); length > 0; length = readSync(file, buffer)) {
    const chunk = buffer.subarray(0, length);
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const line = chunk.subarray(from, at);
      take(rest.length > 0 ? Buffer.concat([...rest, line]) : line);
      rest = [];
      from = at + 1;
    }
    if (from < length) rest.push(Buffer.from(chunk.subarray(from)));
  }
  take(Buffer.concat(rest));
  closeSync(file);
  return entries.length;
}

/**
 * Reads a file as a resume does, for reference. Searches backwards for the line of the last boundary, and
 * parses only the lines after it.
 */
export function readBackwards(path) {
  const file = openSync(path, "r");
  let position = fstatSync(file).size;
  let tail = Buffer.alloc(0);
  let boundary = -1;
  while (position > 0 && boundary === -1) {
    const size = Math.min(CHUNK_BACKWARDS, position);
    position -= size;
    const chunk = Buffer.allocUnsafe(size);
    readSync(file, chunk, 0, size, position);
    // The search overlaps the old tail by the length of `BOUNDARY`, so that it finds a boundary that spans
    // two chunks.
    tail = Buffer.concat([chunk, tail]);
    boundary = tail.subarray(0, size + BOUNDARY.length).lastIndexOf(BOUNDARY);
  }
  closeSync(file);
  const from = boundary === -1 ? 0 : tail.lastIndexOf(NEWLINE, boundary) + 1;
  const lines = tail.toString("utf8", from).split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line)).length;
}
