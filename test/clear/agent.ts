import Anthropic from "@anthropic-ai/sdk";
import { type AnthropicModelOptions, anthropicModel } from "@longhaul/anthropic";
import type { Entry, Model, ModelReply, ModelRequest, ToolDefinition } from "@longhaul/core";
import { complete } from "@longhaul/core";
import { ResultIndex } from "@longhaul/core/clear";
import { withCacheMarks } from "@longhaul/core/models";
import { flatten } from "@longhaul/core/request";
import type { Simulator, TurnBlock } from "@longhaul/simulator";
import { ConversationBuilder, toolResult } from "../support/builders.ts";
import { textOf, tokensOf } from "./work.ts";

const tool = (name: string): ToolDefinition => ({ name, input_schema: { type: "object" } });

export const TOOLS: readonly ToolDefinition[] = ["Read", "Write", "AskUserQuestion"].map(tool);

export const RESULT_TOKENS = 1_000;

export interface Call {
  readonly tool?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly thinks?: boolean;
}

/**
 * Runs a conversation with the simulator. Every answer calls a tool, and every result has the same length.
 */
export class Agent {
  readonly model: Model;
  readonly index: ResultIndex = new ResultIndex();
  readonly #simulator: Simulator;
  readonly #talk = new ConversationBuilder();
  #entries: readonly Entry[] = [];
  #calls = 0;

  constructor(simulator: Simulator, options: Omit<AnthropicModelOptions, "client">) {
    const client = new Anthropic({ baseURL: simulator.url, apiKey: "key", logLevel: "off" });
    this.#simulator = simulator;
    this.model = anthropicModel({ ...options, client });
    this.#keep(this.#talk.user("Look after the harbour's books."));
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Adopts a rewritten conversation. */
  resumeFrom(entries: readonly Entry[]): void {
    this.#entries = entries;
  }

  say(text: string): void {
    this.#keep(this.#talk.user(text));
  }

  /** Makes one model call, and adds the result of the called tool. */
  async step(frame: Omit<ModelRequest, "messages"> = {}, call: Call = {}): Promise<ModelReply> {
    const id = `t${this.#calls++}`;
    const thought: TurnBlock = { type: "thinking", thinking: `Next comes ${id}.` };
    const use: TurnBlock = {
      type: "tool_use",
      id,
      name: call.tool ?? "Read",
      input: call.input ?? { path: id },
    };
    this.#simulator.reply({ blocks: call.thinks ? [thought, use] : [use] });
    const reply = await complete(
      this.model,
      withCacheMarks({ tools: TOOLS, ...frame, messages: flatten(this.#entries) }),
    );
    this.#keep(this.#talk.assistant(reply.content, { id: reply.id }));
    this.#keep(this.#talk.user([toolResult(id, `${id} ${textOf(RESULT_TOKENS)}`)]));
    return reply;
  }

  #keep(entry: Entry): void {
    this.index.add(entry, this.#entries.length, tokensOf);
    this.#entries = [...this.#entries, entry];
  }
}

/** Returns the tokens that the model was shown. */
export const contextTokens = ({ usage }: ModelReply): number =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
