import { stripVTControlCharacters } from "node:util";
import type { Agent, AgentEvent, RunResult } from "@longhaul/agent";
import { LonghaulError } from "@longhaul/core/errors";
import type { OutputFormat } from "../option-values.ts";
import { plural } from "../view/numbers.ts";
import { oneLine, shownText, withNothingHidden } from "../view/text-width.ts";
import type { ChatSetup } from "./chat-setup.ts";
import type { CommandContext } from "./commands/command.ts";
import { type CalledCommand, commandIn, isCommand } from "./commands/commands.ts";
import { Folded } from "./folded.ts";
import { initLine, printReport, type RefusedCall, streamLine } from "./print-report.ts";
import type { Screen } from "./screen/screen.ts";
import { compactorLine } from "./show/compactor-lines.ts";
import { callLines, errorLines } from "./show/event-lines.ts";
import { EventView } from "./show/event-view.ts";
import { Live } from "./show/live.ts";
import { Tally } from "./tally.ts";
import { viewTerminal } from "./view-terminal.ts";

interface PrintOptions {
  readonly prompt: string;
  readonly format: OutputFormat;
  readonly session: string | undefined;
  readonly signal: AbortSignal;
  /** True if a person sees standard error. */
  readonly isWatched: boolean;
}

export type PrintSetup = Pick<ChatSetup, "composition" | "version" | "open" | "modelNamed">;

/**
 * Sends one prompt to the agent, or runs a chat command, and prints the outcome. Throws if there is no
 * answer.
 */
export async function printChat(setup: PrintSetup, options: PrintOptions): Promise<void> {
  const { terminal } = setup.composition;
  const printing = new Printing(setup, options);
  const agent = await setup.open({
    person: undefined,
    onEvent: (event) => printing.see(event),
    session: options.session,
  });
  let result: RunResult;
  try {
    printing.begin(agent);
    result = isCommand(options.prompt) ? await printing.command(agent) : await printing.run(agent);
  } finally {
    await agent.close();
  }
  const error = errorOf(result, agent);
  if (options.format === "text") {
    // The text of a command contains our own colors, so it stays unchanged. The text of a model must not
    // control the terminal.
    const text = isCommand(options.prompt) ? result.text : shownText(result.text);
    if (text !== "") terminal.print(text);
    printing.noteRefused();
  } else printing.end(agent, result, error);
  if (error !== undefined) throw error;
}

class Printing {
  readonly #setup: PrintSetup;
  readonly #options: PrintOptions;
  readonly #tally: Tally;
  #model = "";
  #compactions = 0;
  #refused: readonly RefusedCall[] = [];
  #command: PrintedCommand | undefined;

  constructor(setup: PrintSetup, options: PrintOptions) {
    this.#setup = setup;
    this.#options = options;
    this.#tally = new Tally(setup.composition.prices);
  }

  begin(agent: Agent): void {
    this.#model = agent.model.name;
    if (this.#options.format === "stream-json") this.#line(initLine(agent, this.#setup.version));
  }

  async run(agent: Agent): Promise<RunResult> {
    const { prompt, signal } = this.#options;
    const events = agent.run(prompt, { signal });
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      this.see(next.value);
    }
  }

  /** Runs a chat command without a model call. Returns the output of the command as the answer. */
  async command(agent: Agent): Promise<RunResult> {
    const { prompt, signal, format } = this.#options;
    const text = (): string => this.#command?.text() ?? "";
    const result = (reason: RunResult["reason"], error?: LonghaulError): RunResult => ({
      ...{ reason, text: format === "text" ? text() : stripVTControlCharacters(text()), turns: 0 },
      ...(error === undefined ? {} : { error }),
    });
    try {
      const called = commandIn(prompt);
      if (called === undefined) return result("answered");
      this.#command = printedCommand(called, this.#setup, { agent, tally: this.#tally, signal });
      await this.#command.run();
      return result("answered");
    } catch (error) {
      if (signal.aborted) return result("aborted");
      if (!(error instanceof LonghaulError)) throw error;
      return result("failed", error);
    }
  }

