// Measures three steps of recall: building an index, extending it, and searching it. Compares building with
// one read of the session. Each step runs in a separate process. There is no comparison with other libraries,
// because none of them searches a session offline.
import { execFile } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { claim } from "./claims.mjs";
import { median } from "./measure.mjs";
import { writeSession } from "./session-files.mjs";
import { megabytes, milliseconds, table } from "./table.mjs";

const BYTES = 100e6;
const QUICK_BYTES = 20e6;
const ROUNDS = 5;
const QUICK_ROUNDS = 3;
const GROWTH_BYTES = 1e6;
const MAX_BUILD = 3;
const MAX_ANSWER = 1 / 100;
const QUESTIONS = ["words", "exact", "pattern", "file"];
const CHILD = fileURLToPath(new URL("recall-child.mjs", import.meta.url));
/**
 * Options that give new objects enough room. Without them, garbage from loading the library could be
 * collected during the first answer.
 */
const NO_COLLECTION = ["--min-semi-space-size=64", "--max-semi-space-size=64"];
const execute = promisify(execFile);

export async function run({ isQuick }) {
  const folder = mkdtempSync(join(tmpdir(), "longhaul-bench-"));
  const path = join(folder, "session.jsonl");
  try {
    writeSession(path, isQuick ? QUICK_BYTES : BYTES);
    const samples = await measured(path, isQuick ? QUICK_ROUNDS : ROUNDS);
    return report(samples, statSync(path).size);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures all steps in alternation, so that a busy moment of the machine affects all of them. */
async function measured(path, rounds) {
  const index = path.replace(/jsonl$/, "recall");
  const samples = {
    read: [],
    build: [],
    grow: [],
    ...Object.fromEntries(QUESTIONS.map((name) => [name, []])),
  };
  const step = async (name) => {
    const { stdout } = await execute(process.execPath, [...NO_COLLECTION, CHILD, name, path]);
    samples[name].push(JSON.parse(stdout));
  };
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    rmSync(index, { force: true });
    await step("read");
    await step("build");
    for (const name of QUESTIONS) await step(name);
    bytes = statSync(index).size;
    appendFileSync(path, lastLines(path, GROWTH_BYTES));
    await step("grow");
  }
  return { ...samples, indexBytes: bytes };
}

/** Returns copies of the session's last lines with new ids. The benchmark extends the session with them. */
function lastLines(path, bytes) {
  const file = readFileSync(path);
  const text = file.subarray(file.indexOf(0x0a, file.length - bytes) + 1).toString("utf8");
  const unique = Math.random().toString(16).slice(2, 8);
  return text.replace(/"(uuid|parentUuid)":"[0-9a-f]{6}/g, `"$1":"${unique}`);
}

function report(samples, bytes) {
  const figure = (name, field) => median(samples[name].map((sample) => sample[field]));
  const row = (name, title) => ({
    ours: name !== "read",
    cells: [
      title,
      milliseconds(figure(name, "ms")),
      milliseconds(figure(name, "cpuMs")),
      QUESTIONS.includes(name) ? milliseconds(figure(name, "warmMs")) : "",
    ],
  });
  const ratio = (name, other) => figure(name, "cpuMs") / figure(other, "cpuMs");
  return {
    text: table(
      `Recall: a session of ${megabytes(bytes)}, an index of ${megabytes(samples.indexBytes)}`,
      ["step", "time", "processor", "warm"],
      [
        row("read", "one read, JSON.parse line by line (reference)"),
        row("build", "index built and kept, one question answered"),
        row("grow", "session grown by 1 MB, index brought up to date, one question answered"),
        row("words", "four words, ranked"),
        row("exact", "exact text"),
        row("pattern", "pattern"),
        row("file", "by file"),
      ],
      ["The first call of a process; loading of modules not timed. Warm: the same question again, 20 times."],
    ),
    claims: [
      claim(
        "recall: index against one read with JSON.parse",
        `≤ ${MAX_BUILD}×`,
        ratio("build", "read"),
        (r) => r <= MAX_BUILD,
      ),
      ...QUESTIONS.map((name) =>
        claim(
          `recall: ${name}, cold, of building the index`,
          "≤ 0.01×",
          ratio(name, "build"),
          (r) => r <= MAX_ANSWER,
        ),
      ),
    ],
  };
}
