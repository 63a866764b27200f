import type { ContentBlock, ToolUseBlock } from "@longhaul/core";
import { PICTURE_DATA } from "./texts.ts";
import type { World } from "./world.ts";

const PICTURE: ContentBlock = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PICTURE_DATA },
};
/**
 * Minimum tokens of each result. The next number is the share of the window that shortened results may use.
 */
const MIN_RESULT_TOKENS = 2_000;
const CUT_SHARE = 0.3;

/** Creates a message of a person, sometimes with pictures or as a large paste. */
export function newWords({ chance, texts, setup }: World): {
  readonly content: string | readonly ContentBlock[];
  readonly texts: readonly string[];
} {
  const isPaste = chance.is(0.06);
  const tokens = isPaste
    ? Math.round((setup.windowTokens * chance.between(8, 25)) / 100)
    : chance.between(8, 200);
  const text = texts.text(tokens);
  if (chance.is(0.8)) return { content: text, texts: [text] };
  const pictures = Array.from({ length: chance.pick([0, 1, 1, 3]) }, () => PICTURE);
  return { content: [{ type: "text", text }, ...pictures], texts: [text] };
}

interface NewResults {
  readonly content: readonly ContentBlock[];
  readonly texts: readonly { readonly text: string; readonly toolUseId: string | undefined }[];
}

/** Creates a result for each call, from a few tokens to more than the window. */
export function newResults(world: World, calls: readonly ToolUseBlock[]): NewResults {
  const { chance, texts, setup } = world;
  let large = Math.floor((setup.windowTokens * CUT_SHARE) / MIN_RESULT_TOKENS);
  const content: ContentBlock[] = [];
  const said: { text: string; toolUseId: string | undefined }[] = [];
  for (const { id } of calls) {
    const size = chance.weighted({ tiny: 8, usual: 12, large: large > 0 ? 5 : 0, huge: large > 0 ? 1 : 0 });
    if (size === "large" || size === "huge") large -= 1;
    const text = texts.text(tokensOf(world, size));
    const hasPicture = chance.is(0.05);
    content.push({
      type: "tool_result",
      tool_use_id: id,
      content: hasPicture ? [{ type: "text", text }, PICTURE] : text,
      ...(chance.is(0.08) ? { is_error: true } : {}),
    } as ContentBlock);
    said.push({ text, toolUseId: id });
  }
  if (chance.is(0.12)) {
    const text = texts.text(chance.between(5, 120));
    content.push({ type: "text", text });
    said.push({ text, toolUseId: undefined });
  }
  return { content, texts: said };
}

function tokensOf({ chance, setup }: World, size: "tiny" | "usual" | "large" | "huge"): number {
  switch (size) {
    case "tiny":
      return chance.between(3, 60);
    case "usual":
      return chance.between(150, 1_500);
    case "large":
      return Math.round((setup.windowTokens * chance.between(8, 30)) / 100);
    case "huge":
      return Math.round((setup.windowTokens * chance.between(50, 120)) / 100);
  }
}
