// Measures two things: opening session files of several sizes, each in a separate process, and durable
// appends to a file.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { measureAppends } from "./append.mjs";
import { claim } from "./claims.mjs";
import { median } from "./measure.mjs";
import { versionOf } from "./peers/version.mjs";
import { writePiSession, writeSession } from "./session-files.mjs";
import { megabytes, milliseconds, table } from "./table.mjs";

const SIZES = [10e6, 100e6, 500e6];
const CHILD = fileURLToPath(new URL("open-child.mjs", import.meta.url));
const MAX_LOAD = 1.2;
const MAX_RESUME = 2;
/**
 * A run that takes longer than `SLOW_MS` is not repeated. Faster runs repeat until their total reaches
 * `ENOUGH_MS`.
 */
const SLOW_MS = 5_000;
const ENOUGH_MS = 2_000;
const FEWEST_RUNS = 3;
const MAX_RUNS = 9;
/** Heap size of a process. Reading the largest file at once takes gigabytes. */
const HEAP = "--max-old-space-size=6144";

const execute = promisify(execFile);

function ways() {
  const list = [
    { key: "load", name: "longhaul loadSession (whole)", ours: true },
    { key: "resume", name: "longhaul resumeSession (from the end)", ours: true },
    { key: "read-all", name: "read all, split, JSON.parse" },
    { key: "readline", name: "readline, JSON.parse" },
    { key: "chunks", name: "1 MB chunks, JSON.parse (reference)" },
    { key: "backwards", name: "back to the last boundary (reference)" },
  ];
  try {
    const version = versionOf("@mariozechner/pi-coding-agent");
    return [...list, { key: "pi", name: `pi's session manager (${version})`, write: writePiSession }];
  } catch {
    return list;
  }
}

export async function run({ isQuick }) {
  const sizes = isQuick ? SIZES.slice(0, 2) : SIZES;
  const rows = ways().map((way) => ({ ...way, results: [] }));
  const folder = mkdtempSync(join(tmpdir(), "longhaul-bench-"));
  try {
    for (const size of sizes) await measureSize(rows, size, folder);
    const appends = await measureAppends(folder);
    return { text: [report(rows), appends].join("\n"), claims: claimsOf(rows) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureSize(rows, size, folder) {
  const path = join(folder, "session.jsonl");
  for (const write of [writeSession, writePiSession]) {
    const concerned = rows.filter((row) => (row.write ?? writeSession) === write);
    if (concerned.length === 0) continue;
    await write(path, size);
    const samples = new Map(concerned.map((row) => [row, []]));
    // Interleaves the rows, so that a busy moment of the machine affects all of them.
    for (let round = 0; round < MAX_RUNS; round++) {
      for (const [row, taken] of samples) if (!isEnough(taken)) taken.push(await openOnce(row, path));
    }
    for (const [row, taken] of samples) {
      const figure = (name) => median(taken.map((sample) => sample[name]));
      row.results.push({ bytes: statSync(path).size, ms: figure("ms"), peakBytes: figure("peakBytes") });
    }
    rmSync(path);
  }
}

function isEnough(taken) {
  const spent = taken.reduce((sum, { ms }) => sum + ms, 0);
  return taken.length >= (spent > ENOUGH_MS ? FEWEST_RUNS : MAX_RUNS) || taken[0]?.ms > SLOW_MS;
}

/**
 * Opens a file once. Returns infinite figures for a library that fails, for example because it reads more
 * than half a gigabyte into one string.
 */
async function openOnce({ key, ours }, path) {
  try {
    const { stdout } = await execute(process.execPath, [HEAP, CHILD, key, path]);
    const sample = JSON.parse(stdout);
    if (!(sample.entries > 0)) throw new Error(`'${key}' found nothing in the file`);
    return sample;
  } catch (error) {
    if (ours) throw error;
    return { ms: Number.POSITIVE_INFINITY, peakBytes: Number.POSITIVE_INFINITY };
  }
}

const rowOf = (rows, key) => rows.find((row) => row.key === key);

function report(rows) {
  const sizes = rows[0].results.map(({ bytes }) => megabytes(bytes));
  const cells = ({ results }) =>
    results.flatMap(({ ms, peakBytes }) =>
      Number.isFinite(ms) ? [milliseconds(ms), megabytes(peakBytes)] : ["fails", ""],
    );
  return table(
    "Opening a session file: time, and peak memory of the process",
    ["way", ...sizes.flatMap((size) => [size, "memory"])],
    rows.map((row) => ({ ours: row.ours, cells: [row.name, ...cells(row)] })),
    [
      "Loading of modules not timed; about 45 MB of every figure is Node itself. The file is in the system's cache.",
    ],
  );
}

function claimsOf(rows) {
  const figures = (ours, reference, figure) =>
    rowOf(rows, ours).results.map((result, index) => ({
      size: megabytes(result.bytes),
      ratio: result[figure] / rowOf(rows, reference).results[index][figure],
    }));
  const claimed = (what, most, { size, ratio }) =>
    claim(`${what}, ${size}`, `≤ ${most}×`, ratio, (r) => r <= most);
  return [
    ...figures("load", "chunks", "ms").map((figure) =>
      claimed("loadSession against chunked reading", MAX_LOAD, figure),
    ),
    claimed(
      "resumeSession against backward scan, time",
      MAX_RESUME,
      figures("resume", "backwards", "ms").at(-1),
    ),
    claimed(
      "resumeSession against backward scan, memory",
      MAX_RESUME,
      figures("resume", "backwards", "peakBytes").at(-1),
    ),
  ];
}
