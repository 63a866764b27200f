/** Something of which only a line was shown. */
export interface FoldedItem {
  readonly title: string;
  readonly body: string;
}

/** Nobody looks further back than this; the transcript has all of it. */
const MOST_KEPT = 100;

/** What can be looked at whole, by how long ago it was. */
export class Folded {
  #items: readonly FoldedItem[] = [];

  add(item: FoldedItem): void {
    this.#items = [...this.#items.slice(1 - MOST_KEPT), item];
  }

  /** 1 is the newest. */
  back(nth: number): FoldedItem | undefined {
    return this.#items[this.#items.length - nth];
  }

  get size(): number {
    return this.#items.length;
  }
}
