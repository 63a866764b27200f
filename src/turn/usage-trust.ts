import type { Entry } from "../conversation/entry.ts";
import { isRecord } from "../conversation/untrusted.ts";
import type { EventDetail } from "./events.ts";
import { ScriptSample } from "./script-sample.ts";
import { type UsageFacts, UsageGuard, type UsageVerdict } from "./usage-guard.ts";

/** One wrong figure is an accident; after so many in a row nothing that was learned before is sure either. */
const WRONG_IN_A_ROW = 3;

export interface UsageTrustPorts {
  readonly emit: (detail: EventDetail) => void;
  /** The figures have turned out to be wrong, one after the other. */
  readonly onWrong: () => void;
}

/** What one conversation thinks of the figures it is told. Each is judged once, however often it turns up. */
export class UsageTrust {
  readonly #ports: UsageTrustPorts;
  #wrongInRow = 0;
  readonly #guard = new UsageGuard();
  readonly #scripts = new ScriptSample();
  readonly #judged = new WeakMap<object, boolean>();

  constructor(ports: UsageTrustPorts) {
    this.#ports = ports;
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
    if (verdict.trusted) this.#wrongInRow = 0;
    else this.#distrust(verdict);
    return verdict.trusted;
  }

  #distrust({ reportedTokens, expectedTokens, why }: Extract<UsageVerdict, { trusted: false }>): void {
    this.#ports.emit({ type: "usage-distrusted", reportedTokens, expectedTokens, why });
    // A figure that is not there says nothing about the others.
    if (why !== "too-high" && why !== "too-low") return;
    this.#wrongInRow += 1;
    if (this.#wrongInRow === WRONG_IN_A_ROW) this.#ports.onWrong();
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
