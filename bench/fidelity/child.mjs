// Evaluates all policies and prints the rows of the tables as JSON. A separate process, because it loads the
// sources of the packages: the evaluation is not published.
// node -C @longhaul/source --import tsx child.mjs [--quick]
import { realSessions } from "../real-sessions.mjs";
import { evaluateAll } from "./evaluate.mjs";
import { loadPeers } from "./peers.mjs";
import { SUMMARY_TOKENS } from "./summary-writer.ts";

/** Share of the sessions that a quick run uses: one of this number. */
const QUICK_EVERY = 4;

const isQuick = process.argv.includes("--quick");
const all = realSessions();
const paths = all.filter((_, at) => !isQuick || at % QUICK_EVERY === 1);
const { create, missing } = await loadPeers();
const onProgress = (text) => process.stderr.write(`bench: ${text}\n`);
const rows = await evaluateAll(paths, create, onProgress);
process.stdout.write(
  JSON.stringify({ rows, missing, recorded: paths.length, summaryTokens: SUMMARY_TOKENS }),
);
