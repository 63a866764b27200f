import { bulleted, clip, clipMarkdown, indented, oneLine, quoted } from "../clip.ts";
import {
  condensed,
  type ErrorRecord,
  earlierItems,
  earlierWorkInBrief,
  errorForms,
  LABELS,
  type Plan,
  type Remark,
  type SessionDigest,
  soundsLikeCorrection,
  withoutBold,
} from "../readers/readers.ts";
import { type Piece, piece, rising } from "./budget.ts";

/** The sections "Errors and Fixes" and "Problem Solving": failures, and findings about them. */

const MAX_BY_WEIGHT: Readonly<Record<ErrorRecord["weight"], number>> = { 1: 4, 2: 6, 3: 16 };
const MAX_CORRECTIONS = 8;
const MAX_EARLIER_ERROR_CHARS = 320;

export function renderErrors(digest: SessionDigest): Piece[] {
  const chosen = digest.errors
    .toSorted((a, b) => errorImportance(b, digest) - errorImportance(a, digest))
    .filter(withinLimits())
    .sort((a, b) => a.at - b.at);
  const errors = chosen.map((error) =>
    piece(errorForms(error), errorImportance(error, digest), LABELS.failures),
  );
  return [...earlierErrors(digest), ...errors, ...corrections(digest)];
}

/** A slip on the command line is worth a line only while there are few of them. */
function withinLimits(): (error: ErrorRecord) => boolean {
  const taken = { 1: 0, 2: 0, 3: 0 };
  return ({ weight }) => ++taken[weight] <= MAX_BY_WEIGHT[weight];
}

/** Open failures of tests, builds and checks first; recent ones before old ones. */
function errorImportance(error: ErrorRecord, digest: SessionDigest): number {
  const recency = (60 * error.at) / Math.max(1, lastPosition(digest));
  const open = error.resolution === undefined && error.weight === 3 ? 120 : 0;
  return 50 + error.weight * 25 + recency + open;
}

function lastPosition(digest: SessionDigest): number {
  const last = digest.exchanges.at(-1);
  return Math.max(last?.actions.at(-1)?.at ?? 0, last?.texts.at(-1)?.at ?? 0, last?.message?.at ?? 0);
}

function corrections(digest: SessionDigest): Piece[] {
  const messages = digest.exchanges.flatMap(({ message }) =>
    message && soundsLikeCorrection(message) ? [message] : [],
  );
  return messages.slice(-MAX_CORRECTIONS).map(({ text, afterInterruption }, index) => {
    const how = afterInterruption ? "interrupted: " : "";
    return piece([`- ${how}${quoted(clip(oneLine(text), 180))}`], 160 + index, LABELS.corrections);
  });
}

function earlierErrors({ earlier }: SessionDigest): Piece[] {
  const items = earlierItems(earlier, "Errors and Fixes").filter(
    (item) => !/^- (?:interrupted: )?"[\s\S]*"$/.test(item),
  );
  return items.map((item, index) => {
    const bullet = bulleted(item);
    return piece(
      [clipMarkdown(bullet, MAX_EARLIER_ERROR_CHARS), clip(oneLine(bullet), 140)],
      rising(70, 84, index, items.length),
      LABELS.earlierErrors,
    );
  });
}

const MAX_FINDINGS = 12;
const MAX_REMARKS = 18;
const MAX_EARLIER_SOLUTION_CHARS = 420;
const MAX_EARLIER_WORK_CHARS = 900;

export function renderProblemSolving(digest: SessionDigest): Piece[] {
  return [
    ...earlierSolutions(digest),
    ...answerPieces(digest),
    ...digest.plans.slice(-2).map(planPiece),
    ...findingPieces(digest),
    ...remarkPieces(digest),
  ];
}

function answerPieces({ answers }: SessionDigest): Piece[] {
  return answers.map(({ question, answer }, index) => {
    const asked = oneLine(question);
    const said = quoted(oneLine(answer));
    return piece(
      [`- ${clip(asked, 220)} → ${clip(said, 400)}`, `- ${clip(asked, 90)} → ${clip(said, 120)}`],
      330 + index,
      LABELS.answers,
    );
  });
}

function planPiece(plan: Plan, index: number): Piece {
  const status = plan.approved ? "the user let it go ahead" : "no approval by the user on record";
  const forms = [3_000, 1_200, 400].map(
    (chars) => `- Plan (${status}):\n${indented(clipMarkdown(plan.text.trim(), chars))}`,
  );
  return piece(forms, 300 + index, LABELS.plans);
}

function findingPieces({ findings }: SessionDigest): Piece[] {
  const kept = findings.filter((finding) => finding.text.length > 20).slice(-MAX_FINDINGS);
  return kept.map((finding, index) => {
    const title = clip(oneLine(finding.title), 100);
    const report = condensed(finding.text);
    const forms = [700, 320, 140].map((chars) => `- ${title}: ${clip(report, chars)}`);
    return piece(forms, rising(130, 220, index, kept.length), LABELS.findings);
  });
}

function remarkPieces({ exchanges, remarks }: SessionDigest): Piece[] {
  const lastText = exchanges.at(-1)?.texts.at(-1)?.at;
  const lastAt = Math.max(1, remarks.at(-1)?.at ?? 1);
  const importanceOf = (remark: Remark): number => 90 + remark.score * 12 + (50 * remark.at) / lastAt;
  return withoutRepeats(remarks.filter(({ at }) => at !== lastText))
    .toSorted((a, b) => importanceOf(b) - importanceOf(a))
    .slice(0, MAX_REMARKS)
    .sort((a, b) => a.at - b.at)
    .map((remark) =>
      piece([`- ${clip(withoutBold(remark.text), 320)}`], importanceOf(remark), LABELS.remarks),
    );
}

function withoutRepeats(remarks: readonly Remark[]): readonly Remark[] {
  const seen = new Set<string>();
  return remarks.filter((remark) => {
    const key = remark.text.slice(0, 48).toLowerCase();
    return !seen.has(key) && Boolean(seen.add(key));
  });
}

/** The work that was current then is history now: one item, so that summaries do not nest. */
function earlierSolutions({ earlier, exchanges }: SessionDigest): Piece[] {
  const items = earlierItems(earlier, "Problem Solving");
  const pieces = items.map((item, index) => {
    const bullet = bulleted(item);
    return piece(
      [clipMarkdown(bullet, MAX_EARLIER_SOLUTION_CHARS), clip(oneLine(bullet), 160)],
      rising(110, 126, index, items.length),
      LABELS.earlierSolutions,
    );
  });
  const work = earlierWorkInBrief(earlier);
  if (work === "" || exchanges.length === 0) return pieces;
  const forms = [MAX_EARLIER_WORK_CHARS, 360].map(
    (chars) => `- Work at the last summary: ${clip(work, chars)}`,
  );
  return [...pieces, piece(forms, 200, LABELS.earlierSolutions)];
}
