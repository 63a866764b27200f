import { z } from "zod";
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import type {
  ShellCommand,
  ShellEnd,
  ShellOutput,
  ShellRequest,
  Shells,
  Workplace,
} from "../../workplace.ts";
import { throttled } from "../throttled.ts";
import { commandNeed } from "./command-need.ts";
import { safeGit } from "./safe-git.ts";

/** What the model need not say: enough for most builds, short enough to notice that something hangs. */
const USUAL_TIMEOUT_MS = 120_000;
/** What takes longer belongs in the background. */
const LONGEST_TIMEOUT_MS = 600_000;
/** Some 10,000 tokens: enough for what failed, little enough to read several in one window. */
const LONGEST_RESULT_CHARS = 30_000;
/** Of it, for how the command ended. */
const WORDS_CHARS = 500;
/** People read no faster. */
const PROGRESS_EVERY_MS = 200;

const DESCRIPTION = `Runs a command in the shell (bash where there is one, else sh) and gives back what it printed, stdout and stderr together, and its exit code where it is not 0.

- Each command starts in the working directory: a \`cd\` or a variable does not carry over to the next. Use absolute paths, or \`cd somewhere && command\` in one call.
- There is nobody to type: stdin is empty, so tell programs to ask nothing (\`--yes\`, \`-m "message"\`).
- It is ended after \`timeout\` milliseconds (${USUAL_TIMEOUT_MS} unless given, ${LONGEST_TIMEOUT_MS} at most) with everything it started. What is left running with \`&\` ends with it too. For servers, watchers and long work use \`run_in_background\`: the call gives an id at once; look with BashOutput, end it with KillShell.
- Of more than ${LONGEST_RESULT_CHARS} characters you see the beginning and the end, and are told in which file the whole is: search it with Grep or Read parts of it. Colours and overwritten progress lines are left out.
- Keys of model providers (such as ANTHROPIC_API_KEY) are not in its environment unless the user allows it.
- To find and read files use Glob, Grep and Read, to change them Edit and Write, rather than find, grep, cat and sed. Commands that depend on each other go into one call with \`&&\`.`;

const bashInput = z.object({
  command: z
    .string()
    .refine((command) => command.trim() !== "", "is empty")
    .refine((command) => !command.includes("\0"), "has a character 0 in it, which no command can have")
    .describe("The command, as in a shell."),
  timeout: z.number().positive().optional().describe(`Milliseconds, at most ${LONGEST_TIMEOUT_MS}.`),
  description: z.string().optional().describe("What it does, in five to ten words."),
  run_in_background: z
    .boolean()
    .optional()
    .describe("Gives an id at once; it runs until it ends or the session does."),
});

type BashInput = z.infer<typeof bashInput>;
type Place = Pick<Workplace, "cwd" | "paths" | "shells" | "outputFolder" | "resultLimit">;

export function bashTool(place: Place): Tool {
  return defineTool({
    name: "Bash",
    description: DESCRIPTION,
    input: bashInput,
    title: ({ command }) => oneLine(command),
    needs: async ({ command, run_in_background: isBackground = false }) => [
      await commandNeed(place, { command, line: oneLine(command), isBackground }),
    ],
    call: (given, context) =>
      given.run_in_background ? runBehind(place, given) : run(place, given, context),
  });
}

export function bashOutputTool({ shells }: Pick<Workplace, "shells">): Tool {
  return defineTool({
    name: "BashOutput",
    description:
      "Gives what a command in the background has printed since you last looked, and whether it still runs. " +
      "It does not wait: do something else, or sleep in a command, before you look again.",
    input: z.object({ bash_id: z.string().describe("The id that Bash gave.") }),
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
        summary: summaryOf(end === undefined ? "running" : endWords(end).short, running.runsForMs, output),
      };
    },
  });
}

export function killShellTool({ shells }: Pick<Workplace, "shells">): Tool {
  return defineTool({
    name: "KillShell",
    description: "Ends a command in the background, with everything it started.",
    input: z.object({ shell_id: z.string().describe("The id that Bash gave.") }),
    title: ({ shell_id }) => shell_id,
    // It ends only what the agent itself was allowed to start.
    needs: () => [],
    call: async ({ shell_id }) => {
      const running = shells.find(shell_id);
      if (running === undefined) return unknownShell(shell_id, shells);
      if (running.end !== undefined) {
        return {
          content: `${shell_id} had ended already. ${endWords(running.end).line}`,
          summary: "had ended",
        };
      }
      await running.kill();
      return {
        content: `${shell_id} was ended after ${duration(running.runsForMs)}. BashOutput still gives what it printed.`,
        summary: "ended",
      };
    },
  });
}

function unknownShell(id: string, shells: Shells): ToolOutcome {
  const ids = shells.list().map((one) => one.id);
  const known = ids.length === 0 ? "There is none in the background." : `There are: ${ids.join(", ")}.`;
  return failure(
    `There is no command ${id}. ${known} Commands in the background end with the session that started them.`,
    "no such command",
  );
}

