import { readSync } from "node:fs";
import { crc32 } from "node:zlib";

const ENDS_BYTES = 4096;
const SAMPLE_BYTES = 64;
const SAMPLES = 14;

/**
 * Of the first bytes of a session: its two ends, and samples between them. Sessions only ever grow, so that this
 * tells one file from another; hits are compared with what the index says of them besides.
 */
export function fingerprintOf(fd: number, bytes: number): string {
  const sums: number[] = [bytes];
  const add = (from: number, length: number): void => {
    const buffer = Buffer.alloc(Math.max(0, Math.min(length, bytes - from)));
    sums.push(crc32(buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from))));
  };
  add(0, ENDS_BYTES);
  for (let nth = 1; nth <= SAMPLES; nth++) add(Math.floor((bytes / (SAMPLES + 1)) * nth), SAMPLE_BYTES);
  add(Math.max(0, bytes - ENDS_BYTES), ENDS_BYTES);
  return sums.map((sum) => sum.toString(36)).join("-");
}
