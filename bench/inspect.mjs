// Measures the CPU time and the peak memory of a whole `longhaul inspect` process. The session file has many
// short lines.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeLines } from "./session-files.mjs";
import { megabytes, milliseconds, table } from "./table.mjs";

const LINES = 200_000;
const QUICK_LINES = 20_000;
/** Number of lines that fill a window of about 200,000 tokens. */
const LINES_PER_COMPACTION = 600;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

const FILES = [
  { name: "no compaction", linesPerCompaction: Number.POSITIVE_INFINITY },
  { name: "5 compactions", compactions: 5 },
  { name: "a compaction every 600 lines", linesPerCompaction: LINES_PER_COMPACTION },
];

export async function run({ isQuick }) {
  const lines = isQuick ? QUICK_LINES : LINES;
  const folder = mkdtempSync(join(tmpdir(), "longhaul-bench-"));
  try {
    const rows = FILES.map(({ name, compactions, linesPerCompaction }) => {
      const path = join(folder, "session.jsonl");
      writeLines(path, session(lines, linesPerCompaction ?? Math.floor(lines / (compactions + 1))));
      const { cpuMs, peakBytes } = inspect(path);
      return { ours: true, cells: [name, milliseconds(cpuMs), megabytes(peakBytes)] };
    });
    const title = `longhaul inspect --json on ${lines.toLocaleString("en")} lines, as a whole process`;
    return { text: table(title, ["file", "CPU time", "peak memory"], rows), claims: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function inspect(path) {
  const args = [
    "--import",
    at("report-usage.mjs"),
    at("../packages/longhaul/bin/longhaul.js"),
    "inspect",
    path,
    "--json",
  ];
  const { status, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) throw new Error(`longhaul inspect failed: ${stderr}`);
  return JSON.parse(stderr.trim().split("\n").at(-1));
}

/**
 * Generates a session of another agent. Its boundaries have no ledger, so `inspect` must compute the facts
 * before them.
 */
function* session(lines, linesPerCompaction) {
  let parentUuid = null;
  for (let nth = 0; nth < lines; nth++) {
    const uuid = `00000000-0000-4000-8000-${String(nth).padStart(12, "0")}`;
    const timestamp = new Date(Date.UTC(2026, 0, 1) + nth * 1_000).toISOString();
    const line = { parentUuid, isSidechain: false, sessionId: "bench", cwd: "/project", uuid, timestamp };
    parentUuid = uuid;
    const place = nth % linesPerCompaction;
    if (nth > 0 && place === 0) {
      const compactMetadata = { trigger: "auto", preTokens: 160_000 };
      const boundary = { type: "system", subtype: "compact_boundary", content: "Conversation compacted" };
      yield { ...line, ...boundary, parentUuid: null, logicalParentUuid: line.parentUuid, compactMetadata };
    } else if (nth > linesPerCompaction && place === 1) {
      yield {
        ...line,
        type: "user",
        isCompactSummary: true,
        message: { role: "user", content: "A summary." },
      };
    } else yield { ...line, ...message(nth) };
  }
}

/** Creates the nth message of a session that repeats a prompt, a call, its result and an answer. */
function message(nth) {
  const id = `toolu_${nth - (nth % 4)}`;
  const usage = { input_tokens: 4, cache_read_input_tokens: 20_000 + (nth % 100_000), output_tokens: 120 };
  const response = { role: "assistant", model: "claude-sonnet-4-5", id: `msg_${nth}`, usage };
  const words = `line ${nth} of the parser test returns an error when the cache is empty. `.repeat(4);
  const input = { file_path: `/project/src/file-${nth % 500}.ts` };
  switch (nth % 4) {
    case 0:
      return { type: "user", message: { role: "user", content: words } };
    case 1:
      return {
        type: "assistant",
        message: { ...response, content: [{ type: "tool_use", id, name: "Read", input }] },
      };
    case 2:
      return {
        type: "user",
        message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: words }] },
      };
    default:
      return { type: "assistant", message: { ...response, content: [{ type: "text", text: words }] } };
  }
}