  see(event: AgentEvent): void {
    this.#tally.see(event, this.#model);
    this.#command?.see(event);
    if (event.type === "compactor" && event.event.type === "compacted") this.#compactions += 1;
    this.#refused = [...this.#refused, ...refusedIn(event)];
    if (this.#options.format === "stream-json") {
      const line = streamLine(event);
      if (line !== undefined) this.#line(line);
    } else if (this.#command === undefined) this.#note(event);
  }

  end(agent: Agent, result: RunResult, error: LonghaulError | undefined): void {
    const run = { tally: this.#tally, compactions: this.#compactions, refused: this.#refused };
    const report = printReport(agent, result, error, run);
    const { format } = this.#options;
    if (format === "stream-json") this.#line(report);
    else this.#setup.composition.terminal.print(JSON.stringify(report, null, 2));
  }

  /** The model knows about refusals too, but its answer does not always mention them. */
  noteRefused(): void {
    if (this.#refused.length === 0) return;
    const { note, colors } = this.#setup.composition.terminal;
    const lines = this.#refused.map(({ title, rule, flag }) =>
      [
        `  ${oneLine(withNothingHidden(title))} (rule: ${rule})`,
        ...(flag === null || /\p{Cc}/u.test(flag) ? [] : [`    to allow it: ${withNothingHidden(flag)}`]),
      ].join("\n"),
    );
    const isAllPlan = this.#refused.every(({ rule }) => rule === "plan-mode");
    const why = isAllPlan
      ? "Refused, because plan mode is on:"
      : "Refused, because longhaul chat -p cannot ask for permission:";
    note(colors.yellow([why, ...new Set(lines)].join("\n")));
  }

  #line(value: object): void {
    this.#setup.composition.terminal.print(JSON.stringify(value));
  }

  /** Prints progress for a person who waits, and warnings in any case. */
  #note(event: AgentEvent): void {
    const { note, width, colors } = this.#setup.composition.terminal;
    if (event.type === "problem") note(errorLines(event.error, { width, colors }));
    else if (!this.#options.isWatched) return;
    else if (event.type === "call-ended") note(callLines(event, { width, colors })[0] ?? "");
    else if (event.type === "compactor") {
      const line = compactorLine(event.event);
      if (line !== undefined) note(colors.dim(line));
    } else if (event.type === "notice") note(colors.dim(shownText(event.text)));
  }
}

/** Returns the refused calls of an event, including those of subagents. */
function refusedIn(event: AgentEvent): readonly RefusedCall[] {
  if (event.type === "agent") return refusedIn(event.event);
  if (event.type !== "refused") return [];
  return event.refusals.map(({ title, rule, flag = null }) => ({ title, rule, flag }));
}

function errorOf({ reason, error, turns }: RunResult, agent: Agent): LonghaulError | undefined {
  const remedy = `Continue with: longhaul chat --resume ${agent.sessionId}`;
  switch (reason) {
    case "answered":
      return undefined;
    case "aborted":
      return new LonghaulError("interrupted", "You interrupted the command.", { remedy });
    case "turn-limit":
      return new LonghaulError("turn-limit", `The agent stopped at its limit of ${plural(turns, "turn")}.`, {
        remedy,
        facts: { turns },
      });
    case "failed":
      return (
        error ??
        new LonghaulError("agent-failed", "The agent failed unexpectedly: it reported no reason.", { remedy })
      );
  }
}

interface PrintedCommand {
  /** Returns the collected text without blank lines at its start and end. */
  text(): string;
  see(event: AgentEvent): void;
  run(): Promise<void>;
}

/** Runs a chat command without a person to ask. Collects the text that a person would see. */
function printedCommand(
  { command, argument }: CalledCommand,
  { composition, modelNamed }: PrintSetup,
  parts: Pick<CommandContext, "agent" | "tally" | "signal">,
): PrintedCommand {
  const { width, colors } = composition.terminal;
  const { name, usage } = command;
  const printed: string[] = [];
  const folded = new Folded();
  const nothing = (): void => undefined;
  const noChoice = async (): Promise<never> => {
    throw new LonghaulError(
      "command-unavailable",
      `${name} is not available here: nobody can answer its question.`,
      {
        remedy: [
          ...(usage === undefined ? [] : [`Pass the answer as an argument. Usage: ${name} ${usage}.`]),
          "Use the command in a terminal: longhaul chat --continue",
        ].join("\n"),
      },
    );
  };
  const noSwitch = async (): Promise<never> => {
    throw new LonghaulError(
      "command-unavailable",
      `${name} is not available here: longhaul chat -p cannot switch to another session.`,
      {
        remedy: "Choose the session with an option: longhaul chat -p PROMPT --resume ID",
      },
    );
  };
  const screen: Screen = {
    width,
    colors,
    print: (text) => void printed.push(text),
    choose: noChoice,
    ...{ stream: nothing, endStream: nothing, dropStream: nothing, suggest: nothing, close: nothing },
    ...{ setActivity: nothing, setStatus: nothing },
  };
  const view = new EventView({
    screen,
    folded,
    live: new Live(),
    prices: composition.prices,
    now: () => composition.now().getTime(),
    agent: () => parts.agent,
  });
  const context: CommandContext = {
    ...parts,
    screen,
    terminal: viewTerminal(screen),
    composition,
    folded,
    say: (text) => view.say(text),
    modelNamed,
    resumeFrom: noSwitch,
    leave: nothing,
  };
  return {
    text: () => printed.join("\n").replace(/^\n+|\s+$/g, ""),
    see: (event) => view.show(event),
    run: async () => command.run(argument, context),
  };
}
