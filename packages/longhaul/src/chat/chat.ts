import type { Agent, AgentEvent, RunResult } from "@longhaul/agent";
import { LonghaulError } from "@longhaul/core/errors";
import { fitText } from "../view/text-width.ts";
import type { ChatSetup, Guide } from "./chat-setup.ts";
import type { CommandContext } from "./commands/command.ts";
import { type CalledCommand, commandIn, completions } from "./commands/commands.ts";
import { Folded, unfold } from "./folded.ts";
import { chatHeader, recap, resumeHint, stopWords } from "./header.ts";
import { screenPerson } from "./person.ts";
import type { Screen, ScreenHandlers } from "./screen/screen.ts";
import { EventView } from "./show/event-view.ts";
import { Live } from "./show/live.ts";
import { wrapped } from "./show/word-wrap.ts";
import { statusLine, statusOf } from "./status-line.ts";
import { compactedWords, currentSummary } from "./summaries.ts";
import { Tally } from "./tally.ts";
import { viewTerminal } from "./view-terminal.ts";

/**
 * A second Ctrl-C within this time exits an idle chat. The hint about it is in the status line. Live activity
 * is no place for the hint, because a screen with plain lines does not show it.
 */
const LEAVE_WITHIN_MS = 2_000;
/** Interval of display updates. The display shows seconds, so more frequent updates would only flicker. */
const TICK_MS = 500;
/**
 * Maximum wait for running work at the exit. Work that ignores its abort signal must not prevent the exit.
 */
const LEAVE_AFTER_MS = 5_000;

/** Runs a chat until the person exits. */
export async function runChat(setup: ChatSetup): Promise<void> {
  const chat = new Chat(setup);
  try {
    await chat.begin();
    await chat.over;
  } finally {
    await chat.close();
  }
}

class Chat {
  /** Resolves when the chat ends. Rejects only because of a bug. */
  readonly over: Promise<void>;
  readonly #setup: ChatSetup;
  readonly #screen: Screen;
  readonly #live = new Live();
  readonly #folded = new Folded();
  readonly #tally: Tally;
  readonly #view: EventView;
  readonly #descriptions = new Map<string, string>();
  #guide: Guide | undefined;
  /** Last input of the person. The chat calls the guide once for each input. */
  #sent: string | undefined;
  #isGuideAsked = false;
  #agent: Agent | undefined;
  #queue: readonly string[] = [];
  #work: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  #askedToLeaveAt = Number.NEGATIVE_INFINITY;
  #ticker: NodeJS.Timeout | undefined;
  #leave: () => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;
  #isLeaving = false;
  /** Number of running commands that do not block the agent. */
  #asides = 0;

