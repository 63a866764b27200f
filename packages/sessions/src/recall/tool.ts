import { LonghaulError } from "@longhaul/core/errors";
import { isRecord, RECALL_TOOL_NAME } from "@longhaul/core/internal/messages";
import { ESTIMATORS } from "@longhaul/core/measure";
import { headOf, tailOf } from "@longhaul/core/messages";
import { openRecall, type Recall, type RecallOptions } from "./open-recall.ts";
import type { RecallPage, RecallPiece, RecallQuery, RecallReading } from "./query.ts";
import { HITS_PER_PAGE, PAGE_TOKENS } from "./search.ts";

export interface RecallToolOptions extends RecallOptions {
  /** Path of the session file, or the object that writes it. */
  readonly session: string | { readonly path: string };
  /** Token budget of an answer. */
  readonly budgetTokens?: number | undefined;
}

/** Tool for an agent's loop. The definition goes into the request, and `call` answers the model's calls. */
export interface RecallTool {
  readonly definition: RecallToolDefinition;
  /**
   * Answers a call. Never rejects because of the model's input. If the input is invalid, the answer explains
   * the correct usage.
   */
  call(input: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

/** Tool definition in the form of the Messages API. */
export type RecallToolDefinition = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, { readonly type: string; readonly description: string }>>;
  };
};

const HOW =
  'Examples: {"query": "rate limit decision"}, {"exact": "TypeError: x"}, {"file": "src/a.ts"}, {"id": "1f0c9d2e"}.';

export const RECALL_TOOL: RecallToolDefinition = Object.freeze({
  name: RECALL_TOOL_NAME,
  description:
    "Searches everything in this session that is no longer in your context: summarized messages and cleared tool results. Returns the matching passages word for word, each with an id. To read a whole entry, pass its id. Results are old, so files and states may have changed since then. Use this tool before you ask the user again, guess, or repeat work.",
  input_schema: {
    type: "object" as const,
    properties: {
      query: {
        type: "string",
        description: "Words to search for. Results are ranked, and rare words count most.",
      },
      exact: {
        type: "string",
        description: "A text that must occur exactly, including case and punctuation.",
      },
      pattern: { type: "string", description: "A JavaScript regular expression." },
      file: {
        type: "string",
        description: "Find only what was done with this file. Pass its path or a part of the path.",
      },
      tool: { type: "string", description: "Find only calls and results of this tool." },
      id: {
        type: "string",
        description: "Read one whole entry. Pass an id from an earlier result, or the beginning of an id.",
      },
      page: { type: "integer", description: "The page of a long result. The first page is 1." },
    },
  },
});

export function createRecallTool(options: RecallToolOptions): RecallTool {
  const { session, budgetTokens = PAGE_TOKENS, countTokens = ESTIMATORS.o200k } = options;
  const path = typeof session === "string" ? session : session.path;
  const recall = openRecall(path, { ...options, countTokens });
  return {
    definition: RECALL_TOOL,
    call: async (input, { signal } = {}) => {
      const asked = readInput(input);
      if ("wrong" in asked) return `${asked.wrong} ${HOW}`;
      try {
        if ("id" in asked) return await readText(recall, asked, budgetTokens);
        return await searchText(recall, { ...asked.search, signal }, budgetTokens);
      } catch (error) {
        // The host handles its own abort. The model gets a description of every other failure.
        if (signal?.aborted || !(error instanceof LonghaulError)) throw error;
        return [error.message, error.remedy, HOW].filter(Boolean).join(" ");
      }
    },
  };
}

/**
 * Maximum length of a name. Paths, tool names and ids can contain anything. The beginning of an id is enough.
 */
const LONGEST_NAME = 160;
const LONGEST_CALL = 160;
/** Minimum tokens of a hit, including its title. */
const MIN_HIT_TOKENS = 200;
/** Tokens of a title: time, author, path and id. */
const TITLE_TOKENS = 80;
/** Tokens of the text above and below the hits. */
const FRAME_TOKENS = 80;
const OLD = "OLD, from earlier in this session: files, results, and plans may have changed since then.";

async function searchText(
  recall: Recall,
  query: RecallQuery & { readonly page: number },
  budgetTokens: number,
): Promise<string> {
  // Prefers fewer hits per page to hits that show nothing.
  const limit = Math.min(HITS_PER_PAGE, Math.max(1, Math.floor(budgetTokens / MIN_HIT_TOKENS)));
  const room = Math.max(1, budgetTokens - FRAME_TOKENS - limit * TITLE_TOKENS);
  const page = await recall.search({ ...query, limit, budgetTokens: room });
  if (page.hits.length === 0) return nothing(query, page);
  const { signal: _, page: __, words, ...others } = query;
  const first = (page.page - 1) * limit + 1;
  const count = page.total === undefined ? "more" : String(page.total);
  const parts = [
    `Hits ${first} to ${first + page.hits.length - 1} of ${count}. ${OLD}`,
    ...page.hits.map((hit) => `${titleOf(hit)}\n${hit.text}`),
    ...(page.notSearched > 0
      ? [`Entries not searched, because the pattern is too slow on them: ${page.notSearched}.`]
      : []),
    page.hasMore
      ? `There is more. To read it, ${next({ query: words, ...others }, page.page)}`
      : "That is all.",
  ];
  return parts.join("\n\n");
}

