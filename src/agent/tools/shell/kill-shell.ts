import { z } from "zod";
import { defineTool, type Tool } from "../../tool.ts";
import type { Workplace } from "../../workplace.ts";
import { unknownShell } from "./bash-output.ts";
import { duration, endLine } from "./words.ts";

const input = z.object({ shell_id: z.string().describe("The id that Bash gave.") });

export function killShellTool({ shells }: Pick<Workplace, "shells">): Tool {
  return defineTool<z.infer<typeof input>>({
    name: "KillShell",
    description: "Ends a command in the background, with everything it started.",
    input,
    title: ({ shell_id }) => shell_id,
    // It ends only what the agent itself was allowed to start.
    needs: () => [],
    call: async ({ shell_id }) => {
      const running = shells.find(shell_id);
      if (running === undefined) return unknownShell(shell_id, shells);
      if (running.end !== undefined) {
        return { content: `${shell_id} had ended already. ${endLine(running.end)}`, summary: "had ended" };
      }
      await running.kill();
      return {
        content: `${shell_id} was ended after ${duration(running.runsForMs)}. BashOutput still gives what it printed.`,
        summary: "ended",
      };
    },
  });
}
