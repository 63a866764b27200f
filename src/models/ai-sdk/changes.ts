import type { RequestChange } from "../port.ts";

/** Collects what a request could not say to this provider; each thing is named once. */
export class ChangeLog {
  readonly #unsupported = new Set<string>();
  readonly #thinking = new Map<string, number>();

  notSupported(what: string): void {
    this.#unsupported.add(what);
  }

  thinkingLeftOut(reason: string): void {
    this.#thinking.set(reason, (this.#thinking.get(reason) ?? 0) + 1);
  }

  list(): readonly RequestChange[] {
    return [
      ...[...this.#thinking].map(
        ([reason, blocks]): RequestChange => ({ type: "thinking-left-out", blocks, reason }),
      ),
      ...[...this.#unsupported].map((what): RequestChange => ({ type: "not-supported", what })),
    ];
  }
}
