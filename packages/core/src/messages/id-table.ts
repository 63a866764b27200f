/** Finds the position of a list item by the item's id. */
export interface Positions {
  get(id: string): number | undefined;
  has(id: string): boolean;
}

/**
 * A hash table over the ids of list items. For each id, it stores a position and one byte of the hash. It
 * does not store the id, because the item contains it. A Map of two million strings takes five times the
 * memory and twice the time.
 */
export class IdTable<T> implements Positions {
  readonly #items: readonly T[];
  readonly #idOf: (item: T) => string | undefined;
  /** Position + 1. 0 means free. There are at least twice as many slots as items. */
  readonly #slots: Int32Array;
  /**
   * One byte of each hash. A lookup compares this byte first. Most other ids differ in it, so the lookup
   * rarely reads their items. Reading items is slower.
   */
  readonly #tags: Uint8Array;
  /**
   * Secret seed of the hash. Files are untrusted. Without a seed, somebody could choose ids with equal hashes
   * and make lookups slow.
   */
  readonly #seed = Math.floor(Math.random() * 2 ** 31);

  /** @param most Maximum number of items that have an id. */
  constructor(items: readonly T[], idOf: (item: T) => string | undefined, most: number = items.length) {
    this.#items = items;
    this.#idOf = idOf;
    const capacity = 2 ** Math.ceil(Math.log2(most * 2 + 2));
    this.#slots = new Int32Array(capacity);
    this.#tags = new Uint8Array(capacity);
  }

  /** Sets the position of an item's id. Returns the position that the id had before. */
  set(id: string, position: number): number | undefined {
    const hash = hashOf(id, this.#seed);
    const slot = this.#slotOf(id, hash);
    const before = this.#slots[slot] ?? 0;
    this.#slots[slot] = position + 1;
    this.#tags[slot] = hash >>> TAG_SHIFT;
    return before === 0 ? undefined : before - 1;
  }

  /**
   * Returns the position of the first item with this id. If there is none, records this position as the
   * first.
   */
  firstWith(id: string, position: number): number {
    const hash = hashOf(id, this.#seed);
    const slot = this.#slotOf(id, hash);
    const known = this.#slots[slot] ?? 0;
    if (known !== 0) return known - 1;
    this.#slots[slot] = position + 1;
    this.#tags[slot] = hash >>> TAG_SHIFT;
    return position;
  }

  get(id: string): number | undefined {
    const found = this.#slots[this.#slotOf(id, hashOf(id, this.#seed))] ?? 0;
    return found === 0 ? undefined : found - 1;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** Returns the slot of the id, or the free slot for it. */
  #slotOf(id: string, hash: number): number {
    const mask = this.#slots.length - 1;
    const tag = hash >>> TAG_SHIFT;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] ?? 0;
      if (found === 0) return slot;
      if (this.#tags[slot] === tag && this.#idOf(this.#items[found - 1] as T) === id) return slot;
    }
  }
}

/** Shift to the highest byte of a hash. The lowest bits select the slot. */
const TAG_SHIFT = 24;

/** A page of a {@link PositionSet} has 2^12 positions. */
const PAGE_BITS = 12;
const PAGE_MASK = 2 ** PAGE_BITS - 1;

/**
 * A set of positions. It uses one byte per position, because most sets are dense. Pages are allocated on
 * demand.
 */
export class PositionSet {
  readonly #pages: (Uint8Array | undefined)[] = [];

  add(position: number): void {
    const page = position >> PAGE_BITS;
    const marks = this.#pages[page] ?? new Uint8Array(PAGE_MASK + 1);
    this.#pages[page] = marks;
    marks[position & PAGE_MASK] = 1;
  }

  has(position: number): boolean {
    return this.#pages[position >> PAGE_BITS]?.[position & PAGE_MASK] === 1;
  }
}

/** Positions in insertion order. An array of numbers takes twice the memory, and more while it grows. */
export class PositionList {
  #positions = new Int32Array(64);
  #length = 0;

  push(position: number): void {
    if (this.#length === this.#positions.length) {
      const grown = new Int32Array(this.#length * 2);
      grown.set(this.#positions);
      this.#positions = grown;
    }
    this.#positions[this.#length++] = position;
  }

  /** Returns a view that shares memory with this list. */
  toArray(): Int32Array {
    return this.#positions.subarray(0, this.#length);
  }
}

/** Computes FNV-1a with a seed. The last steps mix the result into the low bits. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
