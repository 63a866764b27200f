import { anthropicModel } from "@longhaul/anthropic";
import type {
  Caller,
  CompactorEvent,
  ContentBlock,
  Message,
  Model,
  ModelReply,
  ModelUsage,
  ToolUseBlock,
  Turn,
} from "@longhaul/core";
import { complete, withRetries } from "@longhaul/core";
import type { RequestFrame } from "@longhaul/core/compaction";
import type { Simulator } from "@longhaul/simulator";
import { createRandom, type Random } from "../../packages/simulator/src/demo/random.ts";
import { type Compactor, type CompactorOptions, createCompactor } from "../support/full-compactor.ts";
import { type Form, type HostConversation, hostConversation } from "./host-conversation.case.ts";
import { AGENT_TOOLS, Workplace } from "./workplace.case.ts";

export interface LoopOptions {
  readonly simulator: Pick<Simulator, "url" | "clock">;
  readonly modelName?: string;
  readonly model?: Model;
  readonly form?: Form;
  readonly seed?: number;
  /** Conversation of a resumed session. The next message has to come from the person. */
  readonly resumed?: readonly Message[];
  /** Size of a typical tool result. */
  readonly resultTokens?: number;
  /** Size of an occasional paste. */
  readonly pastedTokens?: number;
  /** Maximum number of turns without a message of the person. */
  readonly humanEvery?: number;
  /** Duration of a turn by the simulator's clock. */
  readonly turnMs?: number;
  readonly frame?: RequestFrame;
  readonly compactor?: Omit<CompactorOptions, "model" | "request" | "host">;
  readonly host?: CompactorOptions["host"];
  /** Distorts the provider's figures. */
  readonly distort?: (usage: ModelUsage) => ModelUsage | undefined;
  /** Uses this compactor, such as a subagent's, instead of creating one. */
  readonly use?: Compactor;
  readonly onTurn?: (turn: Turn, loop: AgentLoop) => void;
}

export type EventOf<Type extends CompactorEvent["type"]> = Extract<CompactorEvent, { readonly type: Type }>;

const DEFAULT_TURN_MS = 20_000;
const DEFAULT_HUMAN_EVERY = 15;
const RETRIES = 6;

export const FRAME: RequestFrame = {
  system: "You are a careful engineer. Working directory: /home/dev/harbour\n".repeat(80),
  tools: AGENT_TOOLS,
  max_tokens: 6_000,
};

/** A typical agent: one conversation, tools, and a compactor around each model call. */
export class AgentLoop {
  readonly events: CompactorEvent[] = [];
  readonly model: Model;
  readonly compactor: Compactor;
  readonly conversation: HostConversation;
  /** Unique words of each human message. */
  readonly said: string[] = [];
  turns = 0;
  recoveries = 0;
  retries = 0;
  /** Problem codes of all turns. */
  readonly problems: string[] = [];
  /** Number of messages in the conversation, by turn. */
  readonly lengths: number[] = [];
  lastTurn: Turn | undefined;
  readonly #options: LoopOptions;
  readonly #workplace: Workplace;
  readonly #random: Random;
  readonly #calling: Model;
  readonly #caller: Caller;
  readonly #pastedTokens: number;
  #quietTurns = 0;

  constructor(options: LoopOptions) {
    const { simulator, seed = 1, frame = FRAME, resultTokens = 400 } = options;
    const uuids = createRandom(seed + 1);
    const ports = { now: () => new Date(simulator.clock.now()), newUuid: () => uuids.uuid() };
    this.#options = options;
    this.#random = createRandom(seed + 2);
    this.#workplace = new Workplace(seed, resultTokens);
    this.#pastedTokens = options.pastedTokens ?? resultTokens;
    this.model = options.model ?? connect(simulator, options.modelName ?? "claude-haiku-4-5");
    this.#calling = withRetries(this.model, {
      retries: RETRIES,
      restarts: true,
      wait: async () => undefined,
      onRetry: () => {
        this.retries += 1;
      },
    });
    this.#caller = options.use === undefined ? "main" : "subagent";
    this.conversation = hostConversation(options.form ?? "messages", ports);
    if (options.resumed !== undefined) this.conversation.resumeFrom(options.resumed);
    this.compactor =
      options.use ??
      createCompactor({
        ports,
        ...options.compactor,
        settings: { environment: {}, ...options.compactor?.settings },
        model: this.model,
        request: frame,
        host: {
          ...options.host,
          onEvent: (event) => {
            this.events.push(event);
            options.host?.onEvent?.(event);
          },
        },
      });
    this.say();
  }

  async run(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await this.turn();
  }

  /**
   * Makes one model call, including the engine calls before and after it. Then adds the results of its tools.
   */
  async turn(): Promise<ModelReply> {
    const { simulator, turnMs = DEFAULT_TURN_MS } = this.#options;
    simulator.clock.advance(turnMs);
    this.turns += 1;
    const turn = await this.compactor.before(this.conversation.messages, { caller: this.#caller });
    this.#take(turn);
    const reply = await complete(this.#calling, turn.request).catch(async (error: unknown) => {
      const again = await this.compactor.recover(error);
      if (again === undefined) throw error;
      this.recoveries += 1;
      this.#take(again);
      return await complete(this.#calling, again.request);
    });
    const heard = this.#asHeard(reply);
    this.compactor.after(heard);
    this.conversation.addReply(heard);
    this.#answer(reply);
    return reply;
  }

  #asHeard(reply: ModelReply): ModelReply {
    const { distort } = this.#options;
    if (distort === undefined) return reply;
    return { ...reply, usage: distort(reply.usage) as ModelUsage };
  }

  /** Lets the person say something that can be found later. */
  say(words = "Go on with the harbour's books, and mind the tides."): void {
    this.conversation.addUser(this.#newWords(words));
  }

  eventsOf<Type extends CompactorEvent["type"]>(type: Type): readonly EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  #take(turn: Turn): void {
    this.lastTurn = turn;
    this.lengths.push(turn.messages.length);
    if (turn.problem !== undefined) this.problems.push(turn.problem.code);
    this.conversation.resumeFrom(turn.messages);
    this.#options.onTurn?.(turn, this);
  }

  #answer({ content }: ModelReply): void {
    const calls = content.filter((block): block is ToolUseBlock => block.type === "tool_use");
    const results: ContentBlock[] = calls.map((call) => this.#workplace.answer(call));
    this.#quietTurns += 1;
    const { humanEvery = DEFAULT_HUMAN_EVERY } = this.#options;
    const speaks = results.length === 0 || this.#quietTurns >= humanEvery;
    if (!speaks) {
      this.conversation.addUser(results);
      return;
    }
    const words = this.#newWords(this.#workplace.text(this.#random.pick([8, 40, this.#pastedTokens])));
    this.conversation.addUser(results.length === 0 ? words : [...results, { type: "text", text: words }]);
  }

  #newWords(words: string): string {
    const token = `wish-${this.said.length}-${this.#random.hex(8)}`;
    this.said.push(token);
    this.#quietTurns = 0;
    return `${token}: ${words}`;
  }
}

export const connect = (
  simulator: Pick<Simulator, "url">,
  model: string,
  options: Partial<Parameters<typeof anthropicModel>[0]> = {},
): Model => anthropicModel({ model, baseURL: simulator.url, apiKey: "any", ...options });
