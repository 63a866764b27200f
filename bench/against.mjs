// Compares the figures of this build with those of another checkout: `npm run bench -- --against FOLDER`.
// Each section runs in a separate process. The two builds alternate, because a machine's speed drifts by more
// than the differences we look for.
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { lowerQuartile, median } from "./measure.mjs";
import { table, times } from "./table.mjs";

/**
 * Limit for the ratio of a row's time to its time in the other build. A row above this limit counts as
 * slower.
 */
const NOTICEABLE = 1.1;
const UNITS = { s: 1000, ms: 1, µs: 0.001, MB: 1, GB: 1000 };
const SEPARATOR = " · ";
const HERE = fileURLToPath(new URL("..", import.meta.url));

/** Measures the sections in both builds and prints every time and size. The other checkout must be built. */
export function compareWith(folder, { sections, rounds, isQuick }) {
  const checkouts = [resolve(folder), HERE];
  const figures = checkouts.map(() => new Map());
  for (let round = 0; round < rounds; round++) {
    for (const section of sections) {
      process.stderr.write(`bench: ${section}, round ${round + 1} of ${rounds} …\n`);
      // The second of two runs finds its files in the system's cache, so the builds take turns to run first.
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
        for (const [row, value] of measured(checkouts[at], section, isQuick))
          figures[at].set(row, [...(figures[at].get(row) ?? []), value]);
      }
    }
  }
  process.stdout.write(`${comparison(...figures, rounds)}\n`);
}

function measured(checkout, section, isQuick) {
  const script = join(checkout, "bench", "run.mjs");
  const options = ["--import", "tsx", script, "--only", section, ...(isQuick ? ["--quick"] : [])];
  const { status, stdout } = spawnSync(process.execPath, options, {
    cwd: checkout,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  if (status !== 0) process.stderr.write(`bench: ${section} fails in ${checkout}, so it is left out\n`);
  return status === 0 ? figuresIn(stdout) : [];
}

/** Returns the times in milliseconds and the sizes in megabytes, by table, row and column. */
function figuresIn(text) {
  const lines = text.split("\n");
  const found = [];
  for (const [at, line] of lines.entries()) {
    if (!line.startsWith("─") || lines[at + 2] !== line) continue;
    const head = cellsOf(lines[at + 1]);
    for (let row = at + 3; lines[row]?.trim(); row++) {
      const cells = cellsOf(lines[row]);
      if (cells.length !== head.length) continue;
      for (const [column, cell] of cells.entries()) {
        const [, number, unit] = /^([\d.]+) (s|ms|µs|MB|GB)$/.exec(cell) ?? [];
        if (unit === undefined || head[column] === "size") continue;
        found.push([[lines[at - 1], cells[0], head[column]].join(SEPARATOR), Number(number) * UNITS[unit]]);
      }
    }
  }
  return found;
}

const cellsOf = (line) =>
  line
    .replace(/^▸/, " ")
    .trim()
    .split(/\s{2,}/);

function comparison(old, now, rounds) {
  const rows = [...now].flatMap(([name, values]) => {
    const before = old.get(name);
    if (before === undefined) return [];
    // Compares the lower quartiles, because other programs disturb the fastest runs least.
    const [was, is] = [lowerQuartile(before), lowerQuartile(values)];
    const [title, ...row] = name.split(SEPARATOR);
    return [{ title, row: row.join(", "), was, is, ratio: is / was }];
  });
  const tables = [...new Set(rows.map(({ title }) => title))].map((title) =>
    table(
      title,
      ["milliseconds or megabytes", "other", "this", "ratio"],
      rows
        .filter((each) => each.title === title)
        .map(({ row, was, is, ratio }) => ({
          ours: ratio > NOTICEABLE,
          cells: [row, was.toPrecision(3), is.toPrecision(3), times(ratio)],
        })),
    ),
  );
  const slower = rows.filter(({ ratio }) => ratio > NOTICEABLE).length;
  return [
    ...tables,
    "",
    `${rounds} rounds in turns. ${slower} of ${rows.length} rows are slower by more than 10% (marked, first).`,
    `The median ratio of all rows is ${times(median(rows.map(({ ratio }) => ratio)))}. Rows of peers show the noise.`,
  ].join("\n");
}
