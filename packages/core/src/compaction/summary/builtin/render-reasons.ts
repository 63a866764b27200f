import { clip, oneLine } from "../clip.ts";
import {
  byTopic,
  earlierItems,
  LABELS,
  mergedText,
  type Reason,
  type Remark,
  readReasonItem,
  reasonItem,
  reasonRank,
  type SessionDigest,
  settleReasons,
  shortText,
  withoutBold,
} from "../readers/readers.ts";
import { type Piece, piece, rising } from "./budget.ts";

/** Renders causes, decisions, corrected beliefs and other findings. */

/**
 * Importance of a cause or a decision. The important ones are worth a line. They still come after almost all
 * user messages.
 */
const REASON_IMPORTANCE: readonly number[] = [308, 306, 304, 302, 150];

/**
 * Renders causes and decisions of this part and of earlier summaries. Statements on the same topic share a
 * piece. If the budget is small, they share a line too.
 */
export function reasonPieces(digest: SessionDigest): Piece[] {
  const groups = byTopic(settleReasons([...earlierReasons(digest), ...digest.reasons]));
  return groups.map((reasons, index) => {
    const [first] = reasons;
    if (first === undefined) return piece([""], 0);
    const { type, by } = first;
    const items = (textOf: (reason: Reason) => string): string =>
      reasons.map((reason) => reasonItem(type, by, textOf(reason))).join("\n");
    const importance = (REASON_IMPORTANCE[reasonRank(first)] ?? 0) + rising(0, 1, index, groups.length);
    return piece(
      [items(({ text }) => text), items(shortText), reasonItem(type, by, mergedText(reasons))],
      importance,
      LABELS.reasons,
    );
  });
}

const earlierReasons = ({ earlier }: SessionDigest): readonly Reason[] =>
  earlierItems(earlier, "Problem Solving").flatMap((item) => readReasonItem(item) ?? []);

/** Maximum number of other findings. Causes and decisions are listed without a limit. */
const MAX_REMARKS = 8;

export function remarkPieces({ exchanges, remarks, reasons }: SessionDigest): Piece[] {
  const lastText = exchanges.at(-1)?.texts.at(-1)?.at;
  const lastAt = Math.max(1, remarks.at(-1)?.at ?? 1);
  const importanceOf = (remark: Remark): number => 90 + remark.score * 12 + (50 * remark.at) / lastAt;
  const stated = new Map<number, string>();
  for (const { at, text } of reasons) stated.set(at, `${stated.get(at) ?? ""}\n${text}`);
  const isStated = ({ at, text }: Remark): boolean =>
    stated.get(at)?.includes(oneLine(text.replaceAll("**", ""))) === true;
  return withoutRepeats(remarks.filter((remark) => remark.at !== lastText && !isStated(remark)))
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
