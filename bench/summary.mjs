// Compares the cost of the built-in summary with the cost of reading the session, which is the minimum cost
// of any summary.
import { basename } from "node:path";
import { estimateTokens } from "@longhaul/core";
import { summarize } from "@longhaul/core/summary";
import { loadSession } from "@longhaul/sessions";
import { createDemoSession } from "../packages/simulator/src/demo-session.ts";
import { claim } from "./claims.mjs";
import { collectGarbage, median, medianMs } from "./measure.mjs";
import { MISSING, realSessions } from "./real-sessions.mjs";
import { megabytes, milliseconds, table, times } from "./table.mjs";

const MAX_TIMES = 2;
/** Number of rounds. Each round parses and summarizes, so that a busy moment of the machine affects both. */
const ROUNDS = 5;
/** Minimum size of a session. For smaller sessions, fixed costs dominate and opening is instant anyway. */
const SMALLEST_BYTES = 500_000;

const parseAll = (lines) => {
  let entries = 0;
  for (const line of lines) if (JSON.parse(line)) entries++;
  return entries;
};

export async function run({ isQuick }) {
  const demo = createDemoSession();
  const sessions = [{ name: "demo session", file: demo, entries: demo }];
  for (const path of realSessions()) {
    const { entries: file, conversation } = await loadSession(path);
    sessions.push({ name: basename(path, ".jsonl"), file, entries: conversation });
  }
  const rows = [];
  for (const session of sessions) {
    const row = await measureSession(session, isQuick ? 60 : 150);
    if (row) rows.push(row);
  }
  const worst = rows.reduce((a, b) => (b.ratio > a.ratio ? b : a));
  const text = table(
    "The built-in summary against JSON.parse of the session's file",
    ["session", "entries", "size", "JSON.parse", "summarize", "ratio", "summary tokens"],
    rows.map(({ cells }) => ({ cells })),
    ["Summarized is the conversation from the last boundary on, as a compaction does; parsed is every line."],
  );
  return {
    text: rows.length > 1 ? text : text + MISSING,
    claims: [
      claim(
        `summary against JSON.parse, worst of ${rows.length} (${worst.name})`,
        "≤ 2×",
        worst.ratio,
        (r) => r <= MAX_TIMES,
      ),
    ],
  };
}

async function measureSession({ name, file, entries }, budgetMs) {
  const lines = file.map((entry) => JSON.stringify(entry));
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  if (bytes < SMALLEST_BYTES) return undefined;
  const summary = () => summarize(entries, { countTokens: (text) => estimateTokens(text) });
  const parsing = [];
  const summarizing = [];
  for (let round = 0; round < ROUNDS; round++) {
    collectGarbage();
    parsing.push(await medianMs(() => parseAll(lines), { budgetMs }));
    summarizing.push(await medianMs(summary, { budgetMs }));
  }
  const [parseMs, summaryMs] = [median(parsing), median(summarizing)];
  const figures = [
    String(entries.length),
    megabytes(bytes),
    milliseconds(parseMs),
    milliseconds(summaryMs),
    times(summaryMs / parseMs),
    String(summary().tokens),
  ];
  return { name, ratio: summaryMs / parseMs, cells: [name, ...figures] };
}
