/**
 * A separate process that only shows a screen and prints its events. Tests type into it in a pseudo-terminal.
 * Some typed texts are commands.
 */
import { openScreen } from "../../packages/longhaul/src/chat/screen/open-screen.ts";
import type { Choice } from "../../packages/longhaul/src/chat/screen/screen.ts";

const COMMANDS = ["/compact", "/context", "/cost", "/help"];

const question: Choice = {
  title: "Run npm test?",
  detail: "npm test -- --run\nin the working directory",
  options: [
    { label: "Yes", key: "y" },
    { label: "No", key: "n", description: "nothing is run" },
  ],
  otherLabel: "Something else",
};

const ORDERS: Readonly<Record<string, () => void | Promise<void>>> = {
  ask: async () => screen.print(`answer ${JSON.stringify(await screen.choose(question))}`),
  permit: async () => {
    const chosen = await screen.choose({ ...question, grants: true });
    screen.print(`answer ${JSON.stringify(chosen)}`);
  },
  pick: async () => {
    const chosen = await screen.choose({ ...question, mayChooseSeveral: true });
    screen.print(`answer ${JSON.stringify(chosen)}`);
  },
  stream: () => {
    screen.stream("The first line\nand the second that is ");
    screen.setActivity((width) => [screen.colors.yellow(`working in ${width} columns`), "~".repeat(300)]);
  },
  more: () => screen.stream("complete\nthird"),
  end: () => {
    screen.endStream();
    screen.setActivity(() => []);
  },
  lines: () => {
    for (let line = 1; line <= 30; line += 1) screen.print(`line ${line} ${"of many ".repeat(8)}`);
  },
  nasty: () => screen.print("\u001b[2J\u001b[Hnasty\u001b]0;title\u0007\ttab \u001b[31mred"),
  suggest: () => screen.suggest("try this"),
  crash: () => {
    throw new Error("crashed on purpose");
  },
  close: () => {
    screen.close();
    screen.print("closed");
  },
};

const screen = openScreen({
  input: process.stdin,
  output: process.stdout,
  environment: process.env,
  now: () => performance.now(),
  handlers: {
    submitted: (text) => {
      screen.print(`submitted ${JSON.stringify(text)}`);
      void ORDERS[text]?.();
    },
    interrupted: () => screen.print("interrupted"),
    escaped: () => screen.print("escaped"),
    ended: () => {
      screen.print("ended");
      screen.close();
    },
    unfold: () => screen.print("unfold"),
    complete: (text) => COMMANDS.filter((command) => command.startsWith(text)),
  },
});
screen.print(screen.colors.bold("A screen"));
screen.setStatus((width) => screen.colors.green(`status in ${width} columns`));
