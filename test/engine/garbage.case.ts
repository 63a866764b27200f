import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage. Works without a command-line flag. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Objects that should be collected after a conversation forgets them. */
export class Traces {
  readonly #traces: WeakRef<object>[] = [];
  readonly #known = new WeakSet<object>();

  add(objects: readonly object[]): void {
    // Newest first, because the known part begins at one of them.
    for (const object of objects.toReversed()) {
      if (this.#known.has(object)) return;
      this.#known.add(object);
      this.#traces.push(new WeakRef(object));
    }
  }

  get count(): number {
    return this.#traces.length;
  }

  /** Counts the objects that are still referenced, except these. */
  retainedOutside(current: readonly object[]): number {
    const expected = new Set(current);
    return this.#traces.filter((trace) => {
      const object = trace.deref();
      return object !== undefined && !expected.has(object);
    }).length;
  }
}
