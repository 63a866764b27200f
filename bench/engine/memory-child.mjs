// Runs many turns and prints the heap size after each part.
// node memory-child.mjs messages|entries TURNS PARTS
import { collectGarbage } from "../measure.mjs";
import { Host } from "./host.mjs";

const WINDOW_TOKENS = 200_000;
/** About 2,000 tokens per turn. */
const RESULT_REPEATS = 100;

const [form, turns, parts] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const message = { role: "user", content: "Go through the files." };
const entry = {
  uuid: "first",
  parentUuid: null,
  timestamp: "2026-04-01T08:00:00.000Z",
  type: "user",
  message,
};

// Without clearing, there is a compaction about every 60 turns. With clearing, there would be almost none.
const host = new Host({ window: { tokens: WINDOW_TOKENS }, form, clearing: { form: "off" } });
await host.open({ messages: [message], entries: [entry] });
const bytes = [];
let compactions = 0;
for (let turn = 1; bytes.length < parts; turn++) {
  host.respond({ resultRepeats: RESULT_REPEATS });
  const { turn: made } = await host.before();
  if (!made.compaction) continue;
  compactions++;
  // Measures the heap only right after a compaction has shortened the conversation.
  if (turn >= ((bytes.length + 1) * turns) / parts) bytes.push(heapBytes());
}
process.stdout.write(JSON.stringify({ bytes, compactions }));

function heapBytes() {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
