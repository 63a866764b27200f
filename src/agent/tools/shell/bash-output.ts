import { z } from "zod";
import { defineTool, type Tool } from "../../tool.ts";
import type { ShellCommand, Shells, Workplace } from "../../workplace.ts";
import { duration, endLine, leftBehindLine, paragraphs, shortEnd, summaryOf } from "./words.ts";

const input = z.object({ bash_id: z.string().describe("The id that Bash gave.") });

export function bashOutputTool({ shells }: Pick<Workplace, "shells">): Tool {
  return defineTool<z.infer<typeof input>>({
    name: "BashOutput",
    description:
      "Gives what a command in the background has printed since you last looked, and whether it still runs. " +
      "It does not wait: do something else, or sleep in a command, before you look again.",
    input,
    isReadOnly: true,
    title: ({ bash_id }) => bash_id,
    call: async ({ bash_id }) => {
      const running = shells.find(bash_id);
      if (running === undefined) return unknownShell(bash_id, shells);
      // Before the look: what it printed last is then part of it.
      const { end } = running;
      const output = await running.look();
      const printed = output.text === "" ? "(nothing new)" : output.text;
      return {
        content: paragraphs(stateLine(running, end), printed, end === undefined ? "" : leftBehindLine(end)),
        summary: summaryOf(end === undefined ? "running" : shortEnd(end), running.runsForMs, output),
      };
    },
  });
}

function stateLine({ id, runsForMs }: ShellCommand, end: ShellCommand["end"]): string {
  if (end === undefined) return `${id} is running, for ${duration(runsForMs)} so far.`;
  return `${id} has ended after ${duration(runsForMs)}. ${endLine(end) || "Exit code 0"}`;
}

export function unknownShell(
  id: string,
  shells: Shells,
): { content: string; isError: true; summary: string } {
  const ids = shells.list().map((one) => one.id);
  const known = ids.length === 0 ? "There is none in the background." : `There are: ${ids.join(", ")}.`;
  return {
    content: `There is no command ${id}. ${known} Commands in the background end with the session that started them.`,
    isError: true,
    summary: "no such command",
  };
}
