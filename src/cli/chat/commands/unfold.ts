import { plural } from "../../view/numbers.ts";
import { unfoldedBody } from "../show/call-line.ts";
import type { ChatCommand, CommandContext } from "./command.ts";
import { misused } from "./misused.ts";

export const unfoldCommand: ChatCommand = {
  name: "/unfold",
  usage: "[n]",
  about: "show the last call or summary whole, or the n-th before the end (also Ctrl-O)",
  run: (argument, chat) => {
    if (!/^(?:[1-9]\d*)?$/.test(argument)) throw misused(unfoldCommand, argument);
    unfold(Number(argument || 1), chat);
  },
};

/** 1 is the newest. */
export function unfold(
  nth: number,
  { folded, screen, say }: Pick<CommandContext, "folded" | "screen" | "say">,
): void {
  const item = folded.back(nth);
  if (item === undefined) {
    say(
      folded.size === 0 ? "Nothing has been folded yet." : `There are only ${plural(folded.size, "call")}.`,
    );
    return;
  }
  say(`${screen.colours.bold(item.title)}\n${unfoldedBody(item.body, screen.colours)}`);
}
