import {
  asList,
  claudeVersion,
  field,
  isBlock,
  isRecord,
  type JsonRecord,
  listField,
  stringField,
} from "@longhaul/core/internal/messages";
import { type BlockParts, blockParts, toolParts } from "../../prompt/block-equality.ts";
import type { PrefixFacts, PrefixNode, PrefixTree } from "../../prompt/prefix-tree.ts";
import { scaleTokens, type TokenCounter } from "../../prompt/token-count.ts";
import { referencedTools } from "../context/tool-changes.ts";
import { type SimulatedModel, thinkingMode } from "../request.ts";

/** A request as the model sees it, after the provider's own edits. */
interface PromptParts {
  readonly tools: unknown;
  readonly system: unknown;
  readonly messages: readonly unknown[];
  /** The whole body. Some of its settings decide whether a cached prefix can be read. */
  readonly body: JsonRecord;
}

export interface Prompt {
  readonly model: SimulatedModel;
  /** Total tokens of the prompt, as the model counts them. */
  readonly tokens: number;
  /** Positions of all blocks in prompt order: tools, system prompt, messages. */
  readonly positions: readonly PromptPosition[];
  readonly settings: SettingsKeys;
  readonly speed: string;
  /** Two prefixes of the prompt. One ends with the tools, the other ends with the system prompt. */
  readonly ends: { readonly tools: PrefixNode; readonly system: PrefixNode };
}

