const FULL = "█";
const EMPTY = "░";
/** Eighths of a cell, so that a bar of twenty columns still tells 3% from 5%. */
const PARTS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar whose filled part is `share` of `width`; the rest is blank. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  const filled = FULL.repeat(Math.floor(eighths / 8)) + (PARTS[eighths % 8] ?? "");
  return filled === "" && share > 0 ? (PARTS[1] ?? "") : filled;
}

/** A gauge: filled and empty cells, so that the whole is visible too. */
export function gauge(share: number, width: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return FULL.repeat(filled) + EMPTY.repeat(width - filled);
}

/**
 * Puts labels under a gauge at the columns they belong to. One that would touch another moves right;
 * none runs over the end of the line, `room` columns behind the gauge.
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