  constructor(setup: ChatSetup) {
    this.#setup = setup;
    this.#guide = setup.guide;
    this.over = new Promise((resolve, reject) => {
      this.#leave = () => {
        this.#isLeaving = true;
        resolve();
      };
      this.#fail = reject;
    });
    this.#tally = new Tally(setup.composition.prices);
    this.#screen = setup.openScreen(this.#handlers());
    this.#view = new EventView({
      screen: this.#screen,
      live: this.#live,
      folded: this.#folded,
      prices: setup.composition.prices,
      now: () => this.#now(),
      agent: () => this.#agent,
    });
  }

  async begin(): Promise<void> {
    await this.#open(await this.#setup.pickSession?.(this.#screen));
    if (this.#setup.prompt !== undefined) this.#submitted(this.#setup.prompt);
    else this.#pump();
  }

  async close(): Promise<void> {
    this.#isLeaving = true;
    clearInterval(this.#ticker);
    const agent = this.#agent;
    try {
      this.#work?.abort.abort();
      const late = new Promise((resolve) => setTimeout(resolve, LEAVE_AFTER_MS).unref());
      await Promise.race([this.#work?.done.then(() => agent?.close()) ?? agent?.close(), late]);
      if (agent === undefined) return;
      const words = (await this.#setup.farewell?.(agent)) ?? this.#screen.colors.dim(resumeHint(agent));
      if (agent.conversation.length > 0) this.#view.say(words);
    } finally {
      this.#screen.close();
    }
  }

  #now(): number {
    return this.#setup.composition.now().getTime();
  }

  #handlers(): ScreenHandlers {
    return {
      submitted: (text) => this.#submitted(text),
      interrupted: () => this.#interrupted(),
      escaped: () => this.#work?.abort.abort(),
      ended: () => this.#leave(),
      unfold: () =>
        unfold(1, { folded: this.#folded, screen: this.#screen, say: (text) => this.#view.say(text) }),
      complete: completions,
    };
  }

  async #open(session: string | undefined): Promise<void> {
    const person = screenPerson({
      screen: this.#screen,
      describe: (agentId) => this.#descriptions.get(agentId),
      interrupt: () => this.#work?.abort.abort(),
    });
    const agent = await this.#setup.open({
      person: this.#setup.isUnattended === true ? undefined : person,
      onEvent: (event) => this.#see(event),
      session,
    });
    if (this.#agent !== undefined) this.#screen.print("");
    await this.#agent?.close();
    this.#agent = agent;
    const { composition, version } = this.#setup;
    this.#screen.print(chatHeader(agent, version, composition.places.home, this.#screen));
    if (agent.conversation.length > 0) this.#view.say(recap(agent, this.#screen));
    const compacted = currentSummary(agent.conversation);
    if (compacted !== undefined)
      this.#folded.add({
        title: compactedWords(compacted.boundary),
        body: wrapped(compacted.text, this.#screen.width),
      });
    this.#refresh();
  }

  #submitted(text: string): void {
    this.#sent = text;
    this.#isGuideAsked = false;
    try {
      const called = commandIn(text);
      if (called === undefined) this.#queue = [...this.#queue, text];
      else this.#command(called);
    } catch (error) {
      this.#view.prompt(text);
      this.#failed(error);
    }
    this.#pump();
  }

  /** Runs one prompt or command at a time. The status line shows how many others wait. */
  #pump(): void {
    this.#refresh();
    if (this.#work !== undefined || this.#agent === undefined || this.#isLeaving) return;
    const [next, ...rest] = this.#queue;
    if (next === undefined) {
      if (this.#asides === 0) this.#askGuide().catch((error: unknown) => this.#failed(error));
      return;
    }
    this.#queue = rest;
    this.#do((signal) => this.#run(next, signal));
  }

  #do(work: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController();
    const done = work(abort.signal)
      .catch((error: unknown) => this.#failed(error))
      .then(() => {
        this.#work = undefined;
        this.#live.end();
        clearInterval(this.#ticker);
        this.#takeBackQueue(abort.signal.aborted);
        this.#pump();
      });
    this.#work = { abort, done };
    this.#ticker = setInterval(() => this.#refresh(), TICK_MS).unref();
    this.#refresh();
  }

  /** After an abort, returns queued prompts to the input line instead of sending them. */
  #takeBackQueue(isAborted: boolean): void {
    if (!isAborted || this.#queue.length === 0 || this.#isLeaving) return;
    this.#screen.suggest(this.#queue.join("\n"));
    this.#queue = [];
  }

  async #run(prompt: string, signal: AbortSignal): Promise<void> {
    const agent = this.#agent;
    if (agent === undefined) return;
    this.#view.prompt(prompt);
    this.#live.begin(this.#now());
    for await (const event of agent.run(prompt, { signal })) this.#see(event);
  }

  #see(event: AgentEvent): void {
    this.#guide?.saw(event);
    this.#tally.see(event, this.#agent?.model.name ?? "");
    if (event.type === "agent") this.#descriptions.set(event.agentId, event.description);
    this.#view.show(event);
    if (event.type === "ended") this.#ended(event);
    if (event.type !== "text") this.#refresh();
  }

  #ended(result: RunResult): void {
    const words = stopWords(result);
    if (words !== "") this.#view.dim(words);
    if (result.error !== undefined) this.#failed(result.error);
  }

  #command({ command, argument }: CalledCommand): void {
    const agent = this.#agent;
    if (agent === undefined) return;
    const { needsIdle = false } = command;
    const isExclusive = typeof needsIdle === "function" ? needsIdle(argument) : needsIdle;
    if (isExclusive && this.#work !== undefined) {
      throw new LonghaulError("agent-busy", `${command.name} cannot run while the agent works.`, {
        remedy: "Wait until the agent has finished, or press Ctrl-C to stop it.",
      });
    }
    this.#view.prompt(`${command.name} ${argument}`.trimEnd());
    const work = async (signal: AbortSignal): Promise<void> =>
      command.run(argument, this.#context(agent, signal));
    if (isExclusive) this.#do(work);
    else void this.#aside(work);
  }

  async #aside(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#asides += 1;
    await work(new AbortController().signal).catch((error: unknown) => this.#failed(error));
    this.#asides -= 1;
    this.#pump();
  }

  #context(agent: Agent, signal: AbortSignal): CommandContext {
    return {
      agent,
      signal,
      screen: this.#screen,
      terminal: viewTerminal(this.#screen),
      composition: this.#setup.composition,
      tally: this.#tally,
      folded: this.#folded,
      say: (text) => this.#view.say(text),
      modelNamed: (name) => this.#setup.modelNamed(name),
      resumeFrom: (session) => this.#open(session),
      leave: () => this.#leave(),
    };
  }

  /**
   * Shows errors that have a remedy. Any other error is a bug: it ends the chat, and the program prints its
   * stack.
   */
  #failed(error: unknown): void {
    if (error instanceof LonghaulError) this.#view.error(error);
    else this.#fail(error);
  }

  #interrupted(): void {
    if (this.#work !== undefined && !this.#work.abort.signal.aborted) {
      this.#work.abort.abort();
      return;
    }
    const now = this.#now();
    if (now - this.#askedToLeaveAt <= LEAVE_WITHIN_MS) {
      this.#leave();
      return;
    }
    this.#askedToLeaveAt = now;
    this.#refresh();
    setTimeout(() => this.#refresh(), LEAVE_WITHIN_MS + 1).unref();
  }

  async #askGuide(): Promise<void> {
    if (this.#guide === undefined || this.#isGuideAsked) return;
    this.#isGuideAsked = true;
    const step = await this.#guide.next(this.#sent);
    if (step === undefined) {
      this.#guide = undefined;
      if (this.#setup.isUnattended) this.#leave();
      return;
    }
    this.#view.say(this.#screen.colors.cyan(wrapped(step.words, this.#screen.width)));
    if (step.input === "") return;
    if (this.#setup.isUnattended) this.#submitted(step.input);
    else this.#screen.suggest(step.input);
  }

  #refresh(): void {
    const agent = this.#agent;
    if (agent === undefined || this.#isLeaving) return;
    const { colors } = this.#screen;
    const now = this.#now();
    const isExitRequested = now - this.#askedToLeaveAt <= LEAVE_WITHIN_MS;
    const queue = this.#queue;
    this.#screen.setActivity((width) => [
      ...this.#live.lines(now, width, colors),
      ...queue.map((text) => colors.dim(fitText(`queued: ${text}`, width))),
    ]);
    const status = statusOf(agent, this.#tally.total().dollars, queue.length);
    this.#screen.setStatus((width) =>
      isExitRequested ? fitText("Press Ctrl-C again to exit.", width) : statusLine(status, width, colors),
    );
  }
}
