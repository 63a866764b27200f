// Checks how the repository is written: `npm run prose`. For its other functions, see `--help`.
import { parseArgs } from "node:util";
import { compareDocuments } from "./prose/documents.ts";
import { draw } from "./prose/draw.ts";
import { findOpeners, findPhrases, MAX_OPENERS_SHARE } from "./prose/rules.ts";
import { readTexts } from "./prose/texts.ts";

const HELP = `npm run prose                          checks comments, pages, messages and prompts
npm run prose -- --draw 100 --seed 7   draws 100 comments and 100 test titles for a reader
npm run prose -- --compare REVISION    lists the facts of the pages of a revision that no page has now`;

const root = process.cwd();
const { values } = parseArgs({
  options: {
    draw: { type: "string" },
    seed: { type: "string", default: "1" },
    compare: { type: "string" },
    help: { type: "boolean" },
  },
});

if (values.help) console.log(HELP);
else if (values.compare !== undefined) process.exitCode = printComparison(values.compare);
else if (values.draw !== undefined) printDraw(Number(values.draw), Number(values.seed));
else process.exitCode = check();

function check(): number {
  const texts = readTexts(root);
  const { lines, found } = findOpeners(texts.comments);
  const share = found.length / lines;
  const phrases = findPhrases(texts);
  const percent = (part: number): string => `${(part * 100).toFixed(1)}%`;
  console.log(
    `${found.length} of ${lines} comment lines open with What, Whoever, Where or Those: ${percent(share)}`,
  );
  console.log(
    `${phrases.length} phrases to avoid in ${texts.pages.length} lines of pages, ${texts.literals.length} strings and ${texts.comments.length} comments`,
  );
  for (const { file, line, phrase, instead } of phrases)
    console.log(`${file}:${line}: "${phrase}": ${instead}`);
  if (share <= MAX_OPENERS_SHARE && phrases.length === 0) return 0;
  if (share > MAX_OPENERS_SHARE)
    for (const { file, line, text } of found) console.log(`${file}:${line}: ${text}`);
  return 1;
}

function printDraw(count: number, seed: number): void {
  const { comments, titles } = readTexts(root);
  for (const [name, texts] of Object.entries({ comments, titles })) {
    console.log(`# ${count} of ${texts.length} ${name}, seed ${seed}\n`);
    draw(texts, count, seed).forEach(({ file, line, text }, at) => {
      console.log(`${at + 1}. ${file}:${line}\n   ${text.replaceAll("\n", "\n   ")}`);
    });
    console.log();
  }
}

function printComparison(revision: string): number {
  const { pages, facts, missing } = compareDocuments(root, revision);
  for (const { page, facts: lost } of missing)
    console.log(`${page}\n${lost.map((each) => `  ${each}`).join("\n")}`);
  const count = missing.reduce((sum, each) => sum + each.facts.length, 0);
  console.log(`${count} of ${facts} facts on ${pages} pages of ${revision} are on no page now`);
  return 0;
}
