import { isCleared } from "../../../conversation/cleared.ts";
import { contentBlocks } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { contentText } from "../../../conversation/untrusted.ts";
import type { SeenRequest } from "../../../testing/simulator/exchange.ts";
import type { TokenCounter } from "../../../testing/simulator/prompt/count.ts";

/** What the stand-in knows: the request in front of it, and nothing else. */
export interface Sight {
  /** Of the whole request, as the simulator counts it but for a few marks. */
  readonly tokens: number;
  /** Results that were emptied. */
  readonly cleared: number;
  /** Whether a message of the person says just this. Once it was compacted away it is only quoted. */
  isSaid(words: string): boolean;
  /** The newest result of this tool that is still there; "" where there is none. */
  result(tool: string): string;
  /** The first match in all that can be read: messages, results, summary, notes. */
  find(pattern: RegExp): string | undefined;
}

/** What stands between messages for the model's eyes only; no person wrote it. */
const REMINDER = /^\s*<system-reminder>/;

export const isReminder = (text: string): boolean => REMINDER.test(text);

export function look({ messages, system, tools }: SeenRequest, counter: TokenCounter): Sight {
  const blocks = messages.flatMap(({ content }) => contentBlocks(content));
  const names = new Map(
    blocks.flatMap((block) => (block.type === "tool_use" ? [[block.id, block.name] as const] : [])),
  );
  const results = blocks.flatMap((block) => (block.type === "tool_result" ? [block] : []));
  return {
    tokens:
      counter.text(system) +
      sum(tools.map((tool) => counter.tool(tool))) +
      sum(blocks.map((block) => counter.block(block as unknown as JsonRecord))),
    cleared: results.filter(isCleared).length,
    isSaid: (words) => blocks.some((block) => block.type === "text" && block.text.trim() === words),
    result: (tool) => {
      const newest = results.findLast(({ tool_use_id }) => names.get(tool_use_id) === tool);
      return newest === undefined ? "" : contentText(newest.content);
    },
    find: (pattern) => {
      for (const block of blocks) {
        const text = block.type === "text" ? block.text : resultText(block);
        const match = pattern.exec(text);
        if (match !== null) return match[1] ?? match[0];
      }
      return undefined;
    },
  };
}

const resultText = (block: ReturnType<typeof contentBlocks>[number]): string =>
  block.type === "tool_result" ? contentText(block.content) : "";

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);
