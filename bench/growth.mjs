// Measures on recorded sessions how well a count predicts the next count that the provider reports.
import { basename } from "node:path";
import { ContextMeter, ESTIMATORS, measureEntries } from "@longhaul/core/measure";
import { loadSession } from "@longhaul/sessions";
import { claim } from "./claims.mjs";
import { MISSING, realSessions } from "./real-sessions.mjs";
import { signedPercent, table } from "./table.mjs";

/** Number of responses from which the counter learns before its predictions count. */
const RESPONSES_SEEN = 10;
const FEWEST_RESPONSES = 5;
const MAX_ERROR = 0.1;

export async function growthOnRealSessions() {
  const rows = [];
  for (const path of realSessions()) {
    const growth = growthOf(mainThread((await loadSession(path)).entries));
    if (growth.responses >= FEWEST_RESPONSES) rows.push({ name: basename(path, ".jsonl"), ...growth });
  }
  if (rows.length === 0) return { text: MISSING, claims: [] };
  const worst = Math.max(...rows.map((row) => Math.abs(row.predicted / row.reported - 1)));
  return {
    text: table(
      "Counting: growth of the context from response to response, predicted against reported",
      ["recorded session", "responses", "tokens", "longhaul", "chars/4"],
      rows.map(({ name, responses, reported, predicted, quarter }) => ({
        cells: [
          name,
          String(responses),
          reported.toLocaleString("en"),
          signedPercent(predicted / reported - 1),
          signedPercent(quarter / reported - 1),
        ],
      })),
    ),
    claims: [
      claim(
        `growth on ${rows.length} recorded sessions after ten responses, worst`,
        "≤ 10%",
        worst,
        (error) => error <= MAX_ERROR,
        (share) => `${(share * 100).toFixed(1)}%`,
      ),
    ],
  };
}

/**
 * Returns the entries of the main conversation. Subagents of old versions wrote to the same file, and each
 * has a separate context.
 */
function mainThread(entries) {
  const side = entries.filter((entry) => entry.isSidechain === true);
  return side.length * 2 > entries.length ? side : entries.filter((entry) => entry.isSidechain !== true);
}

/**
 * Compares predicted and reported growth. Skips compactions, contexts that shrank because of clearing, and
 * changes of the model. In these cases the file does not show the growth. For example, another model has
 * another prompt and another vocabulary.
 */
function growthOf(entries) {
  const meter = new ContextMeter();
  const sum = { predicted: 0, quarter: 0, reported: 0, responses: 0 };
  let last;
  let seen = 0;
  let sinceLast = [];
  for (const entry of entries) {
    if (entry.type === "system" && entry.subtype === "compact_boundary") last = undefined;
    const input = reportedInput(entry);
    if (input > 0 && entry.message.id !== last?.id) {
      if (last && input > last.input && last.model === entry.message.model && seen >= RESPONSES_SEEN) {
        sum.predicted += meter.size().tokens - last.input;
        sum.quarter += measureEntries(sinceLast, ESTIMATORS.classic);
        sum.reported += input - last.input;
        sum.responses++;
      }
      seen++;
      sinceLast = [];
      last = { id: entry.message.id, model: entry.message.model, input };
    }
    sinceLast.push(entry);
    meter.add(entry);
  }
  return sum;
}

function reportedInput(entry) {
  const { usage, model } = entry.type === "assistant" ? (entry.message ?? {}) : {};
  if (!usage || model === "<synthetic>" || entry.isApiErrorMessage) return 0;
  return usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
}
