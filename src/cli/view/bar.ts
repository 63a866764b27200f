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

/** Puts labels under a gauge at the columns they belong to; a label that would touch another moves right. */
export function scale(
  marks: readonly { readonly share: number; readonly label: string }[],
  width: number,
): string {
  let line = "";
  for (const { share, label } of [...marks].sort((a, b) => a.share - b.share)) {
    const column = Math.min(Math.round(share * width), width);
    line = line.padEnd(Math.max(column, line.length === 0 ? 0 : line.length + 1)) + label;
  }
  return line;
}
