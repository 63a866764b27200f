import type { Entry, Usage } from "../conversation/entry.ts";
import { inputTokens } from "../conversation/reported-usage.ts";
import { isRecord } from "../conversation/untrusted.ts";
import type { EventDetail } from "./events.ts";
import { ScriptSample } from "./script-sample.ts";
import { agreesWithEstimate, type UsageFacts, UsageGuard, type UsageVerdict } from "./usage-guard.ts";

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
  /** The newest verdict: hosts report one response in several objects. */
  #newest: { readonly call: number; readonly tokens: number; readonly trusted: boolean } | undefined;

  constructor(ports: UsageTrustPorts) {
    this.#ports = ports;
  }

  /** What is written in the conversation tells how far an estimate of it can be off. */
  add(entry: Entry): void {
    this.#scripts.add(entry);
  }

  /** The largest factor by which our estimate overcounts, see `ScriptSample`. */
  get overcount(): number {
    return this.#scripts.overcount;
  }

  /** True if a figure is within the error of our estimate, see `agreesWithEstimate`. */
  isLikely(tokens: number, facts: Omit<Parameters<typeof agreesWithEstimate>[1], "ceiling">): boolean {
    return agreesWithEstimate(tokens, { ...facts, ceiling: this.#scripts.ceiling });
  }

  /** `call`: counts the calls of the conversation. */
  isCredible(
    usage: unknown,
    call: number,
    expectation: () => Omit<UsageFacts, "usage" | "ceiling">,
  ): boolean {
    const key = isRecord(usage) ? usage : undefined;
    const known = key && (this.#judged.get(key) ?? this.#knownBy(key, call));
    if (known !== undefined) return known;
    const verdict = this.#guard.judge({ usage, ceiling: this.#scripts.ceiling, ...expectation() });
    const { trusted } = verdict;
    if (key) {
      this.#judged.set(key, trusted);
      this.#newest = { call, tokens: inputTokens(key as unknown as Usage), trusted };
    }
    if (verdict.trusted) this.#wrongInRow = 0;
    else this.#distrust(verdict);
    return trusted;
  }

  /** The same figure for the same call is the same report. */
  #knownBy(usage: object, call: number): boolean | undefined {
    const newest = this.#newest;
    return newest?.call === call && newest.tokens === inputTokens(usage as Usage)
      ? newest.trusted
      : undefined;
  }

  #distrust({ reportedTokens, expectedTokens, why }: Extract<UsageVerdict, { trusted: false }>): void {
    this.#ports.emit({ type: "usage-distrusted", reportedTokens, expectedTokens, why });
    // A figure that is not there says nothing about the others.
    if (why !== "too-high" && why !== "too-low") return;
    this.#wrongInRow += 1;
    if (this.#wrongInRow === WRONG_IN_A_ROW) this.#ports.onWrong();
  }

  /** The provider refused what we took to fit: its figures were right. */
  overflowed(): void {
    this.#guard.overflowed();
  }
}
