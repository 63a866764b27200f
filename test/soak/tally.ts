import type { HeapFigures, PoolReport } from "./pool.ts";

export interface KindTally {
  readonly kind: string;
  violations: number;
  schedules: number;
  /** Seeds of the first schedules with this violation. */
  readonly seeds: number[];
  readonly example: string;
}

const SEEDS_KEPT = 5;
const EXAMPLE_CHARACTERS = 300;
/** The heap counts as flat if it grows by at most this factor. */
const HEAP_FACTOR = 1.3;
const HEAP_SLACK_MEGABYTES = 25;

/** Totals of all schedules of a run. */
export class Tally {
  schedules = 0;
  failed = 0;
  requests = 0;
  faults = 0;
  compactions = 0;
  readonly #kinds = new Map<string, KindTally>();

  /** Adds a report. Returns true if one of its violations is new or rare so far. */
  add({ seed, violations, requests = 0, faults = 0, compactions = 0 }: PoolReport): boolean {
    this.schedules += 1;
    this.requests += requests;
    this.faults += faults;
    this.compactions += compactions;
    if (violations.length === 0) return false;
    this.failed += 1;
    let isRare = false;
    const counted = new Set<string>();
    for (const { kind, detail } of violations) {
      const tally = this.#kinds.get(kind) ?? this.#begin(kind, detail);
      tally.violations += 1;
      if (counted.has(kind)) continue;
      counted.add(kind);
      tally.schedules += 1;
      if (tally.seeds.length < SEEDS_KEPT) tally.seeds.push(seed);
      isRare ||= tally.schedules <= 2;
    }
    return isRare;
  }

  addHeap(figures: readonly HeapFigures[]): void {
    for (const { first, last, schedules } of figures) {
      if (last <= first * HEAP_FACTOR + HEAP_SLACK_MEGABYTES) continue;
      const tally =
        this.#kinds.get("memory grows") ?? this.#begin("memory grows", `${first} MB to ${last} MB`);
      tally.violations += 1;
      tally.schedules += schedules;
    }
  }

  get hasFailed(): boolean {
    return this.#kinds.size > 0;
  }

  get kinds(): readonly KindTally[] {
    return [...this.#kinds.values()].toSorted((one, other) => other.schedules - one.schedules);
  }

  #begin(kind: string, detail: string): KindTally {
    const example = detail.slice(0, EXAMPLE_CHARACTERS);
    const tally: KindTally = { kind, violations: 0, schedules: 0, seeds: [], example };
    this.#kinds.set(kind, tally);
    return tally;
  }
}
