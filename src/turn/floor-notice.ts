/** What changes by less is the same news. */
const MATERIAL_SHARE = 0.1;

export interface Floor {
  /** What is left whatever is compacted: system prompt, tools, and the smallest summary. */
  readonly floorTokens: number;
  readonly threshold: number;
}

/** Says once, not every turn, that no compaction can get a conversation under its threshold. */
export class FloorNotice {
  #told: Floor | undefined;

  /** Whether to say it now. Call it whenever the floor is known, also where it is below the threshold. */
  isNews(floor: Floor): boolean {
    if (!(floor.floorTokens >= floor.threshold)) {
      this.#told = undefined;
      return false;
    }
    const told = this.#told;
    if (
      told !== undefined &&
      !hasChanged(told.floorTokens, floor.floorTokens) &&
      !hasChanged(told.threshold, floor.threshold)
    ) {
      return false;
    }
    this.#told = floor;
    return true;
  }
}

const hasChanged = (before: number, after: number): boolean =>
  Math.abs(after - before) > before * MATERIAL_SHARE;
