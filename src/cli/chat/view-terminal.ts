import type { Terminal } from "../terminal.ts";
import type { Screen } from "./screen/screen.ts";

/** The views of other commands are made for this much, and for no more than this. */
const NARROWEST = 60;
const WIDEST = 100;

/** The screen as the views of other commands know a terminal. */
export function viewTerminal(screen: Screen): Terminal {
  return {
    print: (text) => screen.print(text),
    note: (text) => screen.print(text),
    progress: () => undefined,
    width: Math.min(WIDEST, Math.max(NARROWEST, screen.width)),
    colours: screen.colours,
  };
}