/** Tells the model how to request the next page. Does not repeat long inputs of the model. */
function next(asked: object, page: number): string {
  const call = JSON.stringify({ ...asked, page: page + 1 });
  return `call ${RECALL_TOOL_NAME} with ${call.length > LONGEST_CALL ? `the same input and "page": ${page + 1}` : call}.`;
}

function nothing(query: RecallQuery, { page, notSearched }: RecallPage): string {
  if (page > 1) return `There is no page ${page}. Call ${RECALL_TOOL_NAME} with a smaller page number.`;
  return [
    "Nothing was found in the part of the session that is no longer in your context.",
    ...(notSearched > 0
      ? [`${notSearched} entries were not searched, because the pattern is too slow on them.`]
      : []),
    ...(query.exact === undefined && query.pattern === undefined
      ? ["Try other words, fewer words, or a part of a name."]
      : ["Try `query` with its rarest words."]),
    ...(query.file === undefined && query.tool === undefined ? [] : ["Try it without `file` and `tool`."]),
  ].join(" ");
}

function titleOf(piece: RecallPiece): string {
  const facts = [
    headOf(piece.timestamp ?? "no time", LONGEST_NAME),
    headOf(piece.who, LONGEST_NAME),
    ...(piece.isError ? ["failed"] : []),
    ...(piece.file === undefined ? [] : [tailOf(piece.file, LONGEST_NAME)]),
    ...(piece.id === undefined ? [] : [`id ${headOf(piece.id, LONGEST_NAME)}`]),
    ...(piece.isInContext ? ["still in your context"] : []),
  ];
  const isPart = piece.from > 0 || piece.to < piece.length;
  return `[${facts.join(" · ")}${isPart ? ` · characters ${piece.from} to ${piece.to} of ${piece.length}` : ""}]`;
}

async function readText(
  recall: Recall,
  { id, page }: { readonly id: string; readonly page: number },
  budgetTokens: number,
): Promise<string> {
  const room = Math.max(1, budgetTokens - FRAME_TOKENS - TITLE_TOKENS);
  const reading = await recall.read(id, { page, budgetTokens: room });
  if (reading.pieces.length === 0) return notRead(id, page, reading);
  const parts = [
    OLD,
    ...reading.pieces.map((piece) => `${titleOf(piece)}\n${piece.text}`),
    reading.hasMore
      ? `This is a part (${reading.tokens} tokens in total). To read the next part, ${next({ id }, page)}`
      : "That is the whole entry.",
  ];
  return parts.join("\n\n");
}

function notRead(id: string, page: number, { candidates }: RecallReading): string {
  const name = headOf(id, LONGEST_NAME);
  if (candidates.length > 1)
    return `Several ids start with ${name}: ${candidates.join(", ")}. Pass one of them.`;
  if (page > 1) return `There is no page ${page} of ${name}.`;
  return `Nothing in this session has the id ${name}. Search with \`query\` first. Each hit shows its id.`;
}

/** Input of a model after validation. */
type RecallInput =
  | { readonly id: string; readonly page: number }
  | { readonly search: RecallQuery & { readonly page: number } }
  | { readonly wrong: string };

const TEXT_FIELDS = ["query", "exact", "pattern", "file", "tool", "id"] as const;
type TextField = (typeof TEXT_FIELDS)[number];

/** Maximum length of a query. Anything longer is not a query. */
const LONGEST_TEXT = 4_000;

function readInput(input: unknown): RecallInput {
  if (!isRecord(input)) return { wrong: "The input must be an object." };
  const texts: Partial<Record<TextField, string>> = {};
  for (const name of TEXT_FIELDS) {
    const value = input[name];
    if (value === undefined || value === null || value === "") continue;
    if (typeof value !== "string") return { wrong: `\`${name}\` must be a string.` };
    if (value.length > LONGEST_TEXT)
      return { wrong: `\`${name}\` is too long. Pass its most specific part.` };
    texts[name] = value;
  }
  const page = pageIn(input.page);
  if (page === undefined) return { wrong: "`page` must be a whole number, 1 or more." };
  const { query: words, exact, pattern, file, tool, id } = texts;
  if (id !== undefined) return { id, page };
  if (Object.keys(texts).length === 0) return { wrong: "Empty query. Pass at least one field." };
  return { search: { words, exact, pattern, file, tool, page } };
}

/** Returns the page number. Models sometimes write numbers as strings. */
function pageIn(value: unknown): number | undefined {
  if (value === undefined || value === null || value === "") return 1;
  const page = typeof value === "string" ? Number(value) : value;
  return typeof page === "number" && Number.isSafeInteger(page) && page >= 1 ? page : undefined;
}
