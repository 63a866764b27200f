import type { Prompt } from "./model-prompt.ts";
import type { PrefixNode } from "./prefix-tree.ts";

/** In the words of the API. */
export type CacheMissReason =
  | {
      readonly type: "model_changed" | "tools_changed" | "system_changed" | "messages_changed";
      readonly cache_missed_input_tokens: number;
    }
  | { readonly type: "previous_message_not_found" }
  /** Something else that the prompt depends on has changed. */
  | { readonly type: "unavailable" };

export interface CacheDiagnostics {
  readonly cache_miss_reason: CacheMissReason | null;
}

/** Answers that can be asked about; a client asks about its last one. */
const REMEMBERED_ANSWERS = 1_000;

interface SentPrompt {
  readonly model: string;
  readonly speed: string;
  readonly ends: Prompt["ends"];
  readonly settings: Prompt["settings"];
  readonly length: number;
  readonly lastNode: PrefixNode | undefined;
  /** Read or written: what a later call could have read. */
  readonly cachedTokens: number;
}

/** What was sent for which answer, so that a later call can be told why it did not hit the cache. */
export class SentPrompts {
  readonly #byAnswer = new Map<string, SentPrompt>();

  remember(workspace: string, messageId: string, prompt: Prompt, cachedTokens: number): void {
    this.#byAnswer.set(answerKey(workspace, messageId), {
      model: prompt.model.id,
      speed: prompt.speed,
      ends: prompt.ends,
      settings: prompt.settings,
      length: prompt.positions.length,
      lastNode: prompt.positions.at(-1)?.node,
      cachedTokens,
    });
    const [oldest] = this.#byAnswer.keys();
    if (this.#byAnswer.size > REMEMBERED_ANSWERS && oldest !== undefined) this.#byAnswer.delete(oldest);
  }

  /** Null when nothing has come between the two prompts. */
  diagnose(
    workspace: string,
    previousId: string,
    prompt: Prompt,
    readTokens: number,
  ): CacheDiagnostics | null {
    const previous = this.#byAnswer.get(answerKey(workspace, previousId));
    if (previous === undefined) return { cache_miss_reason: { type: "previous_message_not_found" } };
    const type = firstDifference(previous, prompt);
    if (type === undefined) return null;
    if (type === "unavailable") return { cache_miss_reason: { type } };
    const missed = Math.max(0, previous.cachedTokens - readTokens);
    return { cache_miss_reason: { type, cache_missed_input_tokens: missed } };
  }
}

type Difference = Exclude<CacheMissReason["type"], "previous_message_not_found">;

function firstDifference(previous: SentPrompt, prompt: Prompt): Difference | undefined {
  const { settings, ends, positions } = prompt;
  if (previous.model !== prompt.model.id || previous.speed !== prompt.speed) return "model_changed";
  if (previous.ends.tools !== ends.tools) return "tools_changed";
  if (previous.ends.system !== ends.system) return "system_changed";
  if (previous.settings.messages !== settings.messages) return "unavailable";
  return positions[previous.length - 1]?.node === previous.lastNode ? undefined : "messages_changed";
}

const answerKey = (workspace: string, messageId: string): string => `${workspace}\0${messageId}`;
