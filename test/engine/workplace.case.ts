import type { ContentBlock, ToolDefinition, ToolUseBlock } from "@longhaul/core";
import { TOOLS } from "../../packages/simulator/src/behaviors/toy-session.case.ts";
import { createRandom, type Random } from "../../packages/simulator/src/demo/random.ts";
import { stockOfText } from "../support/stock-text.ts";

/** Tools of an ordinary coding agent. Only some of their results can be cleared. */
export const AGENT_TOOLS = TOOLS as unknown as readonly ToolDefinition[];

const STOCK_CHARS = 600_000;
const CHARS_PER_TOKEN = 4;

/** Answers tool calls with texts of varying sizes, equal in every run. */
export class Workplace {
  readonly #random: Random;
  readonly #stock: string;
  readonly #sizes: readonly [number, ...number[]];

  /** `resultTokens`: size of a typical result. Some are tiny, and a few are several times as large. */
  constructor(seed: number, resultTokens: number) {
    this.#random = createRandom(seed);
    this.#stock = stockOfText(this.#random, STOCK_CHARS);
    this.#sizes = [0.02, 0.3, 0.7, 1, 1, 1.3, 1.8, 3].map((share) =>
      Math.ceil(share * resultTokens),
    ) as unknown as readonly [number, ...number[]];
  }

  answer({ id, name }: ToolUseBlock): ContentBlock {
    const tokens = this.#random.pick(this.#sizes);
    const fails = this.#random.between(1, 12) === 1;
    const content = `${name} ${id}\n${this.text(tokens)}`;
    return { type: "tool_result", tool_use_id: id, content, ...(fails ? { is_error: true } : {}) };
  }

  text(tokens: number): string {
    const length = Math.min(tokens * CHARS_PER_TOKEN, STOCK_CHARS);
    const start = this.#random.between(0, STOCK_CHARS - length);
    return this.#stock.slice(start, start + length);
  }
}
