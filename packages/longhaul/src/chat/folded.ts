import { plural } from "../view/numbers.ts";
import type { Screen } from "./screen/screen.ts";
import { unfoldedBody } from "./show/event-lines.ts";

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

interface Unfolding {
  readonly folded: Folded;
  readonly screen: Pick<Screen, "colours">;
  say(text: string): void;
}

/** Shows the n-th from the end; 1 is the newest. */
export function unfold(nth: number, { folded, screen, say }: Unfolding): void {
  const item = folded.back(nth);
  if (item !== undefined)
    say(`${screen.colours.bold(item.title)}\n${unfoldedBody(item.body, screen.colours)}`);
  else if (folded.size === 0) say("Nothing has been folded yet.");
  else say(`There are only ${plural(folded.size, "call")}.`);
}