export function buildPrompt(
  parts: PromptParts,
  model: SimulatedModel,
  { tree, counter }: { readonly tree: PrefixTree; readonly counter: TokenCounter },
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

/** Tokens at the start of every prompt. */
const PROMPT_TOKENS = 3;

/** Tokens of the instructions on tool use that the provider adds to a request with tools. */
const TOOLS_PREAMBLE_TOKENS = 346;

/**
 * Tokens of the markup around the system prompt and around each turn. The markup names the speaker and marks
 * the end of the section.
 */
const SECTION_TOKENS = 4;

type Section = "tools" | "system" | "user" | "assistant" | "system-message";

/** Letters for the section of a block. They are part of the key of a node. */
const PLACES: Readonly<Record<Section, string>> = {
  tools: "T",
  system: "S",
  user: "U",
  assistant: "A",
  "system-message": "M",
};

const EMPTY_FACTS: PrefixFacts = {
  tokens: PROMPT_TOKENS,
  section: "",
  hasImages: false,
  hasCitations: false,
};

/** Position of a block in the body. */
interface Place {
  readonly part: PromptLevel;
  readonly index: number | undefined;
  readonly blockIndex?: number;
}

/** One block of a prompt: a tool definition, or a block of the system prompt or of a message. */
export class PromptPosition {
  /** Node of the prefix that ends with this block. */
  readonly node: PrefixNode;
  readonly level: PromptLevel;
  readonly kind: PositionKind;
  /** Tokens of the prompt up to here, including this block. */
  readonly tokens: number;
  /** Id of the call, if the block is a tool result. */
  readonly toolUseId: string | undefined;
  /**
   * Cache lifetime that a cache mark sets at this block. Automatic marks are added when the end of the prompt
   * is known.
   */
  mark: CacheTtl | undefined;
  readonly #place: Place;

  constructor(walk: PromptWalk, level: PromptLevel, block: JsonRecord, place: Place) {
    this.node = walk.node;
    this.level = level;
    this.kind = place.part === "tools" ? "other" : positionKind(block);
    this.tokens = walk.tokens;
    this.toolUseId = this.kind === "tool_result" ? stringField(block, "tool_use_id") : undefined;
    this.mark = isMarkable(this.kind) ? explicitMark(block) : undefined;
    this.#place = place;
  }

  /** Path of the block in the body. Computed on demand, because most positions never need it. */
  get path(): string {
    const { part, index, blockIndex } = this.#place;
    if (index === undefined) return part;
    return blockIndex === undefined ? `${part}.${index}` : `${part}.${index}.content.${blockIndex}`;
  }
}

/**
 * Walks through a prompt block by block, down the tree of all prompts. Counts the tokens of blocks that are
 * new in the tree.
 */
class PromptWalk {
  readonly positions: PromptPosition[] = [];
  node: PrefixNode;
  facts: PrefixFacts;
  readonly #counter: TokenCounter;
  readonly #model: SimulatedModel;
  /** Deferred tools by name. Each becomes part of the prompt where a message first refers to it. */
  readonly #deferred = new Map<string, JsonRecord>();

  constructor(root: PrefixNode, counter: TokenCounter, model: SimulatedModel) {
    this.node = root;
    this.facts = root.facts ??= EMPTY_FACTS;
    this.#counter = counter;
    this.#model = model;
  }

  get tokens(): number {
    return scaleTokens(this.facts.tokens, this.#model);
  }

  /**
   * Adds the tools. The provider describes web search in the system prompt, so the other tools stay cached
   * when web search is enabled or disabled.
   */
  tools(tools: unknown): void {
    const searches: Array<readonly [JsonRecord, number]> = [];
    for (const [index, tool] of asList(tools).entries()) {
      if (!isRecord(tool)) continue;
      if (tool.defer_loading === true) this.#deferred.set(String(tool.name), tool);
      else if (stringField(tool, "type")?.startsWith("web_search_")) searches.push([tool, index]);
      else this.#addTool(tool, "tools", index);
    }
    for (const [tool, index] of searches) this.#addTool(tool, "system", index);
  }

  system(system: unknown): void {
    if (typeof system === "string") {
      this.#addBlock(textBlock(system), "system", { part: "system", index: undefined });
      return;
    }
    for (const [index, block] of asList(system).entries()) {
      if (isRecord(block)) this.#addBlock(block, "system", { part: "system", index });
    }
  }

  messages(messages: readonly unknown[]): void {
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index];
      if (!isRecord(message)) continue;
      const section = sectionOf(message.role);
      const { content } = message;
      const blocks = typeof content === "string" ? [textBlock(content)] : asList(content);
      for (let blockIndex = 0; blockIndex < blocks.length; blockIndex++) {
        const block = blocks[blockIndex];
        if (!isRecord(block)) continue;
        this.#addBlock(block, section, { part: "messages", index, blockIndex });
      }
    }
  }

  #addTool(tool: JsonRecord, level: PromptLevel, index: number): void {
    this.#step(toolParts(tool), "tools", tool);
    this.positions.push(new PromptPosition(this, level, tool, { part: "tools", index }));
  }

  #addBlock(block: JsonRecord, section: Section, place: Place): void {
    this.#step(blockParts(block), section, block);
    if (this.#deferred.size > 0) this.#loadReferenced(block);
    this.positions.push(new PromptPosition(this, place.part, block, place));
  }

  #loadReferenced(block: JsonRecord): void {
    for (const name of isBlock(block) ? referencedTools(block) : []) {
      const tool = this.#deferred.get(name);
      if (tool === undefined) continue;
      this.#deferred.delete(name);
      this.#step(toolParts(tool), this.facts.section as Section, tool);
    }
  }

  #step(parts: BlockParts, section: Section, block: JsonRecord): void {
    const node = this.node.block(parts, PLACES[section]);
    this.facts = node.facts ??= this.#measure(section, block, parts.head === "d");
    this.node = node;
  }

  #measure(section: Section, block: JsonRecord, isTool: boolean): PrefixFacts {
    const before = this.facts;
    const opening = section === "tools" ? TOOLS_PREAMBLE_TOKENS : SECTION_TOKENS;
    const own = isTool ? this.#counter.tool(block) : this.#counter.block(block);
    return {
      tokens: before.tokens + (before.section === section ? 0 : opening) + own,
      section,
      hasImages: before.hasImages || (!isTool && containsImage(block)),
      hasCitations: before.hasCitations || (!isTool && containsCited(block)),
    };
  }
}

const textBlock = (text: string): JsonRecord => ({ type: "text", text });

function sectionOf(role: unknown): Section {
  if (role === "assistant") return "assistant";
  return role === "system" ? "system-message" : "user";
}

function containsImage(block: JsonRecord): boolean {
  return block.type === "image" || nestedBlocks(block).some((nested) => nested.type === "image");
}

/** Returns true for a document or a search result with citations, also inside a tool result. */
function containsCited(block: JsonRecord): boolean {
  const isCited = ({ citations }: JsonRecord): boolean => isRecord(citations) && citations.enabled === true;
  return isCited(block) || nestedBlocks(block).some(isCited);
}

function nestedBlocks(block: JsonRecord): readonly JsonRecord[] {
  return block.type === "tool_result" ? listField(block, "content").filter(isRecord) : [];
}

