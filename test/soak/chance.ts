import { createRandom, type Random } from "../../packages/simulator/src/demo/random.ts";

/** Random decisions of a schedule, drawn from its seed. */
export class Chance {
  readonly random: Random;

  constructor(seed: number) {
    this.random = createRandom(seed);
  }

  between(low: number, high: number): number {
    return this.random.between(low, high);
  }

  /** Returns true with this probability. */
  is(probability: number): boolean {
    return this.random.between(1, 10_000) <= probability * 10_000;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.random.between(0, choices.length - 1)];
    if (choices.length === 0) throw new Error("There is nothing to pick from.");
    return choice as T;
  }

  maybe<T>(probability: number, choice: () => T): T | undefined {
    return this.is(probability) ? choice() : undefined;
  }

  /** Picks a name with a probability in proportion to its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.random.between(1, total);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left <= 0) return name;
    }
    throw new Error("No weights.");
  }
}
