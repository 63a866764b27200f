// Compares what an agent still knows after compactions by longhaul and by other libraries.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { evaluationCells, evaluationHead } from "./fidelity/cells.mjs";
import { MISSING } from "./real-sessions.mjs";
import { table } from "./table.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
/** Room for the output of the child. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

export async function run({ isQuick }) {
  const { rows, missing, recorded, summaryTokens } = evaluateInChild(isQuick);
  const chains = [...new Set(rows.map(({ chain }) => chain))];
  const material = recorded === 0 ? "the generated session" : `${recorded} recorded sessions`;
  const tables = chains.map((chain) => {
    const own = rows.filter((row) => row.chain === chain);
    const title = `Fidelity after ${chain} compaction${chain === 1 ? "" : "s"}, ${material}`;
    return table(
      title,
      ["policy", "version", ...evaluationHead, ...CHECK_HEAD],
      own.map(rowOf),
      notesOf(own),
    );
  });
  const notes = [
    `The same simulated model writes up to ${summaryTokens} tokens for each request of a library.`,
    ...missing.map(({ file, reason }) => `not installed: ${file} (${reason})`),
  ].map((note) => `  ${note}`);
  return { text: [...tables, ...notes].join("\n") + (recorded === 0 ? MISSING : ""), claims: [] };
}

const CHECK_HEAD = ["fit", "problems"];

function rowOf(row) {
  const problems = Object.values(row.problems).reduce((all, count) => all + count, 0);
  const checks = [`${row.fitting} of ${row.sessions}`, String(problems)];
  return {
    ours: row.name.startsWith("longhaul"),
    cells: [row.name, row.version, ...evaluationCells(row.evaluation), ...checks],
  };
}

/** Names the broken rules, and the errors of libraries. */
function notesOf(rows) {
  return rows.flatMap(({ name, problems, failures, stillFull }) => [
    ...(stillFull > 0 ? [`${name}: ${stillFull} results at or above the threshold`] : []),
    ...Object.entries(problems).map(([rule, count]) => `${name}: ${rule}, ${count} times`),
    ...failures.map((failure) => `${name} failed: ${failure}`),
  ]);
}

function evaluateInChild(isQuick) {
  const args = ["-C", "@longhaul/source", "--import", "tsx", at("fidelity/child.mjs")];
  const { status, stdout } = spawnSync(process.execPath, [...args, ...(isQuick ? ["--quick"] : [])], {
    cwd: at(".."),
    encoding: "utf8",
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error("bench: the fidelity evaluation failed, see above");
  return JSON.parse(stdout);
}
