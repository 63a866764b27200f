import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import type { Random } from "../../../../demo/random.ts";
import { area, capitalised, chance, functionName, phrase, quality, thing } from "../lexicon.ts";
import { exampleUrl } from "../schema/strings.ts";
import { fileText } from "./code.ts";
import { fileLines, pathIn, type Sight } from "./sight.ts";
import type { ToolKind } from "./tools.ts";

/** What a call is to do, before it is put into the words of the tool at hand. */
export interface Idea {
  readonly kind: ToolKind;
  readonly path: string;
  readonly folder: string;
  readonly command: string;
  readonly description: string;
  readonly pattern: string;
  readonly url: string;
  readonly query: string;
  readonly prompt: string;
  readonly offset: number;
  readonly limit: number;
  readonly oldText: string;
  readonly newText: string;
  readonly content: string;
  readonly todos: readonly JsonRecord[];
}

export interface IdeaSource {
  readonly sight: Sight;
  readonly random: Random;
  readonly step: number;
  readonly topic: string;
  /** New files go below it. */
  readonly folder: string;
  /** What a file of its own may be long, in characters. */
  readonly contentChars: number;
}

/** Reads are of a part, near the beginning: the same file is not read the same way again and again. */
const LAST_FIRST_LINE = 30;
const FEWEST_LINES = 15;
const MOST_LINES = 200;

export function ideaFor(kind: ToolKind, source: IdeaSource): Idea {
  const { random, sight, step, topic } = source;
  const change = kind === "edit" ? changeOf(source) : undefined;
  const path = change?.path ?? (kind === "write" ? newPath(source) : knownPath(source));
  const subject = `${quality(random)} ${thing(random)}s in ${area(random)}`;
  return {
    kind,
    path,
    folder: inProject(chance(random, 50) ? source.folder : `${source.folder}/${area(random)}`, sight),
    command: commandOn(path, source),
    description: `${capitalised(phrase(random))} (step ${step})`,
    pattern: kind === "list" ? filePattern(source) : searchPattern(random),
    url: exampleUrl(random),
    query: `${thing(random)} ${quality(random)} ${area(random)} best practice ${random.between(2019, 2026)}`,
    prompt: `For "${topic}": find out how ${subject} are handled, and name the files (step ${step}).`,
    offset: random.between(1, LAST_FIRST_LINE),
    limit: random.between(FEWEST_LINES, MOST_LINES),
    oldText: change?.oldText ?? `return ${thing(random)};`,
    newText: change?.newText ?? `return ${functionName(random)}(${thing(random)}); // step ${step}`,
    content: kind === "write" || kind === "other" ? newContent(path, source) : "",
    todos: kind === "todo" ? todoItems(source) : [],
  };
}

/** Sizes of files are spread like those of real ones: mostly small, now and then large. */
function newContent(path: string, { random, contentChars }: IdeaSource): string {
  const share = random.pick([0.05, 0.1, 0.1, 0.2, 0.3, 0.5, 1]);
  return fileText(path, random, Math.round(contentChars * share * (random.between(60, 140) / 100)));
}

function inProject(path: string, { root }: Sight): string {
  return root === "" ? path : `${root}/${path}`;
}

/** The number keeps a path from coming up twice in a long session. */
function newPath({ random, sight, step, folder }: IdeaSource): string {
  const ending = random.pick(["ts", "ts", "ts", "test.ts", "md", "json"]);
  const name = `${quality(random)}-${thing(random)}-${step}.${ending}`;
  return inProject(`${folder}/${area(random)}/${name}`, sight);
}

function knownPath(source: IdeaSource): string {
  const { paths } = source.sight;
  const path = paths[source.random.between(0, Math.max(0, paths.length - 1))];
  return (
    path ?? inProject(`${source.folder}/${area(source.random)}/${thing(source.random)}.ts`, source.sight)
  );
}

interface Change {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

/** A line that was really read and stands there only once, so that the edit can be made. */
function changeOf({ sight, random, step }: IdeaSource): Change | undefined {
  for (const call of sight.calls) {
    const path = call.kind === "read" && !call.isError ? pathIn(call.input) : undefined;
    // A remark would break a JSON file.
    if (path === undefined || path.endsWith(".json")) continue;
    const lines = fileLines(call.result);
    const usable = lines.filter(
      (line) => isEditable(line) && lines.indexOf(line) === lines.lastIndexOf(line),
    );
    const oldText = usable[random.between(0, Math.max(0, usable.length - 1))];
    if (oldText === undefined) continue;
    return { path, oldText, newText: withRemark(oldText, path, `${phrase(random)}, see step ${step}`) };
  }
  return undefined;
}

/** How a line comment begins; where none is known, the remark is a line of text. */
const COMMENTS: readonly (readonly [ending: RegExp, start: string])[] = [
  [/\.(?:[cm]?[jt]sx?|go|rs|java|kt|c|h|cpp|cs|php)$/, "// "],
  [/\.(?:py|rb|sh|ya?ml|toml)$/, "# "],
  [/\.sql$/, "-- "],
];

function withRemark(line: string, path: string, remark: string): string {
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  const start = COMMENTS.find(([ending]) => ending.test(path))?.[1] ?? "";
  return `${indent}${start}${capitalised(remark)}.\n${line}`;
}

export const canEdit = (source: IdeaSource): boolean => changeOf(source) !== undefined;

function isEditable(line: string): boolean {
  const length = line.trim().length;
  return length >= 8 && length <= 200 && !/<\/?system-reminder>|truncated/.test(line);
}

/** Only commands that look: a real agent may carry them out. */
function commandOn(path: string, { random, step, folder }: IdeaSource): string {
  const word = functionName(random);
  const from = random.between(1, LAST_FIRST_LINE);
  return random.pick([
    `npm test -- ${path} -t "${phrase(random)}"`,
    `npx tsc --noEmit --pretty false | grep -n "${word}" | head -${random.between(5, 60)}`,
    `sed -n '${from},${from + random.between(10, 90)}p' ${path}`,
    `grep -rn "${word}" ${folder} | head -${random.between(5, 50)}`,
    `wc -l ${path} && echo "checked at step ${step}"`,
    `git log --oneline -n ${random.between(3, 40)} -- ${path}`,
    `git diff --stat HEAD~${random.between(1, 12)} -- ${path}`,
    `node --check ${path}; echo "exit $? at step ${step}"`,
  ]);
}

function searchPattern(random: Random): string {
  const name = functionName(random);
  return random.pick([
    name,
    `${thing(random)}s?\\.${quality(random)}`,
    `export function ${name}`,
    `${name}\\(`,
  ]);
}

function filePattern({ random, folder }: IdeaSource): string {
  const ending = random.pick(["ts", "test.ts", "json", "md", "*"]);
  return random.pick([
    `${folder}/${area(random)}/**/*${thing(random)}*.${ending}`,
    `**/${quality(random)}-${thing(random)}*.${ending}`,
    `${folder}/{${area(random)},${area(random)}}/**/${quality(random)}-*.${ending}`,
  ]);
}

function todoItems({ random, step, topic }: IdeaSource): readonly JsonRecord[] {
  const items = Array.from({ length: random.between(3, 6) }, () => phrase(random));
  const current = random.between(0, items.length - 1);
  return [`${capitalised(topic)} (step ${step})`, ...items.map(capitalised)].map((content, index) => ({
    content,
    status: index < current ? "completed" : index === current ? "in_progress" : "pending",
    activeForm: `Working on: ${content}`,
  }));
}
