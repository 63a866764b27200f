// Plain text tables: the first column is left-aligned, figures are right-aligned, and our own rows are
// marked.
const OURS = "▸ ";
const OTHERS = "  ";

const isNarrowMark = (code) => code >= 0x300 && code <= 0x36f;
const width = (text) => [...text].filter((letter) => !isNarrowMark(letter.codePointAt(0))).length;
const pad = (text, to, isLeft) =>
  isLeft ? text + " ".repeat(to - width(text)) : " ".repeat(to - width(text)) + text;

/** @param rows `{ ours?: boolean, cells: string[] }`; our own rows come first */
export function table(title, head, rows, notes = []) {
  const ordered = [...rows.filter((row) => row.ours), ...rows.filter((row) => !row.ours)];
  const lines = [
    [OTHERS + head[0], ...head.slice(1)],
    ...ordered.map(({ ours, cells }) => [(ours ? OURS : OTHERS) + cells[0], ...cells.slice(1)]),
  ];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ""))));
  const text = lines.map((line) =>
    widths
      .map((to, column) => pad(line[column] ?? "", to, column === 0))
      .join("  ")
      .trimEnd(),
  );
  const rule = "─".repeat(widths.reduce((sum, to) => sum + to, 2 * (widths.length - 1)));
  return ["", title, rule, text[0], rule, ...text.slice(1), ...notes.map((note) => `  ${note}`)].join("\n");
}

/** Formats a time with three significant digits, because no figure here is more precise. */
export function milliseconds(value) {
  if (value === undefined) return "—";
  if (value >= 1000) return `${(value / 1000).toPrecision(3)} s`;
  if (value >= 0.1) return `${Number(value.toPrecision(3))} ms`;
  return `${Number((value * 1000).toPrecision(3))} µs`;
}

export const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`;

export function signedPercent(share) {
  if (Number.isNaN(share)) return "—";
  const rounded = Math.round(share * 1000) / 10;
  if (rounded === 0) return "0";
  const digits = Math.abs(rounded) >= 10 ? 0 : 1;
  return `${rounded > 0 ? "+" : "−"}${Math.abs(rounded).toFixed(digits)}%`;
}

export const times = (ratio) =>
  `${ratio >= 100 ? Math.round(ratio) : Number(ratio.toPrecision(ratio < 0.1 ? 1 : 3))}×`;
