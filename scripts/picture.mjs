// Draws what the demonstration shows in a terminal as an SVG, for the README.
//   npm run build && node scripts/picture.mjs > docs/images/demo.svg
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const main = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "longhaul", "dist", "main.js");
const env = { ...process.env, FORCE_COLOR: "1" };
const output = execFileSync(process.execPath, [main, "demo"], { encoding: "utf8", env })
  // The temporary folder differs from run to run and from machine to machine.
  .replaceAll(/\S*longhaul-demo-\w+/g, "~/longhaul-demo");

const FONT_SIZE = 13;
const LINE_HEIGHT = 17;
const CHARACTER_WIDTH = 7.8;
const MARGIN = 16;
const COLOURS = { 31: "#e06c75", 32: "#98c379", 33: "#e5c07b", 36: "#56b6c2" };
const TEXT = "#d7dae0";
const DIM = "#7f848e";

const escapeMarkup = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** One line of text with colour codes as pieces, each with its column and style. */
function pieces(line) {
  const found = [];
  let style = { fill: TEXT, weight: "normal" };
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with one.
  for (const part of line.split(/(\u001b\[\d+m)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with one.
    const code = /^\u001b\[(\d+)m$/.exec(part)?.[1];
    if (code === undefined) {
      if (part.trim() !== "") found.push({ column, text: part, ...style });
      column += [...part].length;
    } else if (code === "1") style = { ...style, weight: "bold" };
    else if (code === "2") style = { ...style, fill: DIM };
    else if (code === "7") style = { ...style, fill: COLOURS[33], weight: "bold" };
    else if (COLOURS[code]) style = { ...style, fill: COLOURS[code] };
    else style = { fill: TEXT, weight: "normal" };
  }
  return found;
}

const lines = output.trimEnd().split("\n");
const width = Math.ceil(80 * CHARACTER_WIDTH + 2 * MARGIN);
const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
const texts = lines.flatMap((line, row) =>
  pieces(line).map(({ column, text, fill, weight }) => {
    const x = (MARGIN + column * CHARACTER_WIDTH).toFixed(1);
    const y = MARGIN + (row + 1) * LINE_HEIGHT - 4;
    const length = ([...text].length * CHARACTER_WIDTH).toFixed(1);
    return `<text x="${x}" y="${y}" fill="${fill}" font-weight="${weight}" textLength="${length}" xml:space="preserve">${escapeMarkup(text)}</text>`;
  }),
);
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}">
<rect width="100%" height="100%" rx="8" fill="#1e2127"/>
${texts.join("\n")}
</svg>
`,
);
