import { headOf, tailOf } from "../../conversation/text.ts";
import { isRequest, type SessionDigest } from "../../summary/readers/readers.ts";
import type { DraftProbe } from "./probe.ts";

/** What a person writes; the middle of something longer is pasted: a log, a file. */
const OWN_WORDS_HEAD_CHARS = 1_000;
const OWN_WORDS_TAIL_CHARS = 500;

/** Names that are figures: versions, issues, commits. */
const NAMES: readonly RegExp[] = [
  /\bv?\d+\.\d+(?:\.\d+)+(?:-[\w.]*\w)?\b/g,
  /(?<![\w#])#\d{1,7}\b/g,
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g,
];
/** A figure with its unit, or between the words that stand beside it. */
const FIGURE =
  /(?<before>\p{L}{2,20} )?(?<![\w.:/#-])(?<figure>\d+(?:[.,:]\d+)*)(?<unit> ?%|\p{L}{1,3}\b|[ -]\p{L}{2,20}\b)?(?![\w/])/gu;
/** Words that do not say what a figure counts. */
const FILLERS: ReadonlySet<string> = new Set(
  "and are as at be but by for from if in is it not of on or so than that the then there to was were with".split(
    " ",
  ),
);

/** Figures that a person named, each once; in capitals or not, it is the same figure. */
export function numberProbes(digest: SessionDigest): readonly DraftProbe[] {
  const found = new Set<string>();
  for (const exchange of digest.exchanges) {
    if (!isRequest(exchange) || exchange.message === undefined) continue;
    for (const line of ownWords(exchange.message.text).split("\n")) {
      for (const figure of figuresIn(line)) found.add(figure.toLowerCase());
    }
  }
  return [...found].map((figure) => ({ kind: "number", text: figure, needles: [figure] }));
}

function ownWords(text: string): string {
  if (text.length <= OWN_WORDS_HEAD_CHARS + OWN_WORDS_TAIL_CHARS) return text;
  return `${headOf(text, OWN_WORDS_HEAD_CHARS)}\n${tailOf(text, OWN_WORDS_TAIL_CHARS)}`;
}

function* figuresIn(line: string): Generator<string> {
  // The number of an item in a list is no figure.
  let words = line.replace(/^\s*\d{1,2}[.)]\s/, "").replace(/\s+/g, " ");
  for (const pattern of NAMES) {
    for (const [name] of words.matchAll(pattern)) yield name;
    words = words.replace(pattern, "");
  }
  for (const { groups = {} } of words.matchAll(FIGURE)) {
    const { before, figure, unit } = groups;
    const isTold = unit !== undefined && !FILLERS.has(unit.slice(1).toLowerCase());
    // A bare 3 stands everywhere.
    if (isTold) yield `${figure}${unit}`;
    else if (before !== undefined) yield `${before}${figure}`;
  }
}
