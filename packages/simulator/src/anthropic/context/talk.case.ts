import assert from "node:assert/strict";
import { claudeFeatures, findModel } from "@longhaul/core/measure";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import { ApiRefusal } from "../../exchange.ts";
import type { SimulatedModel, SimulatedRequest, Switches } from "../request.ts";
import { validate } from "../rules/validate.ts";
import { BETAS } from "../wording/betas.ts";
import type { Summarize } from "./compaction.ts";
import type { Conversation } from "./conversation.ts";
import {
  type ContextDependencies,
  type ContextMemory,
  createContextMemory,
  type PreparedContext,
  prepareContext,
} from "./prepare.ts";

export const BINDING = "claude-opus-5-5";
export const OTHER_BINDING = "claude-fable-5-1";
export const UNBOUND = "claude-opus-4-6";
export const FORGETFUL = "claude-sonnet-4-5";

const SWITCHES: Switches = {
  consecutiveRoles: "merged",
  requireTools: false,
  enforceBinding: true,
  foreignSignatures: "refused",
  cacheEdits: false,
  threads: "accepted",
  unknownBetas: "refused",
};

export function simulatedModel(id: string): SimulatedModel {
  const { windowTokens, maxOutputTokens, bindsThinking } = findModel(id);
  return {
    id,
    windowTokens,
    maxOutputTokens,
    bindsThinking: bindsThinking === true,
    features: claudeFeatures(id),
  };
}

export const TOOL: JsonRecord = { name: "read", input_schema: { type: "object" } };

export interface CallOptions {
  readonly betas?: readonly string[];
  readonly endpoint?: "messages" | "count_tokens";
  readonly at?: number;
  readonly workspace?: string;
  readonly switches?: Partial<Switches>;
  readonly summarize?: Summarize;
  /** False for tests with conversations that the rules of the API would refuse. */
  readonly checksRules?: boolean;
  /** Overrides the window of the model. */
  readonly windowTokens?: number;
}

interface Built {
  readonly tokens: number;
  readonly conversation: Conversation;
}

export type Prepared = PreparedContext<Built>;

/** A provider without a model. It prepares requests and signs the given answers. */
export class TestProvider {
  readonly memory: ContextMemory;
  readonly builds: Conversation[] = [];

  constructor(secret: string = "secret") {
    this.memory = createContextMemory(secret, simulatedModel);
  }

  call(body: JsonRecord, options: CallOptions = {}): Prepared {
    return prepareContext(request(body, options), this.#dependencies(options));
  }

  /** Replies to a body. Each thinking text becomes a signed block. */
  reply(
    body: JsonRecord,
    blocks: readonly ContentBlock[],
    options: CallOptions = {},
  ): readonly ContentBlock[] {
    const { signer, compaction } = this.call(body, options);
    const written: ContentBlock[] = [...(compaction?.blocks ?? [])];
    for (const block of blocks) {
      if (block.type !== "thinking") written.push(block);
      else written.push({ ...block, signature: signer.sign(block.thinking, written) });
    }
    return written;
  }

  /** Returns the refusal of a body. Fails if the body is accepted. */
  refusal(body: JsonRecord, options: CallOptions = {}): ApiRefusal {
    try {
      this.call(body, options);
    } catch (error) {
      if (error instanceof ApiRefusal) return error;
      throw error;
    }
    throw new Error("The request was accepted");
  }

  #dependencies(options: CallOptions): ContextDependencies<Built> {
    const switches = { ...SWITCHES, ...options.switches };
    return {
      memory: this.memory,
      switches,
      checkRules: (whole) => {
        if (options.checksRules !== false) validate(whole, switches);
      },
      buildPrompt: (conversation) => {
        this.builds.push(conversation);
        return { conversation, tokens: tokensOf(conversation) };
      },
      countText: (text) => text.length,
      summarize: options.summarize ?? (() => "What happened so far."),
    };
  }
}

/** Counts one token per character, so that you can check the figures of a test manually. */
export function tokensOf({ system, tools, messages }: Conversation): number {
  return JSON.stringify([system ?? "", tools, messages]).length;
}

