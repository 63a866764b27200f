import { createColors } from "picocolors";
import type { Terminal } from "../../packages/longhaul/src/terminal.ts";

/** A terminal of this width that nobody looks at, for views that only ask how wide and how colored they may be. */
export const terminal = (width: number, isColored = false): Terminal => ({
  print: () => undefined,
  note: () => undefined,
  progress: () => undefined,
  confirm: async () => undefined,
  width,
  colors: createColors(isColored),
});
