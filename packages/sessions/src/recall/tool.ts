import { LonghaulError } from "@longhaul/core/errors";
import { isRecord, RECALL_TOOL_NAME } from "@longhaul/core/internal/messages";
import { ESTIMATORS } from "@longhaul/core/measure";
import { headOf, tailOf } from "@longhaul/core/messages";
import { openRecall, type Recall, type RecallOptions } from "./open-recall.ts";
import type { RecallPage, RecallPiece, RecallQuery, RecallReading } from "./query.ts";
import { HITS_PER_PAGE, PAGE_TOKENS } from "./search.ts";

export interface RecallToolOptions extends RecallOptions {
  /** The session file, or who writes it. */
  readonly session: string | { readonly path: string };
  /** What an answer may hold. */
  readonly budgetTokens?: number | undefined;
}

/** A tool for an agent's loop: the definition goes into the request, `call` answers what the model asks. */
export interface RecallTool {
  readonly definition: RecallToolDefinition;
  /** Never rejects for what a model wrote: the answer then says how to ask. */
  call(input: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

/** As the Messages API takes it. */
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
    "Searches everything of this session that is no longer in your context: messages that were summarised, tool results that were cleared. Gives them word for word, with an id by which each can be read whole. What it gives is old: files and states may have changed since. Use it before you ask the user again, guess, or redo work.",
  input_schema: {
    type: "object" as const,
    properties: {
      query: { type: "string", description: "Words to look for, ranked: the rarer the better." },
      exact: {
        type: "string",
        description: "A text that must stand there exactly, with capitals and signs.",
      },
      pattern: { type: "string", description: "A JavaScript regular expression." },
      file: { type: "string", description: "Only what was done with this file: its path or a part of it." },
      tool: { type: "string", description: "Only calls and results of this tool." },
      id: {
        type: "string",
        description: "Read all of one entry: an id from an earlier answer, or its beginning.",
      },
      page: { type: "integer", description: "Which page of a long answer; 1 is the first." },
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
        // The host's own abort is the host's; everything else the model can be told.
        if (signal?.aborted || !(error instanceof LonghaulError)) throw error;
        return [error.message, error.remedy, HOW].filter(Boolean).join(" ");
      }
    },
  };
}

/** A path, the name of a tool, an id can be anything; the beginning of an id will do. */
const LONGEST_NAME = 160;
const LONGEST_CALL = 160;
/** With its title. */
const LEAST_HIT_TOKENS = 200;
/** What a title takes: the time, who it was, a path, the id. */
const TITLE_TOKENS = 80;
/** What stands above and below. */
const FRAME_TOKENS = 80;
const OLD = "OLD, from earlier in this session: files, results and plans may have changed since.";

async function searchText(
  recall: Recall,
  query: RecallQuery & { readonly page: number },
  budgetTokens: number,
): Promise<string> {
  // Few hits on a page rather than hits of which nothing can be seen.
  const limit = Math.min(HITS_PER_PAGE, Math.max(1, Math.floor(budgetTokens / LEAST_HIT_TOKENS)));
  const room = Math.max(1, budgetTokens - FRAME_TOKENS - limit * TITLE_TOKENS);
  const page = await recall.search({ ...query, limit, budgetTokens: room });
  if (page.hits.length === 0) return nothing(query, page);
  const { signal: _, page: __, words, ...others } = query;
  const first = (page.page - 1) * limit + 1;
  const count = page.total === undefined ? "more" : String(page.total);
  const parts = [
    `Hits ${first} to ${first + page.hits.length - 1} of ${count}. ${OLD}`,
    ...page.hits.map((hit) => `${titleOf(hit)}\n${hit.text}`),
    ...(page.notSearched > 0 ? [`Not searched, the pattern is too slow on them: ${page.notSearched}.`] : []),
    page.hasMore ? `There is more: ${next({ query: words, ...others }, page.page)}` : "That is all.",
  ];
  return parts.join("\n\n");
}

/** How the model asks for the page after this one. What it asked at length it need not be told again. */
function next(asked: object, page: number): string {
  const call = JSON.stringify({ ...asked, page: page + 1 });
  return `call ${RECALL_TOOL_NAME} with ${call.length > LONGEST_CALL ? `the same and "page": ${page + 1}` : call}.`;
}

function nothing(query: RecallQuery, { page, notSearched }: RecallPage): string {
  if (page > 1) return `There is no page ${page}: call ${RECALL_TOOL_NAME} with a smaller one.`;
  return [
    "Nothing was found in what is no longer in your context.",
    ...(notSearched > 0
      ? [`The pattern is too slow on ${notSearched} entries, which were not searched.`]
      : []),
    ...(query.exact === undefined && query.pattern === undefined
      ? ["Try other words, fewer of them, or a part of a name."]
      : ["Try `query` with the rarest words of it."]),
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
      ? `It goes on (${reading.tokens} tokens in all): ${next({ id }, page)}`
      : "That is all of it.",
  ];
  return parts.join("\n\n");
}

function notRead(id: string, page: number, { candidates }: RecallReading): string {
  const name = headOf(id, LONGEST_NAME);
  if (candidates.length > 1)
    return `Several ids begin like ${name}: ${candidates.join(", ")}. Give one of them.`;
  if (page > 1) return `There is no page ${page} of ${name}.`;
  return `Nothing in this session has the id ${name}. Search by \`query\` first: each hit says its id.`;
}

/** What a model asked for, once it has been looked at: never trusted as it comes. */
type RecallInput =
  | { readonly id: string; readonly page: number }
  | { readonly search: RecallQuery & { readonly page: number } }
  | { readonly wrong: string };

const TEXT_FIELDS = ["query", "exact", "pattern", "file", "tool", "id"] as const;
type TextField = (typeof TEXT_FIELDS)[number];

/** A page is a context's worth of text at most; what is longer is no question. */
const LONGEST_TEXT = 4_000;

function readInput(input: unknown): RecallInput {
  if (!isRecord(input)) return { wrong: "The input must be an object." };
  const texts: Partial<Record<TextField, string>> = {};
  for (const name of TEXT_FIELDS) {
    const value = input[name];
    if (value === undefined || value === null || value === "") continue;
    if (typeof value !== "string") return { wrong: `\`${name}\` must be a text.` };
    if (value.length > LONGEST_TEXT)
      return { wrong: `\`${name}\` is too long: give the part that tells most.` };
    texts[name] = value;
  }
  const page = pageIn(input.page);
  if (page === undefined) return { wrong: "`page` must be a whole number from 1 on." };
  const { query: words, exact, pattern, file, tool, id } = texts;
  if (id !== undefined) return { id, page };
  if (Object.keys(texts).length === 0) return { wrong: "Nothing was asked for." };
  return { search: { words, exact, pattern, file, tool, page } };
}

/** Models write numbers as texts, too. */
function pageIn(value: unknown): number | undefined {
  if (value === undefined || value === null || value === "") return 1;
  const page = typeof value === "string" ? Number(value) : value;
  return typeof page === "number" && Number.isSafeInteger(page) && page >= 1 ? page : undefined;
}
