import type { JsonRecord } from "../../../conversation/untrusted.ts";
import type { SimulatedModel } from "../exchange.ts";
import type { TokenCounter } from "./count.ts";
import { type PromptLevel, type SettingsKeys, settingsKeys, speedOf } from "./invalidation.ts";
import { type CacheTtl, type PositionKind, placeMarks } from "./marks.ts";
import type { PrefixNode, PrefixTree } from "./prefix-tree.ts";
import { PromptWalk } from "./walk.ts";

/** A request as the model sees it: after the provider's own edits to the messages. */
export interface PromptParts {
  readonly tools: unknown;
  readonly system: unknown;
  readonly messages: readonly unknown[];
  /** The whole body, for the settings that decide what a cached prefix is good for. */
  readonly body: JsonRecord;
}

export interface PromptDependencies {
  readonly tree: PrefixTree;
  readonly counter: TokenCounter;
}

/** One block of a prompt: a tool definition, a block of the system prompt or of a message. */
export interface PromptPosition {
  /** The prefix that ends here. */
  readonly node: PrefixNode;
  readonly level: PromptLevel;
  readonly kind: PositionKind;
  /** Of the prompt up to here, this block included. */
  readonly tokens: number;
  /** The lifetime that the request asks for with a mark here, its own or an automatic one. */
  readonly mark: CacheTtl | undefined;
  /** Of a tool result. */
  readonly toolUseId: string | undefined;
  /** Where the block stands in the body. */
  readonly path: string;
}

export interface Prompt {
  readonly model: SimulatedModel;
  /** All of it, in the model's tokens. */
  readonly tokens: number;
  /** In the order of the prompt: tools, system, messages. */
  readonly positions: readonly PromptPosition[];
  readonly settings: SettingsKeys;
  readonly speed: string;
  /** The prefixes that hold all tools, and these and the whole system prompt. */
  readonly ends: { readonly tools: PrefixNode; readonly system: PrefixNode };
}

export function buildPrompt(
  parts: PromptParts,
  model: SimulatedModel,
  { tree, counter }: PromptDependencies,
): Prompt {
  tree.beginCall();
  const walk = new PromptWalk(tree.root, counter, model);
  walk.tools(parts.tools);
  const toolsEnd = walk.node;
  walk.system(parts.system);
  const systemEnd = walk.node;
  walk.messages(parts.messages);
  placeMarks(walk.positions, parts.body.cache_control);
  return {
    model,
    tokens: walk.tokens,
    positions: walk.positions,
    settings: settingsKeys(parts.body, model, walk.facts),
    speed: speedOf(parts.body),
    ends: { tools: toolsEnd, system: systemEnd },
  };
}
