/** A mixed agent conversation: requests, answers, files read with line numbers, shell output, data, diffs. */
import { base64Text } from "./base64.ts";
import { chineseCorpus, chineseEnglishCorpus } from "./chinese.ts";
import { typescriptCode } from "./code.ts";
import { englishProse } from "./english.ts";
import { jsonDocument } from "./json.ts";
import { logLines } from "./logs.ts";
import { type Choices, choices, grow } from "./random.ts";

const ASKS = [
  "Please find out why the upload test fails and fix it.",
  "Can you add a --dry-run flag? Keep the output short.",
  "it still crashes when the file is empty, see below",
  "Refactor this so that the parser doesn't depend on the file system.",
];
const PLANS = [
  "I'll start by reading the code that handles uploads, then run the tests.",
  "The failure comes from the retry logic: it never resets the counter. Here is what I'm going to change:",
  "All 48 tests pass now. Let me summarise what was done:\n\n1. **Parser**: no longer reads files itself.\n2. **CLI**: new flag `--dry-run`.\n3. Tests for both.",
  "Let me check how this function is called elsewhere before I touch it.",
];

const PARTS: readonly ((from: Choices) => string)[] = [
  (from) => `Human: ${from.pick(ASKS)}\n${englishProse(from.between(100, 500), from.below(1e6))}`,
  (from) => `Assistant: ${from.pick(PLANS)} ${englishProse(from.between(100, 900), from.below(1e6))}`,
  (from) =>
    `Read src/${from.pick(["upload", "parser", "cli/main"])}.ts\n${numbered(typescriptCode(from, from.between(1500, 5000)), from.between(1, 300))}`,
  (from) => `$ npm test\n\n${logLines(from, from.between(800, 3000))}`,
  (from) => `{"tool":"fetch","result":${JSON.stringify(jsonDocument(from).slice(0, 3000))}}`,
  (from) => diff(from),
  (from) =>
    `$ grep -rn "load" src\n${grow(1200, "\n", () => `src/${from.pick(["store", "client", "window/models"])}.ts:${from.between(1, 400)}:  const ${from.pick(["entry", "loaded", "result"])} = await load${from.pick(["Settings", "Session", "Page"])}(${from.pick(["path", "id", "options"])});`)}`,
  (from) =>
    from.chance(0.5) ? chineseEnglishCorpus(300, from.below(1e6)) : chineseCorpus(200, from.below(1e6)),
  (from) => (from.chance(0.3) ? `data:image/png;base64,${base64Text(from, 900)}` : from.pick(PLANS)),
];

function numbered(code: string, first: number): string {
  const lines = code.split("\n");
  return lines.map((line, index) => `${String(first + index).padStart(6)}→${line}`).join("\n");
}

function diff(from: Choices): string {
  const lines = typescriptCode(from, 900).split("\n");
  const body = lines.map((line) => `${from.pick([" ", " ", " ", "-", "+"])}${line}`).join("\n");
  return `diff --git a/src/upload.ts b/src/upload.ts\nindex ${from.hex(7)}..${from.hex(7)} 100644\n--- a/src/upload.ts\n+++ b/src/upload.ts\n@@ -${from.between(1, 200)},${from.between(5, 40)} +${from.between(1, 200)},${from.between(5, 40)} @@\n${body}`;
}

export function conversationCorpus(length: number, seed = 23): string {
  const from = choices(seed);
  return grow(length, "\n\n", () => from.pick(PARTS)(from));
}
