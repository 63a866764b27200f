import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage. Works without a command-line flag. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Objects of a conversation. They should be collected after the conversation has dropped them. */
export class Traces {
  readonly #traces: WeakRef<object>[] = [];
  readonly #known = new WeakSet<object>();

  add(objects: readonly object[]): void {
    // Starts with the newest object, because all objects before a known one are known too.
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
