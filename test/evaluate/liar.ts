/** Words of outcomes, each with its opposite. */
const FLIPS: Readonly<Record<string, string>> = {
  passed: "failed",
  passes: "fails",
  pass: "fail",
  passing: "failing",
  failed: "passed",
  fails: "passes",
  fail: "pass",
  failing: "passing",
  clean: "broken",
  ok: "broken",
  fixed: "broken",
};
const FLIPPED = new RegExp(`\\b(?:${Object.keys(FLIPS).join("|")})\\b`, "g");
/** Only the outcome of a check is flipped. */
const CHECK = /\b(?:tests?|suite|lint|build|typecheck)\b/i;
const FILE = /\w\.[a-z]{1,4}\b/;
const REASON = /\b(?:because|since|so that|due to|in order to)\b/;
const NUMBER = /(?<![\w.#/-])\d{2,}(?:\.\d+)*(?![\w/-]|\.\w)/g;
const PATH = /(?<![\w/])[\w.-]+(?:\/[\w.-]+)+/g;
/** Heading of one of the nine sections. */
const TITLE = /^## \d\. /;
const ITEM = /^(\s*(?:[-*]|\d+\.)\s+)?(.*)$/s;

/** A longer sentence says more than the outcome of a check. */
const MAX_OUTCOME_WORDS = 20;

/** Turns every statement of a summary into a lie: flips outcomes, exchanges figures and files, and denies the rest. */
export function liarOf(summary: string): string {
  const numbers = [...new Set(summary.match(NUMBER) ?? [])];
  const paths = [...new Set(summary.match(PATH) ?? [])];
  const lie = (sentence: string): string => {
    const exchanged = sentence
      .replace(NUMBER, (number) => after(numbers, number))
      .replace(PATH, (path) => after(paths, path));
    const isOutcome =
      CHECK.test(sentence) && !FILE.test(sentence) && sentence.split(" ").length <= MAX_OUTCOME_WORDS;
    const flipped = isOutcome ? exchanged.replace(FLIPPED, (word) => FLIPS[word] ?? word) : exchanged;
    return flipped === exchanged ? `It is not true that ${exchanged}` : flipped;
  };
  return lines(summary, (text) => sentencesIn(text).map(lie).join(" "));
}

/** Gives each explained decision of a summary the reason of the next one. */
export function withRotatedReasons(summary: string): string {
  const reasons = sentencesIn(summary).flatMap((one) => one.split(REASON).slice(1, 2));
  let at = 0;
  return lines(summary, (text) =>
    sentencesIn(text)
      .map((sentence) => {
        const mark = REASON.exec(sentence);
        return mark === null
          ? ""
          : `${sentence.slice(0, mark.index)}${mark[0]}${reasons[++at % reasons.length] ?? ""}`;
      })
      .join(" "),
  );
}

/** Changes the text of each line, without headings and marks of lists. */
const lines = (summary: string, change: (text: string) => string): string =>
  summary
    .split("\n")
    .map((line) => {
      const [, mark = "", text = ""] = ITEM.exec(line) ?? [];
      return line.trim() === "" || TITLE.test(line) ? line : mark + change(text);
    })
    .join("\n");

const sentencesIn = (line: string): string[] =>
  line.split(/(?<=[.!?]["')]?)\s+|\n/).filter((one) => one !== "");

/** Returns the item behind another one. The last one is before the first. */
const after = (items: readonly string[], item: string): string =>
  items[(items.indexOf(item) + 1) % items.length] ?? item;
