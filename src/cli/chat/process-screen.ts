import { PassThrough } from "node:stream";
import { openPlainScreen, openScreen } from "./screen/open-screen.ts";
import type { Screen, ScreenHandlers } from "./screen/screen.ts";

/** A change of the machine's time does not move it. */
const now = (): number => performance.now();

/** The terminal that the program runs in. */
export const processScreen = (handlers: ScreenHandlers): Screen =>
  openScreen({ input: process.stdin, output: process.stdout, environment: process.env, handlers, now });

/** Lines to standard output, where nobody types: an input that ends at once must not end the chat. */
export const unattendedScreen = (handlers: ScreenHandlers): Screen =>
  openPlainScreen({
    input: new PassThrough(),
    output: process.stdout,
    environment: process.env,
    handlers: { ...handlers, interrupted: () => handlers.ended() },
    now,
  });
