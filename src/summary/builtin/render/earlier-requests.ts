import { type Piece, rising } from "../budget.ts";
import { clip, oneLine, quoted } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { LABELS } from "../labels.ts";
import { earlierItems } from "../read/earlier.ts";
import { leadSentence } from "../sentences.ts";
import { earlierLastWords } from "./earlier-work.ts";
import { messageForms, parseMessageItem } from "./message-item.ts";

const MAX_ITEM_CHARS = 700;
const MAX_REQUEST_CHARS = 110;
const MAX_OUTCOME_CHARS = 200;

/**
 * The requests that an earlier summary told of. What it called current still is while the user has asked
 * for nothing since; otherwise it is the last of the past ones, and the agent's words then are its outcome.
 */
export function earlierRequestPieces(digest: SessionDigest, hasNewer: boolean): Piece[] {
  const items = earlierItems(digest.earlier, "Primary Request and Intent").filter((item) => !isSetting(item));
  const current = items.find(isVerbatim);
  const past = items.filter((item) => !isVerbatim(item));
  const pieces = past.map((item, index): Piece => {
    const bullet = /^[-*•]\s/.test(item) ? item : `- ${item}`;
    return {
      forms: [...new Set([clip(bullet, MAX_ITEM_CHARS), clip(bullet, 300), clip(oneLine(bullet), 140)])],
      importance: rising(0, 4, index, past.length) + (hasNewer || current ? 200 : 600),
      group: hasNewer || current ? LABELS.pastRequests : LABELS.intent,
    };
  });
  if (current === undefined) return pieces;
  if (hasNewer)
    return [
      ...pieces,
      { forms: [pastRequest(current, digest)], importance: 240, group: LABELS.pastRequests },
    ];
  return [
    { forms: messageForms(requestIn(current)), importance: 1_100, group: LABELS.currentRequest },
    ...pieces,
  ];
}

/** Of the forms we write only the current request has no outcome behind it; a model's items are prose. */
function isVerbatim(item: string): boolean {
  return /^- (?:"|\(\d+ lines\)\n)/.test(item) && !item.includes(" → ");
}

function pastRequest(item: string, digest: SessionDigest): string {
  const asked = quoted(clip(oneLine(requestIn(item)), MAX_REQUEST_CHARS));
  const words = earlierLastWords(digest);
  const lead = words === undefined ? undefined : leadSentence(words);
  return `- ${asked} → ${lead ? clip(lead.replace(/[:：]$/, ""), MAX_OUTCOME_CHARS) : "under way at the last summary"}`;
}

function requestIn(item: string): string {
  return parseMessageItem(item.replace(/\n {2}\(in reply to: [\s\S]*$/, ""));
}

function isSetting(item: string): boolean {
  return /^- (?:Working directory|For this summary)/.test(item);
}
