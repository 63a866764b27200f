import { createColors } from "picocolors";
import type { Terminal } from "../../packages/longhaul/src/terminal.ts";

/** Creates a terminal without output, for views that only need its width and its colors. */
export const terminal = (width: number, isColored = false): Terminal => ({
  print: () => undefined,
  note: () => undefined,
  progress: () => undefined,
  confirm: async () => undefined,
  width,
  colors: createColors(isColored),
});
