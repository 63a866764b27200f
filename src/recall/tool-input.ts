import { isRecord } from "../conversation/untrusted.ts";
import type { RecallQuery } from "./query.ts";

/** What a model asked for, once it has been looked at: never trusted as it comes. */
export type RecallInput =
  | { readonly id: string; readonly page: number }
  | { readonly search: RecallQuery & { readonly page: number } }
  | { readonly wrong: string };

const TEXT_FIELDS = ["query", "exact", "pattern", "file", "tool", "id"] as const;
type TextField = (typeof TEXT_FIELDS)[number];

/** A page is a context's worth of text at most; what is longer is no question. */
const LONGEST_TEXT = 4_000;

export function readInput(input: unknown): RecallInput {
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
