import type { ContentBlock, Entry } from "@longhaul/core";
import { ResultIndex, type ResultIndexOptions } from "@longhaul/core/clear";
import { ESTIMATORS } from "@longhaul/core/measure";
import fc from "fast-check";
import { measureBlock } from "../../packages/core/src/measure/tokens/measure.ts";
import { arbitraryEntries } from "../support/arbitraries.ts";
import { ConversationBuilder } from "../support/builders.ts";

/** Counts four characters as a token, so that a test can set the size of a result. */
export const tokensOf = (block: ContentBlock): number => measureBlock(block, ESTIMATORS.classic);

export const textOf = (tokens: number): string => "word".repeat(tokens);

export function indexOf(entries: readonly Entry[], options: ResultIndexOptions = {}): ResultIndex {
  const index = new ResultIndex(options);
  for (const [at, entry] of entries.entries()) index.add(entry, at, tokensOf);
  return index;
}

/** Creates one tool call for each number, with a result of that many tokens. The ids are `t0`, `t1`, … */
export function work(...tokens: readonly number[]): readonly Entry[] {
  const talk = new ConversationBuilder();
  talk.user("go on");
  for (const [at, size] of tokens.entries())
    talk.tool(`t${at}`, "Read", { file_path: `/project/${at}.ts` }, textOf(size));
  return talk.entries;
}

/** Generates any conversation, with various tools and result sizes. */
export function arbitraryWork(options: { readonly damaged?: boolean } = {}): fc.Arbitrary<readonly Entry[]> {
  const tools = fc.array(fc.constantFrom("Read", "Read", "Bash", "Edit", "AskUserQuestion", "mcp__a__b"), {
    minLength: 1,
    maxLength: 8,
  });
  const sizes = fc.array(fc.constantFrom(0, 9, 400, 3_000, 3_000), { minLength: 1, maxLength: 8 });
  return fc.tuple(arbitraryEntries(options), tools, sizes).map(([entries, names, lengths]) => {
    let calls = 0;
    let answers = 0;
    // Maps each entry only once. If an entry is in the list twice, it stays one object.
    const seen = new Map<Entry, Entry>();
    const varied = (block: ContentBlock): ContentBlock => {
      if (block?.type === "tool_use")
        return { ...block, name: names[calls++ % names.length] as string } as ContentBlock;
      if (block?.type !== "tool_result" || typeof block.content !== "string") return block;
      return { ...block, content: block.content + textOf(lengths[answers++ % lengths.length] ?? 0) };
    };
    return entries.map((entry) => {
      const known = seen.get(entry) ?? withBlocks(entry, varied);
      seen.set(entry, known);
      return known;
    });
  });
}

function withBlocks(entry: Entry, map: (block: ContentBlock) => ContentBlock): Entry {
  if (entry?.type !== "user" && entry?.type !== "assistant") return entry;
  const content: unknown = entry.message?.content;
  if (!Array.isArray(content)) return entry;
  return { ...entry, message: { ...entry.message, content: content.map(map) } } as Entry;
}
