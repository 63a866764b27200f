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

/** Default timeout: enough for most builds, short enough to notice a hang. */
const USUAL_TIMEOUT_MS = 120_000;
/** Maximum timeout. Longer commands belong in the background. */
const LONGEST_TIMEOUT_MS = 600_000;
/**
 * Maximum length of a result: about 10,000 tokens. This length is enough to see a failure, and several such
 * results fit into one window.
 */
const LONGEST_RESULT_CHARS = 30_000;
/** Characters of a result that are reserved for the line about how the command ended. */
const WORDS_CHARS = 500;
/** Minimum time between two progress reports. People cannot read faster. */
const PROGRESS_EVERY_MS = 200;

const DESCRIPTION = `Runs a command in the shell (bash if it is installed, otherwise sh). Returns its output, stdout and stderr together, and its exit code if it is not 0.

- Each command starts in the working directory. A \`cd\` or a variable does not carry over to the next command. Use absolute paths, or \`cd somewhere && command\` in one call.
- Nobody can type input, and stdin is empty. Run programs so that they do not ask questions (\`--yes\`, \`-m "message"\`).
- After \`timeout\` milliseconds (default ${USUAL_TIMEOUT_MS}, at most ${LONGEST_TIMEOUT_MS}), the command is stopped together with everything that it started. A process started with \`&\` is stopped with it too. Use \`run_in_background\` for servers, watchers, and long work. The call then returns an id at once. Read the output with BashOutput, and stop the command with KillShell.
- If the output has more than ${LONGEST_RESULT_CHARS} characters, you see its beginning and its end, and the path of a file with the whole output. Search that file with Grep, or read parts of it with Read. Colors and overwritten progress lines are left out.
- Keys of model providers (such as ANTHROPIC_API_KEY) are not in its environment unless the user allows it.
- Use Glob, Grep, and Read to find and read files, and Edit and Write to change them, not find, grep, cat, and sed. Put commands that depend on each other into one call with \`&&\`.`;

const bashInput = z.object({
  command: z
    .string()
    .refine((command) => command.trim() !== "", "is empty")
    .refine((command) => !command.includes("\0"), "contains a NUL character, which a command cannot contain")
    .describe("The shell command."),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe(`Timeout in milliseconds, at most ${LONGEST_TIMEOUT_MS}.`),
  description: z.string().optional().describe("What the command does, in five to ten words."),
  run_in_background: z
    .boolean()
    .optional()
    .describe("Return an id at once. The command runs until it ends or the session ends."),
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
      "Returns the output of a background command since your last call, and whether the command still runs. " +
      "BashOutput does not wait. Do something else, or run a sleep command, before you call it again.",
    input: z.object({ bash_id: z.string().describe("The id that Bash returned.") }),
    isReadOnly: true,
    title: ({ bash_id }) => bash_id,
    call: async ({ bash_id }) => {
      const running = shells.find(bash_id);
      if (running === undefined) return unknownShell(bash_id, shells);
      // The end is read before the output, so that the output contains everything up to the end.
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
    description: "Stops a background command and everything that it started.",
    input: z.object({ shell_id: z.string().describe("The id that Bash returned.") }),
    title: ({ shell_id }) => shell_id,
    // The tool needs no permission, because it ends only commands that the agent was allowed to start.
    needs: () => [],
    call: async ({ shell_id }) => {
      const running = shells.find(shell_id);
      if (running === undefined) return unknownShell(shell_id, shells);
      if (running.end !== undefined) {
        return {
          content: `${shell_id} had already ended. ${endWords(running.end).line}`,
          summary: "already ended",
        };
      }
      await running.kill();
      return {
        content: `${shell_id} was stopped after ${duration(running.runsForMs)}. BashOutput still returns its output.`,
        summary: "ended",
      };
    },
  });
}

function unknownShell(id: string, shells: Shells): ToolOutcome {
  const ids = shells.list().map((one) => one.id);
  const known =
    ids.length === 0 ? "No command is running in the background." : `Known commands: ${ids.join(", ")}.`;
  return failure(
    `There is no command ${id}. ${known} Background commands end with the session that started them.`,
    "no such command",
  );
}

/**
 * Turns a command into one line. Uses no regular expression, because matching white space around line ends
 * would take minutes for a megabyte of spaces.
 */
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
    content: `The command runs in the background as ${id}. Call BashOutput with this id to read its output, and KillShell to stop it.`,
    summary: `in the background as ${id}`,
  };
}

async function run(place: Place, input: BashInput, context: ToolContext): Promise<ToolOutcome> {
  const { signal } = context;
  signal.throwIfAborted();
  const progress = throttled((line) => context.onProgress(line), PROGRESS_EVERY_MS);
  const running = place.shells.start({ ...requestFor(place, input), onLine: progress.report });
  const limitMs = Math.min(input.timeout ?? USUAL_TIMEOUT_MS, LONGEST_TIMEOUT_MS);
  try {
    const isInTime = await endedWithin(running, limitMs, signal);
    return await outcomeOf(running, isInTime ? undefined : limitMs);
  } finally {
    progress.stop();
  }
}

/**
 * Waits for the end of a command. Returns true if the command ended by itself. On a timeout or signal, ends
 * the command and all processes that it started.
 */
async function endedWithin(running: ShellCommand, limitMs: number, signal: AbortSignal): Promise<boolean> {
  let isOver = false;
  let stop = (): void => undefined;
  // A process that hangs in the kernel never ends. So the wait for its end also stops when `kill` has
  // finished.
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
  `The command reached its timeout of ${duration(limitMs)} and was stopped, with everything that it had started. ` +
  (limitMs < LONGEST_TIMEOUT_MS
    ? "Set a longer timeout, or use run_in_background."
    : "Use run_in_background for commands that take longer.");

function stateLine({ id, runsForMs }: ShellCommand, end: ShellCommand["end"]): string {
  if (end === undefined) return `${id} has been running for ${duration(runsForMs)}.`;
  return `${id} ended after ${duration(runsForMs)}. ${endWords(end).line || "Exit code 0"}`;
}

/** Formats a duration, such as "3.2 s" or "2 min 5 s". */
function duration(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Summarizes the end in one line for people, such as "exit 1 · 3.2 s · 120 lines". */
const summaryOf = (how: string, runsForMs: number, { lines }: ShellOutput): string =>
  [how, duration(runsForMs), lines === 1 ? "1 line" : `${lines} lines`].join(" · ");

/**
 * Returns a few words for people, and the first line of a result for the model. This line is empty after a
 * success.
 */
function endWords(end: ShellEnd): { readonly short: string; readonly line: string } {
  switch (end.how) {
    case "exited":
      return { short: `exit ${end.code}`, line: end.code === 0 ? "" : `Exit code ${end.code}` };
    case "signalled":
      return { short: end.signal, line: `${end.signal} ended the command, so it has no exit code.` };
    case "killed":
      return { short: "ended", line: "The command was stopped before it finished." };
    case "not-started":
      return { short: "not started", line: `The command did not run: ${end.reason}.` };
  }
}

/**
 * Returns the last line of the result for the model. It is empty if the command left no processes running.
 */
function leftBehindLine(end: ShellEnd): string {
  return end.how === "exited" && end.leftBehind
    ? "[The command left processes running, and they were stopped when it ended. Use run_in_background for processes that must keep running.]"
    : "";
}

/** Joins the parts that are not empty, each on its own lines. */
function paragraphs(...parts: readonly string[]): string {
  return parts
    .map((part) => part.trimEnd())
    .filter((part) => part !== "")
    .join("\n");
}
