import type { CountText } from "../../../measure/tokens/measure.ts";
import { type Entry, isCompactBoundary, isEntry } from "../../../messages/entry.ts";
import { isSentAttachment } from "../../../request/flatten/attachment-content.ts";
import { SUMMARY_HEADING } from "../format.ts";
import { digestSession, LABELS, leftOutLine, type SessionDigest } from "../readers/readers.ts";
import { SECTION_NAMES, type SectionName, type SummaryVariant, sectionHeading } from "../summary-message.ts";
import type { SummaryWishes } from "../summary-prompt.ts";
import { fitSections, type Piece, type SectionDraft, SUMMARY_BUDGET_TOKENS } from "./budget.ts";
import { renderConcepts, renderFiles } from "./render-code.ts";
import { renderErrors, renderMessages, renderProblemSolving, renderRequests } from "./render-history.ts";
import { renderCurrentWork, renderNextStep, renderPending } from "./render-work.ts";

/** Pieces that share words with the instructions are kept first. */
export interface SummarizeOptions extends SummaryWishes {
  readonly countTokens: CountText;
  readonly budgetTokens?: number | undefined;
  /** The part of the conversation that is summarized; all of it unless given. */
  readonly variant?: SummaryVariant | undefined;
}

export interface BuiltInSummary {
  /** Ready to stand in a summary message. */
  readonly text: string;
  /** All nine, always. */
  readonly sections: readonly SectionName[];
  readonly tokens: number;
  /** Items that the budget had no room for. They are in the transcript. */
  readonly leftOut: number;
}

/** A summary from the structure of the session alone: no model, the same for the same entries. */
export function summarize(entries: readonly Entry[], options: SummarizeOptions): BuiltInSummary {
  const { countTokens, budgetTokens = SUMMARY_BUDGET_TOKENS } = options;
  const digest = digestSession(entries.filter(isOfConversation));
  const drafts = SECTION_NAMES.map((name) => draftSection(name, digest, options));
  const { text, tokens, leftOutPieces } = fitSections(
    drafts,
    budgetTokens,
    (part) => countTokens(part),
    `${SUMMARY_HEADING}\n`,
  );
  return { text, sections: SECTION_NAMES, tokens, leftOut: leftOutPieces };
}

/** Recency is a distance between entries, so lines that are never sent must not lie between them. */
function isOfConversation(entry: Entry): boolean {
  if (!isEntry(entry)) return false;
  if (entry.type === "attachment") return isSentAttachment(entry);
  return entry.type === "user" || entry.type === "assistant" || isCompactBoundary(entry);
}

type Render = (digest: SessionDigest, instructions: string | undefined) => Piece[];

/** Shares are of the budget; what a section leaves unused goes to the others by importance. */
const PLANS: Readonly<
  Record<SectionName, readonly [share: number, whenEmpty: string, itemName: string, render: Render]>
> = {
  "Primary Request and Intent": [0.14, "No request on record.", "requests", renderRequests],
  "Key Technical Concepts": [0.05, "None on record.", "items", renderConcepts],
  "Files and Code Sections": [0.17, "No files were touched.", "files", renderFiles],
  "Errors and Fixes": [0.09, "No errors on record.", "errors", renderErrors],
  "Problem Solving": [0.12, "Nothing on record.", "items", renderProblemSolving],
  "All User Messages": [0.26, "None.", "user messages", renderMessages],
  "Pending Tasks": [0.04, "None on record.", "open items", renderPending],
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
    pieces: isOvertaken ? pieces.map((piece) => ({ ...piece, group: LABELS.whereItStood })) : pieces,
    share,
    whenEmpty: isOvertaken ? "Newer messages follow." : whenEmpty,
    alreadyLeftOut: digest.earlier?.leftOut.get(name) ?? 0,
    leftOut: (count) => leftOutLine(count, itemName),
  };
}

const BONUS = 150;
/** Words too short to tell one piece from another, in scripts that write words with spaces. */
const MIN_WORD_CHARS = 4;
const STOP_WORDS: ReadonlySet<string> = new Set(
  "about also and conversation conversations detail details focus from have include just keep make only parts please relevant should summarize summarize summary that them these they this what when where which with your".split(
    " ",
  ),
);

/** Pieces that share words with the user's instructions rise above their peers. */
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
