import type { JsonRecord } from "@longhaul/core/internal/messages";
import { claudeVersion, isAtLeast } from "@longhaul/core/internal/messages";
import { claudeFeatures, MODELS } from "@longhaul/core/measure";
import { type ModelOptions, serves } from "../../model-options.ts";
import type { SimulatedModel } from "../request.ts";
import { BETAS } from "../wording/betas.ts";
import { refuse } from "../wording/refuse.ts";

/** Name of the whole model family in the table of models. No model has this name. */
const FAMILY = "claude";

/** Dated names of models before 4.6. Retired models are missing. */
const SNAPSHOTS: Readonly<Record<string, string>> = {
  "claude-opus-4-5": "20251101",
  "claude-sonnet-4-5": "20250929",
  "claude-haiku-4-5": "20251001",
};

/** Default maximum output of an added model, as a share of its window. */
const DEFAULT_OUTPUT_SHARE = 0.25;

/** Models that the simulator serves. */
export class Catalog {
  readonly #models = new Map<string, SimulatedModel>();

  /** @param windowTokens window of every Claude model. The maximum output of these models does not change. */
  constructor(added: readonly ModelOptions[] = [], windowTokens?: number) {
    for (const [id, facts] of Object.entries(MODELS)) {
      if (!id.startsWith("claude") || id === FAMILY || isRetired(id)) continue;
      this.#models.set(id, {
        id,
        windowTokens: windowTokens ?? facts.windowTokens,
        maxOutputTokens: facts.maxOutputTokens,
        bindsThinking: facts.bindsThinking === true,
        features: claudeFeatures(id),
      });
    }
    for (const model of added) if (serves("anthropic", model)) this.#models.set(model.id, addedModel(model));
  }

  find(id: unknown): SimulatedModel | undefined {
    if (typeof id !== "string") return undefined;
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    const base = id.slice(0, -SNAPSHOT_SUFFIX_LENGTH);
    return id === `${base}-${SNAPSHOTS[base]}` ? this.#models.get(base) : undefined;
  }

  /** All models, newest first, like the API. Models that a test added come last. */
  get all(): readonly SimulatedModel[] {
    return [...this.#models.values()];
  }
}

/**
 * True for a name that Anthropic has retired: every model before 4.5. The type `Model` of the SDK (1.8.0) no
 * longer names them. The option `models` can bring one back for a test.
 */
function isRetired(id: string): boolean {
  const version = claudeVersion(id);
  return version === undefined ? /^claude-\d/.test(id) : !isAtLeast(version, 4, 5);
}

const SNAPSHOT_SUFFIX_LENGTH = "-20250101".length;

function addedModel(model: ModelOptions): SimulatedModel {
  return {
    id: model.id,
    windowTokens: model.windowTokens,
    maxOutputTokens: model.maxOutputTokens ?? Math.floor(model.windowTokens * DEFAULT_OUTPUT_SHARE),
    bindsThinking: model.bindsThinking ?? false,
    features: { ...claudeFeatures(model.id), ...model.features },
  };
}

const DEFAULT_PAGE = 20;
const LARGEST_PAGE = 1_000;
/** Date that the API reports for a model with an unknown release date. */
const UNKNOWN_RELEASE = "1970-01-01T00:00:00Z";
const LINES: ReadonlySet<string> = new Set(["haiku", "sonnet", "opus", "fable", "mythos"]);

/** Returns the answer to `GET /v1/models/{id}`. */
export function modelInfo(model: SimulatedModel, betas: ReadonlySet<string>): JsonRecord {
  const line = claudeVersion(model.id)?.line ?? "";
  return {
    type: "model",
    id: model.id,
    display_name: displayName(model.id),
    created_at: releaseOf(model.id),
    deprecated_at: null,
    retires_at: null,
    lifecycle: "active",
    line: LINES.has(line) ? line : null,
    max_input_tokens: model.windowTokens,
    max_tokens: model.maxOutputTokens,
    capabilities: capabilities(model, betas),
  };
}

/** Returns the answer to `GET /v1/models`. A client can request the page after or before an id. */
export function modelPage(catalog: Catalog, query: URLSearchParams, betas: ReadonlySet<string>): JsonRecord {
  const limit = pageSize(query.get("limit"));
  const all = catalog.all;
  const positionOf = (id: string): number => {
    const position = all.findIndex((model) => model.id === id);
    if (position < 0) refuse("cursorInvalid", { id });
    return position;
  };
  const after = query.get("after_id");
  const before = query.get("before_id");
  if (after !== null && before !== null) refuse("twoCursors");
  const end = before === null ? undefined : positionOf(before);
  const start = end === undefined ? (after === null ? 0 : positionOf(after) + 1) : Math.max(0, end - limit);
  const page = all.slice(start, end ?? start + limit);
  return {
    data: page.map((model) => modelInfo(model, betas)),
    has_more: end === undefined ? start + limit < all.length : start > 0,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function pageSize(text: string | null): number {
  if (text === null) return DEFAULT_PAGE;
  const size = Number(text);
  if (!Number.isInteger(size)) refuse("notInteger", { path: "limit" });
  if (size < 1) refuse("tooSmall", { path: "limit", minimum: 1 });
  if (size > LARGEST_PAGE) refuse("tooBig", { path: "limit", maximum: LARGEST_PAGE });
  return size;
}

function capabilities({ features }: SimulatedModel, betas: ReadonlySet<string>): JsonRecord {
  const support = (supported: boolean): JsonRecord => ({ supported });
  const yes = support(true);
  return {
    batch: yes,
    citations: yes,
    code_execution: yes,
    image_input: yes,
    pdf_input: yes,
    structured_outputs: yes,
    server_tools: { supported: true, code_execution: yes, web_search: yes },
    context_management: {
      supported: true,
      clear_thinking_20251015: yes,
      clear_tool_uses_20250919: yes,
      compact_20260112: support(features.compaction),
    },
    effort: {
      supported: features.effortLevels.length > 0,
      ...Object.fromEntries(
        (["low", "medium", "high", "xhigh", "max"] as const).map((level) => [
          level,
          support(features.effortLevels.includes(level)),
        ]),
      ),
    },
    thinking: {
      supported: features.thinkingModes.length > 0,
      types: Object.fromEntries(
        (["adaptive", "between_tools", "disabled", "enabled"] as const).map((mode) => [
          mode,
          support(features.thinkingModes.includes(mode)),
        ]),
      ),
    },
    ...(betas.has(BETAS.onDemandCompaction) ? { compaction: support(features.compaction) } : {}),
  };
}

/**
 * Turns claude-opus-4-5 into Claude Opus 4.5. A test can add an older model, so claude-3-5-haiku becomes
 * Claude Haiku 3.5.
 */
function displayName(id: string): string {
  const match = /^claude-(?:([a-z]+)-(\d+)(?:-(\d+))?|(\d+)-(\d+)-([a-z]+))$/.exec(id);
  if (match === null) return id;
  const line = match[1] ?? match[6] ?? "";
  const version = [match[2] ?? match[4], match[3] ?? match[5]].filter(Boolean).join(".");
  return `Claude ${line.charAt(0).toUpperCase()}${line.slice(1)} ${version}`;
}

function releaseOf(id: string): string {
  const date = SNAPSHOTS[id];
  return date === undefined
    ? UNKNOWN_RELEASE
    : `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T00:00:00Z`;
}
