import type { Draft, Part } from "../check/draft.ts";

/**
 * Resumed sessions may hold the entries of one response a second time. Thinking sent twice is refused, so
 * what is repeated goes. Text alone proves nothing, since a response may well say the same thing twice:
 * it counts as repeated only after thinking or a call that did.
 */
export class RepeatFilter {
  readonly #signatures = new Set<string>();
  readonly #calls = new Set<string>();
  /** Looked up only after a copy has shown itself: to hash every text of every response would take long. */
  readonly #texts: string[] = [];
  #textsOfCopy: Set<string> | undefined;
  #isCopy = false;

  /** The parts of one more entry of the response, without those it already has. */
  withoutRepeats(draft: Draft, parts: readonly Part[]): readonly Part[] {
    const fresh = parts.filter((part) => {
      if (!this.#isRepeat(part)) return true;
      const message = "This block stands in the same response before; the copy was left out.";
      draft.report({ rule: "block-repeated", at: part.origin, message, action: "dropped" });
      return false;
    });
    for (const { block } of fresh) {
      if (block.type === "thinking") this.#signatures.add(block.signature);
      else if (block.type === "tool_use") this.#calls.add(block.id);
      else if (block.type === "text") this.#addText(block.text);
    }
    return fresh.length === parts.length ? parts : fresh;
  }

  #isRepeat({ block }: Part): boolean {
    if (block.type === "thinking") {
      const isRepeat = block.signature !== "" && this.#signatures.has(block.signature);
      if (isRepeat) this.#isCopy = true;
      return isRepeat;
    }
    // Calls under one id are told apart or dropped by the rules for ids; here they only give the copy away.
    if (block.type === "tool_use" && this.#calls.has(block.id)) this.#isCopy = true;
    return block.type === "text" && this.#isCopy && this.#hasText(block.text);
  }

  #addText(text: string): void {
    this.#texts.push(text);
    this.#textsOfCopy?.add(text);
  }

  #hasText(text: string): boolean {
    this.#textsOfCopy ??= new Set(this.#texts);
    return this.#textsOfCopy.has(text);
  }
}
