import { claudeVersion } from "../../../conversation/claude-version.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import type { SimulatedModel } from "../exchange.ts";
import { refuse } from "../wording/refuse.ts";
import { type Catalogue, snapshotDate } from "./catalogue.ts";

const DEFAULT_PAGE = 20;
const LARGEST_PAGE = 1_000;
/** What the API gives for a model whose day of release it does not tell. */
const UNKNOWN_RELEASE = "1970-01-01T00:00:00Z";
const LINES: ReadonlySet<string> = new Set(["haiku", "sonnet", "opus", "fable", "mythos"]);
const COMPACTION_BETA = "compact-2026-09-04";

/** `GET /v1/models/{id}`. */
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

/** `GET /v1/models`: pages by id, forwards and backwards. */
export function modelPage(
  catalogue: Catalogue,
  query: URLSearchParams,
  betas: ReadonlySet<string>,
): JsonRecord {
  const limit = pageSize(query.get("limit"));
  const all = catalogue.all;
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
  const hasEffort = features.thinkingModes.includes("adaptive");
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
      supported: hasEffort,
      ...Object.fromEntries(
        ["low", "medium", "high", "xhigh", "max"].map((name) => [name, support(hasEffort)]),
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
    ...(betas.has(COMPACTION_BETA) ? { compaction: support(features.compaction) } : {}),
  };
}

/** claude-opus-4-5 is Claude Opus 4.5, and claude-3-5-haiku Claude Haiku 3.5. */
function displayName(id: string): string {
  const match = /^claude-(?:([a-z]+)-(\d+)(?:-(\d+))?|(\d+)-(\d+)-([a-z]+))$/.exec(id);
  if (match === null) return id;
  const line = match[1] ?? match[6] ?? "";
  const version = [match[2] ?? match[4], match[3] ?? match[5]].filter(Boolean).join(".");
  return `Claude ${line.charAt(0).toUpperCase()}${line.slice(1)} ${version}`;
}

function releaseOf(id: string): string {
  const date = snapshotDate(id);
  return date === undefined
    ? UNKNOWN_RELEASE
    : `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T00:00:00Z`;
}
