import { PassThrough } from "node:stream";
import { PlainScreen } from "./plain-screen.ts";
import type { ScreenOptions } from "./printing-screen.ts";
import type { Screen, ScreenHandlers } from "./screen.ts";
import { TerminalScreen } from "./terminal-screen.ts";

/** A change of the machine's time does not move it. */
const now = (): number => performance.now();

/** The terminal that the program runs in. */
export const processScreen = (handlers: ScreenHandlers): Screen =>
  openScreen({ input: process.stdin, output: process.stdout, environment: process.env, handlers, now });

/** Lines to standard output, where nobody types: an input that ends at once must not end the chat. */
export const unattendedScreen = (handlers: ScreenHandlers): Screen =>
  new PlainScreen({
    input: new PassThrough(),
    output: process.stdout,
    environment: process.env,
    handlers: { ...handlers, interrupted: () => handlers.ended() },
    now,
  });

/** A screen as good as the terminal allows: one that cannot move its cursor, or tell each key, gets plain lines. */
export function openScreen(options: ScreenOptions): Screen {
  const { input, output, environment } = options;
  const isAble = input.isTTY && input.setRawMode !== undefined && output.isTTY && environment.TERM !== "dumb";
  return isAble ? new TerminalScreen(options) : new PlainScreen(options);
}
