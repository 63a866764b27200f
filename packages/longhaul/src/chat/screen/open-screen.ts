import { PassThrough } from "node:stream";
import { PlainScreen } from "./plain-screen.ts";
import type { ScreenOptions } from "./printing-screen.ts";
import type { Screen, ScreenHandlers } from "./screen.ts";
import { TerminalScreen } from "./terminal-screen.ts";

/** Returns a time that changes of the system clock do not affect. */
const now = (): number => performance.now();

/** Returns the screen of this process's terminal. */
export const processScreen = (handlers: ScreenHandlers): Screen =>
  openScreen({ input: process.stdin, output: process.stdout, environment: process.env, handlers, now });

/**
 * Creates a screen that writes lines to standard output. It does not read standard input, because an input
 * that ends immediately would end the chat.
 */
export const unattendedScreen = (handlers: ScreenHandlers): Screen =>
  new PlainScreen({
    input: new PassThrough(),
    output: process.stdout,
    environment: process.env,
    handlers: { ...handlers, interrupted: () => handlers.ended() },
    now,
  });

/**
 * Opens the best screen that the terminal supports. If the terminal cannot move its cursor or report each
 * key, opens a screen with plain lines.
 */
export function openScreen(options: ScreenOptions): Screen {
  const { input, output, environment } = options;
  const isAble = input.isTTY && input.setRawMode !== undefined && output.isTTY && environment.TERM !== "dumb";
  return isAble ? new TerminalScreen(options) : new PlainScreen(options);
}
