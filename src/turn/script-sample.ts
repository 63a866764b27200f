import type { Entry } from "../conversation/entry.ts";
import { entryBlocks } from "../conversation/entry.ts";
import type { ContentBlock } from "../conversation/message.ts";
import { isBlock } from "../conversation/message.ts";
import { asList } from "../conversation/untrusted.ts";

/** True tokens per estimated one, at most: in the letters and languages that every vocabulary was made for. */
const LATIN_CEILING = 1.65;
/** In any other: Hindi and Thai are up to three times as many tokens in one vocabulary as in another. */
const ANY_CEILING = 3.2;
/**
 * Estimated tokens per true one, at most. The largest seen in recorded sessions is 1.8, where the provider left out the
 * thinking of earlier turns.
 */
const LATIN_OVERCOUNT = 2;
const ANY_OVERCOUNT = ANY_CEILING;
/** So much of other scripts raises the ceiling. */
const OTHER_SHARE = 0.1;

/** Looked at in each text, evenly spread: a sample costs the same however long the text is. */
const LOOKS = 32;
const LAST_LATIN = 0x24f;

/** How far an estimate of a conversation can be off, told by the scripts that it is written in. */
export class ScriptSample {
  #characters = 0;
  #others = 0;

  add(entry: Entry): void {
    if (entry.type !== "user" && entry.type !== "assistant") return;
    for (const block of entryBlocks(entry)) this.#addBlock(block);
  }

  addText(text: string): void {
    const looks = Math.min(LOOKS, text.length);
    if (looks === 0) return;
    let others = 0;
    for (let look = 0; look < looks; look++) {
      if (text.charCodeAt(Math.floor((look * text.length) / looks)) > LAST_LATIN) others += 1;
    }
    this.#characters += text.length;
    this.#others += (others / looks) * text.length;
  }

  get ceiling(): number {
    return this.#isOfOthers ? ANY_CEILING : LATIN_CEILING;
  }

  get overcount(): number {
    return this.#isOfOthers ? ANY_OVERCOUNT : LATIN_OVERCOUNT;
  }

  get #isOfOthers(): boolean {
    return this.#others > this.#characters * OTHER_SHARE;
  }

  #addBlock(block: ContentBlock): void {
    if (block.type === "text" && typeof block.text === "string") this.addText(block.text);
    if (block.type !== "tool_result") return;
    if (typeof block.content === "string") this.addText(block.content);
    else for (const inner of asList(block.content)) if (isBlock(inner)) this.#addBlock(inner);
  }
}
