import type { Agent, AgentEvent } from "../../../agent/index.ts";
import { LonghaulError } from "../../../errors.ts";
import type { ChatSetup } from "../chat-setup.ts";
import type { CommandContext } from "../commands/command.ts";
import type { CalledCommand } from "../commands/commands.ts";
import { Folded } from "../folded.ts";
import type { Screen } from "../screen/screen.ts";
import { EventView } from "../show/event-view.ts";
import { Live } from "../show/live.ts";
import type { Tally } from "../tally.ts";
import { viewTerminal } from "../view-terminal.ts";

export interface PrintedCommandOptions {
  readonly setup: Pick<ChatSetup, "composition" | "modelNamed">;
  readonly agent: Agent;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** A command of the chat where nobody can be asked: collects the text that a person would see. */
export class PrintedCommand {
  readonly #called: CalledCommand;
  readonly #options: PrintedCommandOptions;
  readonly #printed: string[] = [];
  readonly #folded = new Folded();
  readonly #screen: Screen;
  readonly #view: EventView;

  constructor(called: CalledCommand, options: PrintedCommandOptions) {
    const { composition } = options.setup;
    this.#called = called;
    this.#options = options;
    this.#screen = this.#newScreen();
    this.#view = new EventView({
      screen: this.#screen,
      live: new Live(),
      folded: this.#folded,
      prices: composition.prices,
      now: () => composition.now().getTime(),
      agent: () => options.agent,
    });
  }

  /** Lines without a blank one at either end. */
  get text(): string {
    return this.#printed.join("\n").replace(/^\n+|\s+$/g, "");
  }

  see(event: AgentEvent): void {
    this.#view.show(event);
  }

  async run(): Promise<void> {
    const { command, argument } = this.#called;
    await command.run(argument, this.#context());
  }

  #context(): CommandContext {
    const { setup, ...parts } = this.#options;
    return {
      ...parts,
      screen: this.#screen,
      terminal: viewTerminal(this.#screen),
      composition: setup.composition,
      folded: this.#folded,
      say: (text) => this.#view.say(text),
      modelNamed: (name) => setup.modelNamed(name),
      goOnWith: async () => Promise.reject(this.#needsTerminal()),
      leave: () => undefined,
    };
  }

  #newScreen(): Screen {
    const { width, colours } = this.#options.setup.composition.terminal;
    const nothing = (): void => undefined;
    return {
      width,
      colours,
      print: (text) => void this.#printed.push(text),
      choose: async () => Promise.reject(this.#needsTerminal()),
      ...{ stream: nothing, endStream: nothing, dropStream: nothing, suggest: nothing, close: nothing },
      ...{ setActivity: nothing, setStatus: nothing },
    };
  }

  #needsTerminal(): LonghaulError {
    const { name, usage } = this.#called.command;
    return new LonghaulError("command-misused", `${name} asks which one, and nobody can answer here.`, {
      remedy:
        usage === undefined ? "Use it in a terminal: longhaul chat --continue" : `Usage: ${name} ${usage}`,
    });
  }
}
