// Measures the time until a line is durably on disk.
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openTranscript } from "@longhaul/sessions";
import { median } from "./measure.mjs";
import { conversationOf } from "./session.mjs";
import { milliseconds, table } from "./table.mjs";

const REPETITIONS = 100;
const LINES_TOGETHER = 32;

export async function measureAppends(folder) {
  const { entries } = conversationOf(50_000);
  const one = [entries.find((entry) => entry.type === "assistant")];
  const many = entries.slice(0, LINES_TOGETHER);
  const transcript = await openTranscript(join(folder, "appended.jsonl"));
  const plain = openSync(join(folder, "plain.jsonl"), "a");
  const appendPlainly = (list) => {
    writeSync(plain, `${list.map((entry) => JSON.stringify(entry)).join("\n")}\n`);
    fdatasyncSync(plain);
  };
  const rows = [
    {
      name: "longhaul append (locked, checked, durable)",
      ours: true,
      append: (list) => transcript.append(list),
    },
    { name: "write + fdatasync (reference)", append: appendPlainly },
  ];
  for (const row of rows)
    row.cells = [row.name, milliseconds(await time(row, one)), milliseconds(await time(row, many))];
  await transcript.close();
  closeSync(plain);
  return table("Adding to a session, durably", ["way", "one line", `${LINES_TOGETHER} lines at once`], rows);
}

async function time({ append }, list) {
  const times = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const startedAt = performance.now();
    await append(list);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}
