import { type ClaudeFeatures, claudeFeatures } from "../../../window/claude-features.ts";
import { MODELS } from "../../../window/models.ts";
import type { SimulatedModel } from "../exchange.ts";

/** A model that a test adds, or one of ours with other sizes. What is not given is that of a Claude of this name. */
export interface ModelOptions {
  readonly id: string;
  readonly windowTokens: number;
  readonly maxOutputTokens?: number;
  readonly bindsThinking?: boolean;
  readonly features?: Partial<ClaudeFeatures>;
}

/** Rows of the table that stand for whole families: no model has such a name. */
const FAMILIES: ReadonlySet<string> = new Set(["claude", "claude-3"]);

/** Names with a date that the models of before 4.6 are called by as well. */
const SNAPSHOTS: Readonly<Record<string, string>> = {
  "claude-opus-4-5": "20251101",
  "claude-sonnet-4-5": "20250929",
  "claude-haiku-4-5": "20251001",
  "claude-opus-4-1": "20250805",
  "claude-opus-4": "20250514",
  "claude-sonnet-4": "20250514",
  "claude-3-7-sonnet": "20250219",
  "claude-3-5-sonnet": "20241022",
  "claude-3-5-haiku": "20241022",
};

/** What an own model may write in one reply, of its window, when the test does not say. */
const DEFAULT_OUTPUT_SHARE = 0.25;

/** The models that the simulator serves. */
export class Catalogue {
  readonly #models = new Map<string, SimulatedModel>();

  /** @param windowTokens the window of every Claude model; what a model may write in one reply stays. */
  constructor(added: readonly ModelOptions[] = [], windowTokens?: number) {
    for (const [id, facts] of Object.entries(MODELS)) {
      if (!id.startsWith("claude") || FAMILIES.has(id)) continue;
      this.#models.set(id, {
        id,
        windowTokens: windowTokens ?? facts.windowTokens,
        maxOutputTokens: facts.maxOutputTokens,
        bindsThinking: facts.bindsThinking === true,
        features: claudeFeatures(id),
      });
    }
    for (const model of added) this.#models.set(model.id, addedModel(model));
  }

  find(id: unknown): SimulatedModel | undefined {
    if (typeof id !== "string") return undefined;
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    const base = id.slice(0, -SNAPSHOT_SUFFIX_LENGTH);
    return id === `${base}-${SNAPSHOTS[base]}` ? this.#models.get(base) : undefined;
  }

  /** Newest first, as the API lists them; what a test added comes last. */
  get all(): readonly SimulatedModel[] {
    return [...this.#models.values()];
  }
}

const SNAPSHOT_SUFFIX_LENGTH = "-20250101".length;

export function snapshotDate(id: string): string | undefined {
  return SNAPSHOTS[id];
}

function addedModel(model: ModelOptions): SimulatedModel {
  return {
    id: model.id,
    windowTokens: model.windowTokens,
    maxOutputTokens: model.maxOutputTokens ?? Math.floor(model.windowTokens * DEFAULT_OUTPUT_SHARE),
    bindsThinking: model.bindsThinking ?? false,
    features: { ...claudeFeatures(model.id), ...model.features },
  };
}
