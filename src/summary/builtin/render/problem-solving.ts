import { headOf } from "../../../conversation/text.ts";
import { type Piece, rising } from "../budget.ts";
import { clip, clipMarkdown, oneLine, quoted } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { LABELS } from "../labels.ts";
import type { Plan } from "../read/answers.ts";
import { earlierItems } from "../read/earlier.ts";
import type { Finding } from "../read/findings.ts";
import type { Remark } from "../read/remarks.ts";
import { isTelling, proseSentences, withoutBold } from "../sentences.ts";
import { earlierWorkInBrief } from "./earlier-work.ts";

const MAX_FINDINGS = 12;
const MAX_REMARKS = 18;
const MAX_EARLIER_CHARS = 420;
const MAX_EARLIER_WORK_CHARS = 900;

export function renderProblemSolving(digest: SessionDigest): Piece[] {
  return [
    ...earlierPieces(digest),
    ...answerPieces(digest),
    ...digest.plans.slice(-2).map(planPiece),
    ...findingPieces(digest.findings),
    ...remarkPieces(digest),
  ];
}

function answerPieces(digest: SessionDigest): Piece[] {
  return digest.answers.map(({ question, answer }, index): Piece => {
    const asked = oneLine(question);
    const said = quoted(oneLine(answer));
    return {
      forms: [`- ${clip(asked, 220)} → ${clip(said, 400)}`, `- ${clip(asked, 90)} → ${clip(said, 120)}`],
      importance: 330 + index,
      group: LABELS.answers,
    };
  });
}

function planPiece(plan: Plan, index: number): Piece {
  const status = plan.approved ? "the user let it go ahead" : "no approval by the user on record";
  const forms = [3_000, 1_200, 400].map(
    (chars) => `- Plan (${status}):\n${indented(clipMarkdown(plan.text.trim(), chars))}`,
  );
  return { forms: [...new Set(forms)], importance: 300 + index, group: LABELS.plans };
}

/** Indented so that headings and list marks of the plan stay inside its item. */
function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

function findingPieces(findings: readonly Finding[]): Piece[] {
  const kept = findings.filter((finding) => finding.text.length > 20).slice(-MAX_FINDINGS);
  return kept.map((finding, index): Piece => {
    const title = clip(oneLine(finding.title), 100);
    const report = condensed(finding.text);
    const forms = [700, 320, 140].map((chars) => `- ${title}: ${clip(report, chars)}`);
    return {
      forms: [...new Set(forms)],
      importance: 130 + (90 * (index + 1)) / kept.length,
      group: LABELS.findings,
    };
  });
}

/** A report on one line, from its first telling sentence on; marks for headings and lists only cost tokens. */
export function condensed(text: string): string {
  const opening = headOf(text, 1_600);
  const start = proseSentences(headOf(opening, 800)).find(isTelling);
  const at = start === undefined ? -1 : opening.indexOf(start);
  const told = at > 0 ? opening.slice(at) : opening;
  return oneLine(
    told
      .replace(/^#{1,6}\s+(.*)$/gm, "$1:")
      .replace(/^\s*[-*]\s+/gm, "· ")
      .replace(/```\w*|\*\*/g, ""),
  );
}

function remarkPieces(digest: SessionDigest): Piece[] {
  const lastTexts = new Set(
    digest.exchanges
      .at(-1)
      ?.texts.slice(-1)
      .map(({ at }) => at),
  );
  const candidates = withoutRepeats(digest.remarks.filter(({ at }) => !lastTexts.has(at)));
  const lastAt = digest.remarks.at(-1)?.at ?? 1;
  const importanceOf = (remark: Remark): number =>
    90 + remark.score * 12 + (50 * remark.at) / Math.max(1, lastAt);
  return candidates
    .toSorted((a, b) => importanceOf(b) - importanceOf(a))
    .slice(0, MAX_REMARKS)
    .sort((a, b) => a.at - b.at)
    .map(
      (remark): Piece => ({
        forms: [`- ${clip(withoutBold(remark.text), 320)}`],
        importance: importanceOf(remark),
        group: LABELS.remarks,
      }),
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
function earlierPieces(digest: SessionDigest): Piece[] {
  const items = earlierItems(digest.earlier, "Problem Solving");
  const pieces = items.map((item, index): Piece => {
    const bullet = /^[-*•]\s/.test(item) ? item : `- ${item}`;
    const forms = [clipMarkdown(bullet, MAX_EARLIER_CHARS), clip(oneLine(bullet), 160)];
    return {
      forms: [...new Set(forms)],
      importance: rising(110, 126, index, items.length),
      group: LABELS.earlierSolutions,
    };
  });
  const work = earlierWorkInBrief(digest);
  if (work === "" || digest.exchanges.length === 0) return pieces;
  const forms = [MAX_EARLIER_WORK_CHARS, 360].map(
    (chars) => `- Work at the last summary: ${clip(work, chars)}`,
  );
  return [...pieces, { forms, importance: 200, group: LABELS.earlierSolutions }];
}
