import { sum } from "@longhaul/core/internal/compaction";
import { headThatFits } from "@longhaul/core/internal/measure";
import { oneLine } from "@longhaul/core/internal/summary";
import type { CountText } from "@longhaul/core/measure";
import type { Notes, NotesLimits, NotesSection } from "./notes-format.ts";
import { joinParts, nameKey } from "./notes-format.ts";

/**
 * Sections that give way first if all of them are too long together. What happened and what the code tells anyhow can be
 * missed; how to go on cannot. Sections of a user's own template stand between the two, their later ones first. What
 * stands above the first heading gets what is left: it was there before the session.
 */
const CUT_FIRST: readonly string[] = [
  "Worklog",
  "Session Title",
  "Codebase and System Documentation",
  "Learnings",
  "Workflow",
  "Key Results",
].map(nameKey);
const CUT_LAST: readonly string[] = [
  "Files and Functions",
  "Errors & Corrections",
  "Task Specification",
  "Current State",
].map(nameKey);

/** All are cut down to this share of a section's limit before one is cut away: a few lines of each say more. */
const FLOOR_SHARE = 1 / 8;

const CUT_MARK = "[… the rest of this section was cut]";

/** The last lines of this section say more about the work than its first. */
const CUT_AT_THE_FRONT = nameKey("Worklog");
const FRONT_CUT_MARK = "[… the older part of this section was cut]";

export interface NotesSummaryInput {
  readonly limits: NotesLimits;
  /** The path of the whole notes. */
  readonly path: string;
  readonly countTokens: CountText;
}

/**
 * The notes as the summary of a conversation: no section above its limit, and all of them with what is said
 * about cuts not above the total, headings aside. What is within the limits stays as it is.
 */
export function notesAsSummary(notes: Notes, { limits, path, countTokens }: NotesSummaryInput): string {
  const count: CountText = (text) => (text === "" ? 0 : countTokens(text));
  const sections = notes.sections.filter(({ body }) => body !== "");
  const sizes = sections.map(({ body }) => count(body));
  const isWhole =
    sizes.every((tokens) => tokens <= limits.sectionTokens) &&
    sum(sizes) + count(notes.preface) <= limits.totalTokens;
  if (isWhole) return joinParts([notes.preface, ...sections.map(asText)]);
  const notice = noticeThatFits(path, limits, count);
  const allowed = allot(
    sections.map(({ heading }, at) => ({ heading, tokens: Math.min(sizes[at] ?? 0, limits.sectionTokens) })),
    limits.totalTokens - count(notice),
    limits.sectionTokens * FLOOR_SHARE,
  );
  const cut = sections.map((section, at) => ({
    ...section,
    body: cutSection(section, allowed[at] ?? 0, count),
  }));
  const left = limits.totalTokens - sum(cut.map(({ body }) => count(body)));
  // Counted with the notice, so that the two are not more together than each alone.
  const preface = cutToFit(notes.preface, left, (text) => count(joinParts([notice, text])));
  return joinParts([notice, preface, ...cut.filter(({ body }) => body !== "").map(asText)]);
}

const asText = ({ heading, body }: { readonly heading: string; readonly body: string }): string =>
  `${heading}\n${body}`;

/** Nothing where not even that has room. */
function noticeThatFits(path: string, { totalTokens }: NotesLimits, count: CountText): string {
  const notice = `[These notes were cut to make them fit. The whole of them is in ${oneLine(path)}: read it there when something is missing here.]`;
  return count(notice) <= totalTokens ? notice : "";
}

interface Wish {
  readonly heading: string;
  readonly tokens: number;
}

/** Tokens for each, so that together they have no more than there are. */
function allot(wishes: readonly Wish[], budgetTokens: number, floorTokens: number): readonly number[] {
  const allowed = wishes.map(({ tokens }) => tokens);
  const order = [...wishes.keys()].sort((a, b) => rank(wishes[a]) - rank(wishes[b]) || b - a);
  let excess = sum(allowed) - budgetTokens;
  for (const floor of [floorTokens, 0]) {
    for (const at of order) {
      const taken = Math.min(Math.max(0, excess), Math.max(0, (allowed[at] ?? 0) - floor));
      allowed[at] = (allowed[at] ?? 0) - taken;
      excess -= taken;
    }
  }
  return allowed;
}

function rank(wish: Wish | undefined): number {
  const key = nameKey(wish?.heading ?? "");
  const first = CUT_FIRST.indexOf(key);
  if (first !== -1) return first;
  return CUT_FIRST.length + CUT_LAST.indexOf(key) + 1;
}

function cutSection({ heading, body }: NotesSection, budgetTokens: number, count: CountText): string {
  const isWhole = count(body) <= budgetTokens;
  const end =
    isWhole || nameKey(heading) !== CUT_AT_THE_FRONT ? undefined : endThatFits(body, budgetTokens, count);
  return end ?? cutToFit(body, budgetTokens, count);
}

/** Whole lines from the end; undefined where not even the last one fits. */
function endThatFits(text: string, budgetTokens: number, count: CountText): string | undefined {
  const lines = text.split("\n");
  const from = (at: number): string => {
    const fence = openFence(lines.slice(0, at));
    return [FRONT_CUT_MARK, ...(fence === undefined ? [] : [fence]), ...lines.slice(at)].join("\n");
  };
  let [least, most] = [1, lines.length];
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    if (count(from(middle)) <= budgetTokens) most = middle;
    else least = middle + 1;
  }
  return least < lines.length ? from(least) : undefined;
}

/** A beginning of the text that has no more tokens than these, and says that it is one; empty where none has. */
function cutToFit(text: string, budgetTokens: number, count: CountText): string {
  if (text === "" || count(text) <= budgetTokens) return text;
  const fits = (cut: string): boolean => count(cut) <= budgetTokens;
  const head = headThatFits(text, budgetTokens, (candidate) => fits(marked(candidate)));
  const cut = marked(head);
  return fits(cut) ? cut : "";
}

/** With an ellipsis where a line was cut: what is left of it could be taken for a heading. */
function marked(head: string): string {
  if (head.trim() === "") return CUT_MARK;
  const kept = `${head.trimEnd()}${head.endsWith("\n") ? "" : "…"}`;
  const fence = openFence(kept.split("\n"));
  return [kept, ...(fence === undefined ? [] : [fence]), CUT_MARK].join("\n");
}

/** The fence that closes code still open after these lines. */
function openFence(lines: readonly string[]): string | undefined {
  let open: string | undefined;
  for (const line of lines) {
    const [, fence = "", rest = ""] = /^(\s{0,12}(?:`{3,}|~{3,}))(.*)$/s.exec(line) ?? [];
    if (fence === "") continue;
    if (open === undefined) {
      const isCodeInLine = fence.endsWith("`") && rest.includes("`");
      if (!isCodeInLine) open = fence;
    } else if (rest.trim() === "" && fence.trim().startsWith(open.trim())) open = undefined;
  }
  return open;
}
