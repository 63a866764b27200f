import { isBlock } from "../../../conversation/message.ts";
import {
  asList,
  isRecord,
  type JsonRecord,
  listField,
  stringField,
} from "../../../conversation/untrusted.ts";
import { referencedTools } from "../context/tool-changes.ts";
import type { SimulatedModel } from "../exchange.ts";
import { type BlockParts, blockParts, toolParts } from "./block-key.ts";
import type { TokenCounter } from "./count.ts";
import type { PromptLevel } from "./invalidation.ts";
import { type CacheTtl, explicitMark, isMarkable, type PositionKind, positionKind } from "./marks.ts";
import type { PrefixFacts, PrefixNode } from "./prefix-tree.ts";
import { scaleTokens } from "./scale.ts";

/** What begins a prompt whatever is in it. */
const PROMPT_TOKENS = 3;

/** The instructions on tool use that a request with tools gets from the provider. */
const TOOLS_PREAMBLE_TOKENS = 346;

/** The marks around the system prompt and around each turn: who speaks, and where it ends. */
const SECTION_TOKENS = 4;

type Section = "tools" | "system" | "user" | "assistant" | "system-message";

/** Tells apart, in the key of a node, whose block it is. */
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

/** Where a block stands in the body. */
interface Place {
  readonly part: PromptLevel;
  readonly index: number | undefined;
  readonly blockIndex?: number;
}

/** Automatic marks are set when the end of the prompt is known; nothing else of it changes. */
class WalkedPosition {
  readonly node: PrefixNode;
  readonly level: PromptLevel;
  readonly kind: PositionKind;
  readonly tokens: number;
  readonly toolUseId: string | undefined;
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

  /** Written only when somebody asks: most positions are never named. */
  get path(): string {
    const { part, index, blockIndex } = this.#place;
    if (index === undefined) return part;
    return blockIndex === undefined ? `${part}.${index}` : `${part}.${index}.content.${blockIndex}`;
  }
}

/** Goes through a prompt block by block, down the tree of all prompts. What is new is counted on the way. */
export class PromptWalk {
  readonly positions: WalkedPosition[] = [];
  node: PrefixNode;
  facts: PrefixFacts;
  readonly #counter: TokenCounter;
  readonly #model: SimulatedModel;
  /** Tools that are in the prompt only from where they are first referred to. */
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

  /** Web search is told to the model in the system prompt, so switching it leaves the cached tools alone. */
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
    this.positions.push(new WalkedPosition(this, level, tool, { part: "tools", index }));
  }

  #addBlock(block: JsonRecord, section: Section, place: Place): void {
    this.#step(blockParts(block), section, block);
    if (this.#deferred.size > 0) this.#loadReferenced(block);
    this.positions.push(new WalkedPosition(this, place.part, block, place));
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

/** Documents and search results that are to be cited. */
function containsCited(block: JsonRecord): boolean {
  const isCited = ({ citations }: JsonRecord): boolean => isRecord(citations) && citations.enabled === true;
  return isCited(block) || nestedBlocks(block).some(isCited);
}

function nestedBlocks(block: JsonRecord): readonly JsonRecord[] {
  return block.type === "tool_result" ? listField(block, "content").filter(isRecord) : [];
}
