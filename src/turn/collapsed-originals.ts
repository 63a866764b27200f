import { expandableSpans } from "../compact/collapse/expand.ts";
import { collapsedUuids } from "../conversation/collapsed.ts";
import type { Entry } from "../conversation/entry.ts";

/** What committed spans stand for, where no transcript has it. */
export class CollapsedOriginals {
  #entries: Map<string, Entry> = new Map();

  add(entries: readonly Entry[]): void {
    for (const entry of entries) if (entry.uuid !== undefined) this.#entries.set(entry.uuid, entry);
  }

  /** Of these, what is known. */
  of(uuids: readonly string[]): readonly Entry[] {
    return uuids.flatMap((uuid) => this.#entries.get(uuid) ?? []);
  }

  /** The conversation is another now: what no span in it stands for can never be asked for again. */
  keepFor(conversation: readonly Entry[]): void {
    const kept = new Map<string, Entry>();
    let next = expandableSpans(conversation).flatMap(collapsedUuids);
    while (next.length > 0) {
      const fresh = this.of(next).filter(({ uuid }) => uuid !== undefined && !kept.has(uuid));
      for (const entry of fresh) kept.set(entry.uuid as string, entry);
      next = fresh.flatMap(collapsedUuids);
    }
    this.#entries = kept;
  }
}