/** Builds a request. A count has no `max_tokens`. */
function request(talk: JsonRecord, options: CallOptions): SimulatedRequest {
  const { max_tokens: _, ...counted } = talk;
  const body = options.endpoint === "count_tokens" ? counted : talk;
  const model = simulatedModel(typeof body.model === "string" ? body.model : BINDING);
  return {
    endpoint: options.endpoint ?? "messages",
    version: "2026-10-21",
    betas: new Set(options.betas ?? []),
    body,
    bytes: 0,
    model: { ...model, windowTokens: options.windowTokens ?? model.windowTokens },
    client: {},
    workspace: options.workspace ?? "workspace",
    startedAt: options.at ?? 0,
  };
}

export const CONTROLS: readonly string[] = [BETAS.thinkingBinding];

export const thought = (thinking: string): ContentBlock => ({ type: "thinking", thinking, signature: "" });
export const said = (text: string): ContentBlock => ({ type: "text", text });
export const used = (id: string, name = "read"): ContentBlock => ({
  type: "tool_use",
  id,
  name,
  input: { path: id },
});
export const result = (id: string, content = `content of ${id}`): ContentBlock => ({
  type: "tool_result",
  tool_use_id: id,
  content,
});
export const asked = (text: string): ApiMessage => ({ role: "user", content: text });

export interface Talk {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly JsonRecord[];
  readonly messages: readonly ApiMessage[];
  readonly max_tokens: number;
  readonly [field: string]: unknown;
}

export function newTalk(model: string = BINDING): Talk {
  return { model, system: "Be brief.", tools: [TOOL], messages: [], max_tokens: 100 };
}

/** Adds turns in which the model thinks, reads a file, thinks again and answers. */
export function withTurns(
  provider: TestProvider,
  talk: Talk,
  turns: number,
  options: CallOptions = {},
): Talk {
  let current = talk;
  const answer = (blocks: readonly ContentBlock[]): void => {
    const content = provider.reply(current, blocks, options);
    current = { ...current, messages: [...current.messages, { role: "assistant", content }] };
  };
  const say = (message: ApiMessage): void => {
    current = { ...current, messages: [...current.messages, message] };
  };
  const first = current.messages.length;
  for (let turn = 0; turn < turns; turn++) {
    const name = `${first}_${turn}`;
    say(asked(`question ${name}`));
    answer([thought(`plan ${name}`), used(`toolu_${name}`)]);
    say({ role: "user", content: [result(`toolu_${name}`)] });
    answer([thought(`conclusion ${name}`), said(`answer ${name}`)]);
  }
  say(asked("and now?"));
  return current;
}

/** Returns the same conversation with other messages. */
export const withMessages = (talk: Talk, messages: readonly ApiMessage[]): Talk => ({ ...talk, messages });

/** Omits thinking blocks by their numbers, counted through the whole conversation. */
export function withoutThinking(talk: Talk, isLeftOut: (number: number) => boolean): Talk {
  let number = 0;
  const messages = talk.messages.map((message): ApiMessage => {
    if (typeof message.content === "string") return message;
    const content = message.content.filter((block) => block.type !== "thinking" || !isLeftOut(number++));
    return { ...message, content };
  });
  return withMessages(talk, messages);
}

/** Changes one message. */
export function edited(talk: Talk, index: number, change: (message: ApiMessage) => ApiMessage): Talk {
  return withMessages(
    talk,
    talk.messages.map((message, at) => (at === index ? change(message) : message)),
  );
}

/** Copies every array and object, like a client that parses its own file. */
export const reparsed = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Returns the same request with the option to drop thinking blocks that do not match their conversation. */
export const drops = (talk: Talk): Talk => ({
  ...talk,
  thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
});

export function started(model: string = BINDING): { provider: TestProvider; talk: Talk } {
  const provider = new TestProvider();
  return { provider, talk: withTurns(provider, newTalk(model), 3) };
}

/** Returns the paths of invalid thinking blocks. Finds them by letting the provider drop these blocks. */
export function failing(
  provider: TestProvider,
  talk: Talk,
  betas: readonly string[] = [],
): readonly string[] {
  const found = provider.call(drops(talk), { betas: [...CONTROLS, ...betas] }).inputTransformations ?? [];
  assert.ok(found.every(({ reason }) => reason === "prefix_binding_mismatch"));
  return found.map(({ path }) => path);
}
