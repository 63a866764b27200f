// Works through many turns and says how large the heap was each time that a part of them was over.
// node memory-child.mjs messages|entries TURNS PARTS
import { collectGarbage } from "../measure.mjs";
import { Host } from "./host.mjs";

const WINDOW_TOKENS = 200_000;
/** About 2,000 tokens a turn. */
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

// Without clearing, so that there is a compaction every 60 turns or so instead of hardly any.
const host = new Host({ window: { tokens: WINDOW_TOKENS }, form, clearing: { form: "off" } });
await host.open({ messages: [message], entries: [entry] });
const bytes = [];
let compactions = 0;
for (let turn = 1; bytes.length < parts; turn++) {
  host.respond({ resultRepeats: RESULT_REPEATS });
  const { turn: made } = await host.before();
  if (!made.compaction) continue;
  compactions++;
  // Always just after the conversation has become short.
  if (turn >= ((bytes.length + 1) * turns) / parts) bytes.push(heapBytes());
}
process.stdout.write(JSON.stringify({ bytes, compactions }));

function heapBytes() {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
