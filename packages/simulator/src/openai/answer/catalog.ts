import type { JsonRecord } from "@longhaul/core/internal/messages";
import { findModel } from "@longhaul/core/measure";
import { type ModelOptions, serves, type TokenPrices } from "../../model-options.ts";
import type { CachingKind } from "../prompt/prefix-cache.ts";
import type { OpenAiModel } from "../request.ts";
import { refuse } from "../wording/refuse.ts";
import {
  KNOWN_MODELS,
  type KnownModel,
  type LongPrompts,
  longPromptsOf,
  RETIRED_MODELS,
  SNAPSHOTS,
} from "./known-models.ts";

/** A model with the facts that only the answering side needs. */
export interface CatalogModel extends OpenAiModel {
  /** Limit for the tokens of the prompt. It may be lower than the window. */
  readonly maxInputTokens: number;
  readonly caching: CachingKind;
  /** Name that answers report: the dated snapshot that the name means, if it is known. */
  readonly reportedId: string;
  /** Undefined if the prices are not known. */
  readonly prices: TokenPrices | undefined;
  /** Undefined if all prompts have the same prices. */
  readonly longPrompts?: LongPrompts | undefined;
}

/** Default maximum output of an added model, as a share of its window. */
const DEFAULT_OUTPUT_SHARE = 0.25;
/** Suffix of a dated snapshot, for example `-2025-08-07`. */
const SNAPSHOT = /-\d{4}-\d{2}-\d{2}$/;

/** OpenAI models that the simulator serves. */
export class OpenAiCatalog {
  readonly #models = new Map<string, CatalogModel>();
  readonly #added: ReadonlySet<string>;

  /** @param windowTokens window of every known model. The maximum output of these models does not change. */
  constructor(added: readonly ModelOptions[] = [], windowTokens?: number) {
    for (const known of KNOWN_MODELS) this.#models.set(known.id, catalogModel(known, windowTokens));
    const own = added.filter((model) => serves("openai", model));
    for (const model of own) this.#models.set(model.id, this.#addedModel(model));
    this.#added = new Set(own.map(({ id }) => id));
  }

  /** Finds a model by its name or by the name of a dated snapshot. */
  find(id: unknown): CatalogModel | undefined {
    if (typeof id !== "string") return undefined;
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    if (RETIRED_MODELS.has(id)) return undefined;
    const base = this.#models.get(id.replace(SNAPSHOT, ""));
    if (base === undefined || this.#added.has(base.id)) return undefined;
    const dates = SNAPSHOTS[base.id];
    const isKnown = dates === undefined || dates.some((date) => id === `${base.id}-${date}`);
    return isKnown ? { ...base, id, reportedId: id } : undefined;
  }

  /** Returns a model with a retired name, so that the rules can refuse it by name. */
  retired(id: unknown): CatalogModel | undefined {
    if (typeof id !== "string" || this.find(id) !== undefined || !RETIRED_MODELS.has(id)) return undefined;
    return {
      ...PLAIN_MODEL,
      id,
      reportedId: id,
      windowTokens: 0,
      maxInputTokens: 0,
      maxOutputTokens: 0,
      isRetired: true,
    };
  }

  /** Finds the model of a request, or throws the refusal of an unknown or retired model. */
  require(id: string): CatalogModel {
    const model = this.find(id);
    if (model !== undefined) return model;
    return RETIRED_MODELS.has(id)
      ? refuse("modelRetired", null, { model: id })
      : refuse("modelUnknown", null, { model: id });
  }

  /** The newest model that OpenAI offers. */
  get newest(): CatalogModel {
    return this.require(KNOWN_MODELS[0]?.id ?? "");
  }

  get all(): readonly CatalogModel[] {
    return [...this.#models.values()];
  }

  #addedModel({ id, windowTokens, maxOutputTokens, efforts, prices }: ModelOptions): CatalogModel {
    const like: typeof PLAIN_MODEL = this.find(id) ?? PLAIN_MODEL;
    const ownEfforts = efforts ?? like.efforts;
    return {
      ...like,
      id,
      reportedId: id,
      windowTokens,
      maxInputTokens: windowTokens,
      maxOutputTokens: maxOutputTokens ?? Math.floor(windowTokens * DEFAULT_OUTPUT_SHARE),
      isReasoning: ownEfforts.length > 0,
      efforts: ownEfforts,
      prices: prices ?? like.prices,
      longPrompts: prices === undefined ? like.longPrompts : undefined,
    };
  }
}

/** Defaults of an added model that no known model resembles. */
const PLAIN_MODEL: Omit<
  CatalogModel,
  "id" | "reportedId" | "windowTokens" | "maxInputTokens" | "maxOutputTokens"
> = {
  isReasoning: false,
  efforts: [],
  acceptsImages: true,
  isRetired: false,
  caching: "automatic",
  prices: undefined,
};

function catalogModel(known: KnownModel, windowTokens: number | undefined): CatalogModel {
  const facts = findModel(known.id);
  const { id, efforts = [], acceptsImages = true, caching = "automatic", prices } = known;
  const maxInputTokens = windowTokens ?? known.maxInputTokens ?? facts.windowTokens;
  return {
    id,
    windowTokens: windowTokens ?? facts.windowTokens,
    maxInputTokens,
    maxOutputTokens: facts.maxOutputTokens,
    isReasoning: efforts.length > 0,
    efforts,
    acceptsImages,
    isRetired: false,
    reportedId: SNAPSHOTS[id] === undefined ? id : `${id}-${SNAPSHOTS[id][0]}`,
    caching,
    prices,
    longPrompts: longPromptsOf(known),
  };
}

/** Owner that the API reports for its own models. */
const OWNER = "system";

/** Returns the answer to `GET /v1/models/{id}`. */
export const modelInfo = ({ id }: Pick<CatalogModel, "id">): JsonRecord => ({
  id,
  object: "model",
  created: createdAt(id),
  owned_by: OWNER,
});

/** Returns the answer to `GET /v1/models`. */
export const modelList = (catalog: OpenAiCatalog): JsonRecord => ({
  object: "list",
  data: catalog.all.map(modelInfo),
});

/** Returns the date of a snapshot in seconds. Other names report 0, because no public source lists the dates. */
function createdAt(id: string): number {
  const date = SNAPSHOT.exec(id)?.[0].slice(1);
  return date === undefined ? 0 : Date.parse(`${date}T00:00:00Z`) / 1_000;
}
