import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects what nobody holds any more. Works without a flag on the command line. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Objects that should go when a conversation forgets them. */
export class Traces {
  readonly #traces: WeakRef<object>[] = [];
  readonly #known = new WeakSet<object>();

  add(objects: readonly object[]): void {
    // The newest first: what is known begins at one of them.
    for (const object of objects.toReversed()) {
      if (this.#known.has(object)) return;
      this.#known.add(object);
      this.#traces.push(new WeakRef(object));
    }
  }

  get count(): number {
    return this.#traces.length;
  }

  /** Those that are still held, though not by these. */
  heldBeside(current: readonly object[]): number {
    const expected = new Set(current);
    return this.#traces.filter((trace) => {
      const object = trace.deref();
      return object !== undefined && !expected.has(object);
    }).length;
  }
}
