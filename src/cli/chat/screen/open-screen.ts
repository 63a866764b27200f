import { openPlainScreen } from "./plain-screen.ts";
import type { Screen, ScreenHandlers } from "./screen.ts";
import type { ScreenInput, ScreenOutput } from "./terminal-mode.ts";
import { TerminalScreen } from "./terminal-screen.ts";

export { openPlainScreen };

export interface ScreenOptions {
  readonly input: ScreenInput;
  readonly output: ScreenOutput;
  readonly environment: NodeJS.ProcessEnv;
  readonly handlers: ScreenHandlers;
  /** In milliseconds, from any moment on. */
  now(): number;
}

/** A screen as good as the terminal allows: one that cannot move its cursor, or tell each key, gets plain lines. */
export function openScreen(options: ScreenOptions): Screen {
  const { input, output, environment } = options;
  const isAble = input.isTTY && input.setRawMode !== undefined && output.isTTY && environment.TERM !== "dumb";
  return isAble ? new TerminalScreen(options) : openPlainScreen(options);
}