/** Not by an expression: one for white space around line ends takes minutes for a megabyte of spaces. */
const oneLine = (command: string): string =>
  command
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ⏎ ");

function requestFor(place: Place, { command, run_in_background = false }: BashInput): ShellRequest {
  return {
    ...(safeGit(command) ?? { command }),
    cwd: place.cwd,
    isBackground: run_in_background,
    shownChars: Math.min(LONGEST_RESULT_CHARS, place.resultLimit()) - WORDS_CHARS,
    outputFolder: () => place.outputFolder(),
  };
}

function runBehind(place: Place, input: BashInput): ToolOutcome {
  const { id } = place.shells.start(requestFor(place, input));
  return {
    content: `It runs in the background as ${id}. BashOutput with this id gives what it prints, KillShell ends it.`,
    summary: `in the background as ${id}`,
  };
}

async function run(place: Place, input: BashInput, context: ToolContext): Promise<ToolOutcome> {
  const { signal } = context;
  signal.throwIfAborted();
  const progress = throttled((line) => context.onProgress(line), PROGRESS_EVERY_MS);
  const running = place.shells.start({ ...requestFor(place, input), onLine: progress.tell });
  const limitMs = Math.min(input.timeout ?? USUAL_TIMEOUT_MS, LONGEST_TIMEOUT_MS);
  try {
    const isInTime = await endedWithin(running, limitMs, signal);
    return await outcomeOf(running, isInTime ? undefined : limitMs);
  } finally {
    progress.stop();
  }
}

/** Whether it ended by itself. When the signal fires or the time is over, it is ended with all that it started. */
async function endedWithin(running: ShellCommand, limitMs: number, signal: AbortSignal): Promise<boolean> {
  let isOver = false;
  let stop = (): void => undefined;
  // One that hangs in the kernel never ends, so the end of the killing is waited for as well.
  const stopped = new Promise<void>((resolve) => {
    stop = () => resolve(running.kill());
  });
  const timer = setTimeout(() => {
    isOver = true;
    stop();
  }, limitMs);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([running.ended, stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
  signal.throwIfAborted();
  return !isOver;
}

async function outcomeOf(running: ShellCommand, timedOutMs: number | undefined): Promise<ToolOutcome> {
  const output = await running.look();
  const { end = { how: "killed" }, runsForMs } = running;
  if (timedOutMs !== undefined) {
    return failure(
      paragraphs(timeoutLine(timedOutMs), output.text),
      summaryOf("timed out", runsForMs, output),
    );
  }
  const isWell = end.how === "exited" && end.code === 0;
  return {
    content: paragraphs(endWords(end).line, output.text, leftBehindLine(end)) || "(no output)",
    isError: !isWell,
    summary: summaryOf(endWords(end).short, runsForMs, output),
  };
}

const timeoutLine = (limitMs: number): string =>
  `It was ended after ${duration(limitMs)}, the timeout, with everything it had started. ` +
  (limitMs < LONGEST_TIMEOUT_MS
    ? "Give it a longer timeout, or run_in_background."
    : "Use run_in_background for what takes longer.");

function stateLine({ id, runsForMs }: ShellCommand, end: ShellCommand["end"]): string {
  if (end === undefined) return `${id} is running, for ${duration(runsForMs)} so far.`;
  return `${id} has ended after ${duration(runsForMs)}. ${endWords(end).line || "Exit code 0"}`;
}

/** "3.2 s", "2 min 5 s". */
function duration(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** How it ended, in one line for people: "exit 1 · 3.2 s · 120 lines". */
const summaryOf = (how: string, runsForMs: number, { lines }: ShellOutput): string =>
  [how, duration(runsForMs), lines === 1 ? "1 line" : `${lines} lines`].join(" · ");

/** In a word or two for people, and as the first line of a result for the model: empty where all is well. */
function endWords(end: ShellEnd): { readonly short: string; readonly line: string } {
  switch (end.how) {
    case "exited":
      return { short: `exit ${end.code}`, line: end.code === 0 ? "" : `Exit code ${end.code}` };
    case "signalled":
      return { short: end.signal, line: `Ended by ${end.signal}, with no exit code.` };
    case "killed":
      return { short: "ended", line: "It was ended before it was done." };
    case "not-started":
      return { short: "not started", line: `Nothing was run: ${end.reason}.` };
  }
}

/** For the model, as the last line. */
function leftBehindLine(end: ShellEnd): string {
  return end.how === "exited" && end.leftBehind
    ? "[The command had left processes running, which were ended with it. What is to go on needs run_in_background.]"
    : "";
}

/** What is there of these, each on lines of its own. */
function paragraphs(...parts: readonly string[]): string {
  return parts
    .map((part) => part.trimEnd())
    .filter((part) => part !== "")
    .join("\n");
}
