import { sum } from "@longhaul/core/internal/compaction";
import { headThatFits } from "@longhaul/core/internal/measure";
import { oneLine } from "@longhaul/core/internal/summary";
import type { CountText } from "@longhaul/core/measure";
import type { Notes, NotesLimits, NotesSection } from "./notes-format.ts";
import { joinParts, nameKey } from "./notes-format.ts";

/**
 * Sections to cut first if all sections together are too long. The agent needs these sections least, because
 * they contain history and facts that the agent can find in the code. Sections of a user's template are cut
 * next, before those in `CUT_LAST`. Of these, the last section is cut first. The text above the first heading
 * gets only the tokens that no section uses, because the user wrote it before the session.
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

/**
 * Share of the section limit. No section is removed before all sections are cut to this share, because a few
 * lines of each section are more useful than some complete sections.
 */
const FLOOR_SHARE = 1 / 8;

const CUT_MARK = "[… the rest of this section was cut]";

/** This section is cut at its beginning, because its last lines are more useful than its first lines. */
const CUT_AT_THE_FRONT = nameKey("Worklog");
const FRONT_CUT_MARK = "[… the older part of this section was cut]";

export interface NotesSummaryInput {
  readonly limits: NotesLimits;
  /** Path of the complete notes file. */
  readonly path: string;
  readonly countTokens: CountText;
}

/**
 * Renders the notes as the summary of a conversation. Cuts each section to its limit. If the sections and the
 * notice about cuts exceed the total together, cuts the sections further. Headings do not count. Notes within
 * the limits stay unchanged.
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
  // Counts the preface together with the notice, because a joined text can have more tokens than its parts.
  const preface = cutToFit(notes.preface, left, (text) => count(joinParts([notice, text])));
  return joinParts([notice, preface, ...cut.filter(({ body }) => body !== "").map(asText)]);
}

const asText = ({ heading, body }: { readonly heading: string; readonly body: string }): string =>
  `${heading}\n${body}`;

/** Returns the notice about cuts, or an empty string if the notice does not fit the total. */
function noticeThatFits(path: string, { totalTokens }: NotesLimits, count: CountText): string {
  const notice = `[These notes were cut to fit. The complete notes are in ${oneLine(path)}. Read that file if something is missing here.]`;
  return count(notice) <= totalTokens ? notice : "";
}

interface Wish {
  readonly heading: string;
  readonly tokens: number;
}

/**
 * Divides the token budget among the sections. Cuts one section after the other, but none below the floor. If
 * that does not save enough tokens, cuts sections below the floor in the same order.
 */
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

/**
 * Returns as many whole lines from the end of the text as fit. If not even the last line fits, returns
 * undefined.
 */
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

/**
 * Returns the beginning of the text that fits the budget, with a mark for the cut. Returns an empty string if
 * nothing fits.
 */
function cutToFit(text: string, budgetTokens: number, count: CountText): string {
  if (text === "" || count(text) <= budgetTokens) return text;
  const fits = (cut: string): boolean => count(cut) <= budgetTokens;
  const head = headThatFits(text, budgetTokens, (candidate) => fits(marked(candidate)));
  const cut = marked(head);
  return fits(cut) ? cut : "";
}

/**
 * Adds an ellipsis to a line that was cut. Without the ellipsis, the rest of the line could look like a
 * heading.
 */
function marked(head: string): string {
  if (head.trim() === "") return CUT_MARK;
  const kept = `${head.trimEnd()}${head.endsWith("\n") ? "" : "…"}`;
  const fence = openFence(kept.split("\n"));
  return [kept, ...(fence === undefined ? [] : [fence]), CUT_MARK].join("\n");
}

/**
 * Returns the fence of a code block that is still open after these lines. The same fence closes the block.
 */
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
