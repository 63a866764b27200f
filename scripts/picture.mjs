// Draws the context window before and after a compaction as an SVG, for the README. The figures are those of one run of `npm start`.
//   npm run build && node scripts/picture.mjs > docs/images/before-after.svg
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WIDTH = 860;
const HEIGHT = 288;
const MARGIN = 24;
const BAR_HEIGHT = 40;
const BEFORE_Y = 56;
const AFTER_Y = 172;
const COLORS = {
  card: "#0d1117",
  border: "#3d444d",
  window: "#21262d",
  text: "#f0f6fc",
  dim: "#9198a1",
  threshold: "#f85149",
  system: "#6e7681",
  results: "#f0883e",
  calls: "#d29922",
  messages: "#58a6ff",
  summary: "#3fb950",
  restored: "#a371f7",
};

const CLI = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "longhaul", "dist", "main.js");
const longhaul = (...args) => execFileSync(process.execPath, [CLI, ...args], { encoding: "utf8" });

/** Runs the demo and returns the figures of its session before and after the compaction. */
function measure() {
  const [path] = /\S*longhaul-demo-\w+[/\\]session\.jsonl/.exec(longhaul("demo")) ?? [];
  if (path === undefined) throw new Error("The output of `longhaul demo` does not name the session file.");
  // A compaction only appends lines. Therefore the lines before its boundary are the session before the
  // compaction.
  const lines = readFileSync(path, "utf8").split("\n");
  const boundary = lines.findIndex((line) => line !== "" && JSON.parse(line).subtype === "compact_boundary");
  const earlier = path.replace(/\.jsonl$/, "-before.jsonl");
  writeFileSync(earlier, `${lines.slice(0, boundary).join("\n")}\n`);
  const [{ counts }] = JSON.parse(longhaul("ledger", path, "--json")).compactions;
  const before = JSON.parse(longhaul("inspect", earlier, "--json"));
  const after = JSON.parse(longhaul("inspect", path, "--json"));
  rmSync(dirname(path), { recursive: true });
  return { before, after, counts };
}

/** Lists the parts of a context, in the order of the bar. */
function partsOf({ accounting }) {
  const { summary = 0, injected = 0 } = accounting.otherByKind;
  const system = { name: "system prompt and tools", tokens: accounting.notInFile, color: COLORS.system };
  if (summary > 0) {
    return [
      system,
      { name: "summary", tokens: summary, color: COLORS.summary },
      { name: "restored files and to-do list", tokens: injected, color: COLORS.restored },
      { name: "newest messages", tokens: accounting.total - summary - injected, color: COLORS.messages },
    ];
  }
  const { toolResultTokens, toolRequestTokens } = accounting;
  return [
    system,
    { name: "tool results", tokens: toolResultTokens, color: COLORS.results },
    { name: "tool calls", tokens: toolRequestTokens, color: COLORS.calls },
    {
      name: "messages",
      tokens: accounting.total - toolResultTokens - toolRequestTokens,
      color: COLORS.messages,
    },
  ];
}

const number = (value) => value.toLocaleString("en-US");
const text = (x, y, content, { fill = COLORS.text, size = 14, weight = 400, anchor = "start" } = {}) =>
  `<text x="${x}" y="${y}" fill="${fill}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}">${content}</text>`;
const box = (x, y, width, height, fill, radius = 0) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}"/>`;

const { before, after, counts } = measure();
const scale = (WIDTH - 2 * MARGIN) / before.window.size;
const widthOf = (tokens) => Math.round(tokens * scale * 10) / 10;

/** Draws a bar for a context. The parts are on the left, and the free part of the window is on the right. */
function bar(y, parts) {
  let x = MARGIN;
  const drawn = parts.map(({ tokens, color }) => {
    const width = widthOf(tokens);
    const part = box(x, y, Math.max(width - 1, 1), BAR_HEIGHT, color);
    x = Math.round((x + width) * 10) / 10;
    return part;
  });
  return [box(MARGIN, y, WIDTH - 2 * MARGIN, BAR_HEIGHT, COLORS.window, 3), ...drawn];
}

/** Names the parts in a row below a bar. */
function legend(y, parts, columns) {
  return parts.flatMap(({ name, tokens, color }, index) => [
    box(columns[index], y - 10, 11, 11, color, 2),
    text(columns[index] + 17, y, `${name} ${number(tokens)}`, { fill: COLORS.dim, size: 13 }),
  ]);
}

function title(y, name, { context, window }) {
  const share = Math.round((100 * context.tokens) / window.size);
  return [
    text(MARGIN, y, `${name}: ${number(context.tokens)} tokens`, { size: 17, weight: 600 }),
    text(WIDTH - MARGIN, y, `${share}% of a ${number(window.size)}-token context window`, {
      fill: COLORS.dim,
      anchor: "end",
    }),
  ];
}

const threshold = MARGIN + widthOf(before.window.autoCompact);
const facts = `${counts.facts} facts checked: ${counts.summary + counts.kept} in the summary, ${
  counts.quoted + counts.restored
} quoted below it, ${counts.recoverable + counts.gone} missing. Built-in summarizer: no model, no API key.`;
const shapes = [
  ...title(BEFORE_Y - 14, "Before", before),
  ...bar(BEFORE_Y, partsOf(before)),
  ...legend(BEFORE_Y + BAR_HEIGHT + 22, partsOf(before), [MARGIN, 254, 434, 592]),
  ...title(AFTER_Y - 14, "After", after),
  ...bar(AFTER_Y, partsOf(after)),
  ...legend(AFTER_Y + BAR_HEIGHT + 22, partsOf(after), [MARGIN, 254, 384, 636]),
  ...[BEFORE_Y, AFTER_Y].map((y) => box(threshold, y - 4, 2, BAR_HEIGHT + 8, COLORS.threshold)),
  text(threshold - 8, AFTER_Y + BAR_HEIGHT / 2 + 5, `compacts at ${number(before.window.autoCompact)}`, {
    fill: COLORS.threshold,
    size: 13,
    anchor: "end",
  }),
  text(MARGIN, HEIGHT - 18, facts, { size: 14 }),
];
const description = `Before: ${number(before.context.tokens)} tokens. After: ${number(after.context.tokens)} tokens.`;
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" font-family="-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif">
<title>${description}</title>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8" fill="${COLORS.card}" stroke="${COLORS.border}"/>
${shapes.join("\n")}
</svg>
`,
);
