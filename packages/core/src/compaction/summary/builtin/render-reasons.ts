import {
  earlierItems,
  LABELS,
  type Reason,
  readReasonItem,
  reasonItem,
  reasonRank,
  type SessionDigest,
  settleReasons,
  shortText,
} from "../readers/readers.ts";
import { type Piece, piece, rising } from "./budget.ts";

/** Renders causes, decisions and corrected beliefs. */

/**
 * Importance of a cause or a decision. The important ones are worth a line. They still come after almost all
 * user messages.
 */
const REASON_IMPORTANCE: readonly number[] = [308, 306, 304, 302, 150];

/**
 * Renders causes and decisions of this part and of earlier summaries, one item each. The order is the order of
 * time, because a later statement can replace an earlier one.
 */
export function reasonPieces(digest: SessionDigest): Piece[] {
  const reasons = settleReasons([...earlierReasons(digest), ...digest.reasons]);
  return reasons.map((reason, index) => {
    const { type, by, text } = reason;
    const importance = (REASON_IMPORTANCE[reasonRank(reason)] ?? 0) + rising(0, 1, index, reasons.length);
    const forms = [reasonItem(type, by, text), reasonItem(type, by, shortText(reason))];
    return piece(forms, importance, LABELS.reasons);
  });
}

const earlierReasons = ({ earlier }: SessionDigest): readonly Reason[] =>
  earlierItems(earlier, "Problem Solving").flatMap((item) => readReasonItem(item) ?? []);
