/**
 * What a terminal does with rows that are wider than it has become: it leaves them (cut off), or folds them, the one with the
 * cursor too or all but that one. There is no way to ask; where it is not known, most fold everything.
 */
export type Reflow = "nothing" | "all-but-cursor-row" | "everything";

export function reflowOf(environment: NodeJS.ProcessEnv): Reflow {
  const { TERM = "", TMUX, TERM_PROGRAM, XTERM_VERSION } = environment;
  if (TMUX) return "everything";
  if (TERM_PROGRAM === "vscode") return "all-but-cursor-row";
  return XTERM_VERSION || /^(?:linux|rxvt|screen|st\b|vt)/.test(TERM) ? "nothing" : "everything";
}

export interface DrawnRows {
  /** In columns, when they were drawn. */
  readonly widths: readonly number[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** How far above the cursor the first row now begins. */
export function rowsAboveCursor({ widths, cursor }: DrawnRows, columns: number, reflow: Reflow): number {
  if (reflow === "nothing") return cursor.row;
  const rowsOf = (width: number): number => Math.max(1, Math.ceil(width / columns));
  const above = widths.slice(0, cursor.row).reduce((sum, width) => sum + rowsOf(width), 0);
  return reflow === "everything" ? above + Math.floor(cursor.column / columns) : above;
}
