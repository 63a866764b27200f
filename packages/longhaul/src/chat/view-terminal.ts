import { NARROWEST_VIEW, type Terminal, viewWidth } from "../terminal.ts";
import type { Screen } from "./screen/screen.ts";
import { wrapped } from "./show/word-wrap.ts";

/** Wraps text that was formatted for a wider terminal. Breaks lines only between words. */
export const narrowed = (text: string, width: number): string =>
  width < NARROWEST_VIEW ? wrapped(text, width) : text;

/** Adapts the screen to the terminal interface of other commands. */
export function viewTerminal(screen: Screen): Terminal {
  return {
    print: (text) => screen.print(text),
    note: (text) => screen.print(text),
    progress: () => undefined,
    confirm: async (question) => {
      const options = [
        { label: "No", key: "n" },
        { label: "Yes", key: "y" },
      ];
      const chosen = await screen.choose({ title: question, options });
      return options[chosen?.picked[0] ?? 0]?.key === "y";
    },
    width: viewWidth(screen.width),
    colors: screen.colors,
  };
}
