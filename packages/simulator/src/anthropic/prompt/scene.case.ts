import { claudeFeatures, findModel } from "@longhaul/core/measure";
import type { ApiMessage } from "@longhaul/core/messages";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import { createFixedClock, type MovableClock } from "../../clock.ts";
import { PrefixTree } from "../../prompt/prefix-tree.ts";
import { createTokenCounter, type TokenCounter } from "../../prompt/token-count.ts";
import { readEdits, withoutPastTurns } from "../context/context-edits.ts";
import type { SimulatedModel } from "../request.ts";
import { buildPrompt, type Prompt } from "./model-prompt.ts";
import {
  type CacheCall,
  type CacheLookup,
  type InputUsage,
  PromptCache,
  readCacheEdits,
} from "./prompt-cache.ts";

/**
 * Model whose token counts are not scaled, so that a text has as many tokens as characters. Its minimum for a
 * cached prefix is 1,024 tokens.
 */
const PLAIN_MODEL = "claude-sonnet-4-6";

export const MINUTE_MS = 60_000;

export type Body = JsonRecord & { readonly messages: readonly JsonRecord[] };

export function simulatedModel(id: string): SimulatedModel {
  const { windowTokens, maxOutputTokens, bindsThinking = false } = findModel(id);
  return { id, windowTokens, maxOutputTokens, bindsThinking, features: claudeFeatures(id) };
}

/** A provider that consists only of a prompt cache. */
export class Scene {
  readonly clock: MovableClock = createFixedClock();
  readonly tree: PrefixTree = new PrefixTree();
  readonly cache: PromptCache = new PromptCache(this.clock);
  readonly counter: TokenCounter;

  constructor(counter: TokenCounter) {
    this.counter = counter;
  }

  prompt(body: Body): Prompt {
    const { tools, system } = body;
    const model = simulatedModel(typeof body.model === "string" ? body.model : PLAIN_MODEL);
    // Older models do not see the thinking of earlier turns. In the simulator, `prepareContext` removes it.
    const messages = model.features.keepsEarlierThinking
      ? body.messages
      : withoutPastTurns(body.messages as unknown as readonly ApiMessage[], model, readEdits(body));
    return buildPrompt({ tools, system, messages, body }, model, this);
  }

  /** Starts a call without starting its answer. */
  begin(body: Body, call: Partial<CacheCall> = {}): CacheLookup {
    const edits = "cache_edits" in body ? readCacheEdits(body) : undefined;
    return this.cache.lookup(this.prompt(body), {
      workspace: "default",
      startedAt: this.clock.now(),
      edits,
      ...call,
    });
  }

  send(body: Body, call: Partial<CacheCall> = {}, messageId?: string): InputUsage {
    const lookup = this.begin(body, call);
    lookup.commit(messageId);
    return lookup.usage;
  }
}

/** Creates a scene that counts one token per character, so that the texts of a test show every figure. */
export async function createScene(): Promise<Scene> {
  return new Scene(await createTokenCounter((text) => text.length));
}

export const MARK: JsonRecord = { type: "ephemeral" };
export const HOUR: JsonRecord = { type: "ephemeral", ttl: "1h" };

/** Creates a text of this number of tokens. */
export function text(tokens: number, letter = "x", mark?: JsonRecord): JsonRecord {
  return {
    type: "text",
    text: letter.repeat(tokens),
    ...(mark === undefined ? {} : { cache_control: mark }),
  };
}

export function user(...content: readonly JsonRecord[]): JsonRecord {
  return { role: "user", content };
}

export function assistant(...content: readonly JsonRecord[]): JsonRecord {
  return { role: "assistant", content };
}

export function toolUse(id: string, mark?: JsonRecord): JsonRecord {
  const block = { type: "tool_use", id, name: "Read", input: { path: id } };
  return mark === undefined ? block : { ...block, cache_control: mark };
}

export function toolResult(id: string, tokens: number, mark?: JsonRecord): JsonRecord {
  const block = { type: "tool_result", tool_use_id: id, content: "r".repeat(tokens) };
  return mark === undefined ? block : { ...block, cache_control: mark };
}

export function sumOf(usage: InputUsage): number {
  return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
}
