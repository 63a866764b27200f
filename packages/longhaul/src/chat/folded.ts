import { plural } from "../view/numbers.ts";
import type { Screen } from "./screen/screen.ts";
import { unfoldedBody } from "./show/event-lines.ts";

/** An item of which only one line was shown. */
export interface FoldedItem {
  readonly title: string;
  readonly body: string;
}

/** Maximum number of kept items. The transcript has everything. */
const MAX_KEPT = 100;

/** Recent items that can be shown in full. */
export class Folded {
  #items: readonly FoldedItem[] = [];

  add(item: FoldedItem): void {
    this.#items = [...this.#items.slice(1 - MAX_KEPT), item];
  }

  /** Returns an item by its number. 1 is the newest. */
  back(nth: number): FoldedItem | undefined {
    return this.#items[this.#items.length - nth];
  }

  get size(): number {
    return this.#items.length;
  }
}

interface Unfolding {
  readonly folded: Folded;
  readonly screen: Pick<Screen, "colors">;
  say(text: string): void;
}

/** Shows the n-th newest item. 1 is the newest. */
export function unfold(nth: number, { folded, screen, say }: Unfolding): void {
  const item = folded.back(nth);
  if (item !== undefined) say(`${screen.colors.bold(item.title)}\n${unfoldedBody(item.body, screen.colors)}`);
  else if (folded.size === 0) say("There is nothing to show yet.");
  else say(`There are only ${plural(folded.size, "item")}.`);
}
