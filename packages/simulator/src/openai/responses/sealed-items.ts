import type { Sealer } from "../../sealer.ts";
import type { WrittenContent } from "../request.ts";
import type { SealedTexts } from "./seen-messages.ts";

const REASONING = "reasoning";
const COMPACTION = "compaction";

/**
 * Writes and reads `encrypted_content`. It contains the text that it hides, with a signature, so that
 * nothing must be stored between requests. The content of a reasoning item also names its item, so that equal
 * texts of two items differ.
 */
export class SealedItems implements SealedTexts {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  sealReasoning(itemId: string, text: string): string {
    return this.#sealer.seal([REASONING, itemId, encoded(text)]);
  }

  sealSummary(text: string): string {
    return this.#sealer.seal([COMPACTION, encoded(text)]);
  }

  reasoning(encrypted: string): string | undefined {
    const fields = this.#open(encrypted, REASONING);
    return fields === undefined ? undefined : decoded(fields[2]);
  }

  summary(encrypted: string): string | undefined {
    const fields = this.#open(encrypted, COMPACTION);
    return fields === undefined ? undefined : decoded(fields[1]);
  }

  /** Returns the item for which this simulator wrote the content. Undefined for other content. */
  written(encrypted: string): WrittenContent | undefined {
    const reasoning = this.#open(encrypted, REASONING);
    if (reasoning !== undefined) return { itemId: reasoning[1] };
    return this.#open(encrypted, COMPACTION) === undefined ? undefined : { itemId: undefined };
  }

  #open(encrypted: string, kind: string): readonly string[] | undefined {
    if (encrypted === "") return undefined;
    const fields = this.#sealer.open(encrypted)?.fields;
    return fields?.[0] === kind ? fields : undefined;
  }
}

/** Encodes a text so that it contains no separator of the sealer. */
const encoded = (text: string): string => Buffer.from(text).toString("base64url");
const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64url").toString("utf8");
