import { type Piece, rising } from "../budget.ts";
import { clip, clipMarkdown, oneLine, quoted } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { LABELS } from "../labels.ts";
import { earlierItems } from "../read/earlier.ts";
import type { ErrorRecord } from "../read/errors.ts";
import { soundsLikeCorrection } from "../read/human.ts";
import { fileName } from "./paths.ts";

const MAX_BY_WEIGHT: Readonly<Record<ErrorRecord["weight"], number>> = { 1: 4, 2: 6, 3: 16 };
const MAX_CORRECTIONS = 8;
const MAX_EARLIER_CHARS = 320;

export function renderErrors(digest: SessionDigest): Piece[] {
  const chosen = digest.errors
    .toSorted((a, b) => errorImportance(b, digest) - errorImportance(a, digest))
    .filter(withinLimits())
    .sort((a, b) => a.at - b.at);
  const errors = chosen.map((error): Piece => {
    return { forms: errorForms(error), importance: errorImportance(error, digest), group: LABELS.failures };
  });
  return [...earlierPieces(digest), ...errors, ...corrections(digest)];
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

export function errorForms(error: ErrorRecord): string[] {
  const times = error.occurrences > 1 ? ` (${error.occurrences}×)` : "";
  const lines = error.text.split("\n");
  const outcome = resolutionText(error);
  return [
    `- \`${inCode(clip(error.source, 110))}\`${times}: ${inCode(lines.join(" / "))}${outcome}`,
    `- \`${inCode(clip(error.source, 60))}\`${times}: ${inCode(clip(lines[0] ?? "", 120))}${outcome}`,
  ];
}

const inCode = (text: string): string => text.replace(/`/g, "'");

function resolutionText(error: ErrorRecord): string {
  const { resolution, weight } = error;
  if (resolution === undefined) return weight === 3 ? " → not seen to pass since" : "";
  const files = [...new Set(resolution.editedFiles.map(fileName))];
  const by = files.length > 0 ? ` after editing ${files.join(", ")}` : "";
  return resolution.how === "passed"
    ? ` → fixed${by}`
    : ` → gone in the next run${by}, which failed otherwise`;
}

function corrections(digest: SessionDigest): Piece[] {
  const messages = digest.exchanges.flatMap(({ message }) =>
    message && soundsLikeCorrection(message) ? [message] : [],
  );
  return messages.slice(-MAX_CORRECTIONS).map((message, index): Piece => {
    const how = message.afterInterruption ? "interrupted: " : "";
    return {
      forms: [`- ${how}${quoted(clip(oneLine(message.text), 180))}`],
      importance: 160 + index,
      group: LABELS.corrections,
    };
  });
}

function earlierPieces(digest: SessionDigest): Piece[] {
  const items = earlierItems(digest.earlier, "Errors and Fixes").filter(
    (item) => !/^- (?:interrupted: )?"[\s\S]*"$/.test(item),
  );
  return items.map((item, index): Piece => {
    const bullet = /^[-*•]\s/.test(item) ? item : `- ${item}`;
    const forms = [clipMarkdown(bullet, MAX_EARLIER_CHARS), clip(oneLine(bullet), 140)];
    return { forms, importance: rising(70, 84, index, items.length), group: LABELS.earlierErrors };
  });
}
