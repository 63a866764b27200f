// This file draws bars without a charting library, because each bar is a part of a line of text and uses
// eighths of a cell.
const FULL = "█";
const EMPTY = "░";
/** Parts of a cell in eighths. With them, a bar of twenty columns still distinguishes 3% from 5%. */
const PARTS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws a bar that fills `share` of `width`. The rest is blank. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  const filled = FULL.repeat(Math.floor(eighths / 8)) + (PARTS[eighths % 8] ?? "");
  return filled === "" && share > 0 ? (PARTS[1] ?? "") : filled;
}

/** Draws a gauge with filled and empty cells, so that the full length is visible too. */
export function gauge(share: number, width: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return FULL.repeat(filled) + EMPTY.repeat(width - filled);
}

/** Divides the cells among the parts of a whole. Each part that is not zero gets at least one cell. */
export function cellsOf(parts: readonly number[], width: number): readonly number[] {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  if (whole === 0) return parts.map(() => 0);
  const cells = parts.map((part) => (part === 0 ? 0 : Math.max(1, Math.round((part / whole) * width))));
  const largest = cells.indexOf(Math.max(...cells));
  const over = cells.reduce((sum, count) => sum + count, 0) - width;
  return cells.map((count, index) => (index === largest ? Math.max(0, count - over) : count));
}

/**
 * Puts labels under a gauge at their columns. Moves a label to the right if it would touch the previous
 * label. The line ends at most `room` columns after the gauge.
 */
export function scale(
  marks: readonly { readonly share: number; readonly label: string }[],
  width: number,
  room: number,
): string {
  const sorted = [...marks].sort((a, b) => a.share - b.share);
  let behind = sorted.reduce((sum, { label }) => sum + label.length + 1, -1);
  let line = "";
  for (const { share, label } of sorted) {
    const wanted = Math.min(Math.round(share * width), width + room - behind);
    line = line.padEnd(Math.max(wanted, line === "" ? 0 : line.length + 1)) + label;
    behind -= label.length + 1;
  }
  return line;
}