export type CacheTtl = "5m" | "1h";

/** Kinds of blocks that the cache rules distinguish. */
type PositionKind =
  | "tool_use"
  | "tool_result"
  /** Result of a tool that the provider runs. */
  | "server_result"
  /** Cannot have a cache mark. */
  | "thinking"
  | "empty"
  | "other";

function positionKind(block: JsonRecord): PositionKind {
  const type = block.type;
  if (type === "tool_use" || type === "tool_result") return type;
  if (type === "thinking" || type === "redacted_thinking") return "thinking";
  if (type === "text") return block.text === "" ? "empty" : "other";
  return typeof type === "string" && type.endsWith("_tool_result") ? "server_result" : "other";
}

/**
 * Returns the mark of a block. A mark inside a tool result counts for the whole result, because a result is
 * one position.
 */
function explicitMark(block: JsonRecord): CacheTtl | undefined {
  const own = markOf(block.cache_control);
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return own;
  let longest = own;
  for (const nested of asList(block.content)) {
    const mark = isRecord(nested) ? markOf(nested.cache_control) : undefined;
    if (mark === "1h" || longest === undefined) longest = mark ?? longest;
  }
  return longest;
}

function markOf(control: unknown): CacheTtl | undefined {
  if (!isRecord(control) || control.type !== "ephemeral") return undefined;
  return control.ttl === "1h" ? "1h" : "5m";
}

/**
 * Adds automatic cache marks. The mark at the top level of the request applies to the last block that can
 * have a mark. If the request has any mark, every result of a server tool gets a five-minute mark.
 */
function placeMarks(positions: readonly PromptPosition[], topLevel: unknown): void {
  const automatic = markOf(topLevel);
  if (automatic !== undefined) {
    const last = positions.findLast(({ kind }) => isMarkable(kind));
    if (last !== undefined) last.mark ??= automatic;
  }
  if (positions.every(({ mark }) => mark === undefined)) return;
  for (const position of positions) if (position.kind === "server_result") position.mark ??= "5m";
}

const isMarkable = (kind: PositionKind): boolean => kind !== "thinking" && kind !== "empty";

// Settings that a cached prefix depends on

/**
 * Parts of a prompt in order. After a change in one part, this part and all later parts are no longer read
 * from the cache.
 */
export type PromptLevel = "tools" | "system" | "messages";

/**
 * Keys of the settings that must be equal to read a cached prefix. Each part of the prompt has its own key.
 * For example, a prefix that ends in the system prompt does not depend on settings of the messages.
 */
type SettingsKeys = Readonly<Record<PromptLevel, string>>;

type PromptFlags = Pick<PrefixFacts, "hasImages" | "hasCitations">;

/**
 * Returns the keys of the settings. Web search needs no key, because its definition is a block of the system
 * part. It is not documented whether thinking and effort also affect the cached tools and system prompt. Here
 * they affect only the messages.
 */
export function settingsKeys(body: JsonRecord, model: SimulatedModel, flags: PromptFlags): SettingsKeys {
  const system = `${speedOf(body)}|citations:${flags.hasCitations}`;
  const messages = [
    system,
    toolChoice(body.tool_choice),
    `images:${flags.hasImages}`,
    thinking(body, model),
    `effort:${stringField(body.output_config, "effort") ?? defaultEffort(model.id)}`,
  ].join("|");
  return { tools: "", system, messages };
}

function speedOf(body: JsonRecord): string {
  return stringField(body, "speed") ?? "standard";
}

function toolChoice(choice: unknown): string {
  const type = stringField(choice, "type") ?? "auto";
  const serial = field(choice, "disable_parallel_tool_use") === true;
  return `choice:${type}:${stringField(choice, "name") ?? ""}:${serial}`;
}

function thinking(body: JsonRecord, model: SimulatedModel): string {
  const mode = thinkingMode(body, model);
  const budget = mode === "enabled" ? field(body.thinking, "budget_tokens") : "";
  return `thinking:${mode}:${String(budget)}`;
}

/**
 * Returns the default effort of a model. A request that sets the default effort has the same key as a request
 * without an effort.
 */
function defaultEffort(model: string): string {
  const version = claudeVersion(model);
  const isMedium =
    version?.major === 5 && version.minor === 5 && (version.line === "opus" || version.line === "haiku");
  return isMedium ? "medium" : "high";
}
