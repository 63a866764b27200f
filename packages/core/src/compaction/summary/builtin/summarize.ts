import type { CountText } from "../../../measure/tokens/measure.ts";
import { type Entry, isCompactBoundary, isEntry } from "../../../messages/entry.ts";
import { isSentAttachment } from "../../../request/flatten/attachment-content.ts";
import { SUMMARY_HEADING } from "../format.ts";
import { digestSession, LABELS, leftOutLine, preservedIn, type SessionDigest } from "../readers/readers.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary-budget.ts";
import { SECTION_NAMES, type SectionName, type SummaryVariant, sectionHeading } from "../summary-message.ts";
import type { SummaryInstructions } from "../summary-prompt.ts";
import { fitSections, type Piece, type SectionDraft } from "./budget.ts";
import { renderConcepts, renderFiles } from "./render-code.ts";
import { renderErrors } from "./render-errors.ts";
import { renderMessages, renderProblemSolving, renderRequests } from "./render-history.ts";
import { renderNextStep } from "./render-next-step.ts";
import { renderPending } from "./render-pending.ts";
import { renderCurrentWork } from "./render-work.ts";

/** Options of a built-in summary. Pieces that share words with the instructions are kept first. */
export interface SummarizeOptions extends SummaryInstructions {
  readonly countTokens: CountText;
  readonly budgetTokens?: number | undefined;
  /** Part of the conversation to summarize, by default the whole. */
  readonly variant?: SummaryVariant | undefined;
}

export interface BuiltInSummary {
  /** Text for a summary message. */
  readonly text: string;
  /** Always all nine sections. */
  readonly sections: readonly SectionName[];
  readonly tokens: number;
  /** Number of items that did not fit into the budget. They are in the transcript. */
  readonly leftOut: number;
}

/**
 * Writes a summary from the structure of the session alone. It needs no model, and the same entries yield the
 * same summary.
 */
export function summarize(entries: readonly Entry[], options: SummarizeOptions): BuiltInSummary {
  const { countTokens, budgetTokens = SUMMARY_BUDGET_TOKENS } = options;
  const conversation = entries.filter(isOfConversation);
  const digest = digestSession(conversation, undefined, undefined, coveredIn(conversation));
  const drafts = SECTION_NAMES.map((name) => draftSection(name, digest, options));
  const { text, tokens, leftOutPieces } = fitSections(
    drafts,
    budgetTokens,
    (part) => countTokens(part),
    `${SUMMARY_HEADING}\n`,
  );
  return { text, sections: SECTION_NAMES, tokens, leftOut: leftOutPieces };
}

/**
 * Returns true for entries of the conversation. Recency is a distance between entries, so lines that are
 * never sent must not count.
 */
function isOfConversation(entry: Entry): boolean {
  if (!isEntry(entry)) return false;
  if (entry.type === "attachment") return isSentAttachment(entry);
  return entry.type === "user" || entry.type === "assistant" || isCompactBoundary(entry);
}

type Render = (digest: SessionDigest, instructions: string | undefined) => Piece[];

/**
 * Returns the positions of kept messages that the last summary covers. See `coversKept`. Notes do not cover
 * them.
 */
function coveredIn(entries: readonly Entry[]): ReadonlySet<number> {
  const record = entries.findLast(isCompactBoundary)?.compactMetadata?.longhaul;
  return record === undefined || record.tier !== undefined ? new Set() : preservedIn(entries);
}

/** Sections with their shares of the budget. Unused shares go to other sections by importance. */
const PLANS: Readonly<
  Record<SectionName, readonly [share: number, whenEmpty: string, itemName: string, render: Render]>
> = {
  "Primary Request and Intent": [0.14, "No request on record.", "requests", renderRequests],
  "Key Technical Concepts": [0.05, "None on record.", "items", renderConcepts],
  "Files and Code Sections": [0.17, "No files on record.", "files", renderFiles],
  "Errors and Fixes": [0.09, "No failed tests, checks, builds or commits on record.", "errors", renderErrors],
  "Problem Solving": [0.12, "Nothing on record.", "items", renderProblemSolving],
  "All User Messages": [0.26, "None.", "user messages", renderMessages],
  "Pending Tasks": [0.04, "No open items were found.", "open items", renderPending],
  "Current Work": [0.11, "No work on record.", "steps", renderCurrentWork],
  "Optional Next Step": [0.02, "None: wait for the user.", "items", renderNextStep],
};

function draftSection(
  name: SectionName,
  digest: SessionDigest,
  { instructions, variant }: SummarizeOptions,
): SectionDraft {
  const [share, whenEmpty, itemName, render] = PLANS[name];
  const pieces = emphasize(render(digest, instructions), instructions);
  const isOvertaken = variant === "up-to" && name === "Optional Next Step";
  return {
    heading: sectionHeading(name, variant),
    pieces: isOvertaken ? pieces.map((piece) => ({ ...piece, group: LABELS.stateAtEnd })) : pieces,
    share,
    whenEmpty: isOvertaken ? "Newer messages follow." : whenEmpty,
    alreadyLeftOut: digest.earlier?.leftOut.get(name) ?? 0,
    leftOut: (count) => leftOutLine(count, itemName),
  };
}

const BONUS = 150;
/**
 * Minimum length of a word that can distinguish pieces. Applies to scripts that separate words with spaces.
 */
const MIN_WORD_CHARS = 4;
const STOP_WORDS: ReadonlySet<string> = new Set(
  "about also and conversation conversations detail details focus from have include just keep make only parts please relevant should summarise summarize summary that them these they this what when where which with your".split(
    " ",
  ),
);

/** Raises the importance of pieces that share words with the user's instructions. */
function emphasize(pieces: Piece[], instructions: string | undefined): Piece[] {
  if (instructions === undefined) return pieces;
  const words = wordsOf(instructions);
  if (words.length === 0) return pieces;
  return pieces.map((piece) => {
    const text = piece.forms[0]?.toLowerCase() ?? "";
    return words.some((word) => text.includes(word))
      ? { ...piece, importance: piece.importance + BONUS }
      : piece;
  });
}

function wordsOf(instructions: string): string[] {
  const words = instructions.toLowerCase().match(/[\p{Script=Han}]{2,}|[\p{L}\p{N}_.-]+/gu) ?? [];
  return [...new Set(words)].filter(
    (word) => /\p{Script=Han}/u.test(word) || (word.length >= MIN_WORD_CHARS && !STOP_WORDS.has(word)),
  );
}
