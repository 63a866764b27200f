import type { Entry } from "../conversation/entry.ts";
import { isRecord } from "../conversation/untrusted.ts";
import type { EventDetail } from "./events.ts";
import { ScriptSample } from "./script-sample.ts";
import { type UsageFacts, UsageGuard } from "./usage-guard.ts";

/** What one conversation thinks of the figures it is told. Each is judged once, however often it turns up. */
export class UsageTrust {
  readonly #emit: (detail: EventDetail) => void;
  readonly #guard = new UsageGuard();
  readonly #scripts = new ScriptSample();
  readonly #judged = new WeakMap<object, boolean>();

  constructor(emit: (detail: EventDetail) => void) {
    this.#emit = emit;
  }

  /** What is written in the conversation tells how far an estimate of it can be off. */
  add(entry: Entry): void {
    this.#scripts.add(entry);
  }

  isCredible(usage: unknown, expectation: () => Omit<UsageFacts, "usage" | "ceiling">): boolean {
    const key = isRecord(usage) ? usage : undefined;
    const known = key && this.#judged.get(key);
    if (known !== undefined) return known;
    const verdict = this.#guard.judge({ usage, ceiling: this.#scripts.ceiling, ...expectation() });
    if (key) this.#judged.set(key, verdict.trusted);
    if (!verdict.trusted) {
      const { reportedTokens, expectedTokens, why } = verdict;
      this.#emit({ type: "usage-distrusted", reportedTokens, expectedTokens, why });
    }
    return verdict.trusted;
  }

  /** The conversation or its request was rewritten: the next figure stands for another one. */
  rebase(): void {
    this.#guard.rebase();
  }

  /** The provider refused what we took to fit: its figures were right. */
  overflowed(): void {
    this.#guard.overflowed();
  }
}
