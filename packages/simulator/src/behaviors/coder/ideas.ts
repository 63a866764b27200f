import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { Random } from "../../demo/random.ts";
import { area, capitalized, chance, functionName, phrase, pickFrom, quality, thing } from "../chance.ts";
import { exampleUrl } from "../schema/value.ts";
import { type CoderView, fileLines, pathIn } from "./coder-view.ts";
import type { ToolKind } from "./tools.ts";
import { pathInside, shellWord } from "./working-folder.ts";

/** Content of a tool call, independent of the tool's input format. */
export interface Idea {
  readonly kind: ToolKind;
  /** Path of a suitable file. Undefined if no file is known. */
  readonly path: string | undefined;
  /** False if the coder knows no folder that it may write to. */
  readonly mayWrite: boolean;
  readonly folder: string | undefined;
  /** The client's working folder, if known. */
  readonly root: string | undefined;
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
  readonly view: CoderView;
  readonly random: Random;
  readonly step: number;
  readonly topic: string;
  /**
   * Folder of the coder's own files. The coder writes only there. Undefined if the coder may write nothing.
   */
  readonly ownFolder: string | undefined;
  /** Folder of invented paths. Undefined if the coder may not invent paths. */
  readonly madeUpFolder: string | undefined;
  /** Maximum characters of a file that the coder writes. */
  readonly contentChars: number;
}

/**
 * Highest line number at which a read can start. Reads start at a random line, so that repeated reads of a
 * file differ.
 */
const LAST_FIRST_LINE = 30;
/**
 * Percentage of reads that choose the coder's own files. The coder may edit only these files, and only after
 * reading them.
 */
const OWN_PERCENT = 50;
const FEWEST_LINES = 15;
const MAX_LINES = 200;

export function ideaFor(kind: ToolKind, source: IdeaSource): Idea {
  const { random, view, step, topic } = source;
  const change = kind === "edit" ? changeOf(source) : undefined;
  const isOwn = kind === "write" || kind === "other";
  const path = change?.path ?? (isOwn ? newPath(source) : knownPath(source));
  const subject = `${quality(random)} ${thing(random)}s in ${area(random)}`;
  return {
    kind,
    path,
    mayWrite: source.ownFolder !== undefined,
    folder: chosenFolder(kind, source),
    root: view.root,
    command: commandOn(path, source),
    description: `${capitalized(phrase(random))} (step ${step})`,
    pattern: kind === "list" ? filePattern(source) : searchPattern(random),
    url: exampleUrl(random),
    query: `${thing(random)} ${quality(random)} ${area(random)} best practice ${random.between(2019, 2026)}`,
    prompt: delegation(topic, subject, step),
    offset: random.between(1, LAST_FIRST_LINE),
    limit: random.between(FEWEST_LINES, MAX_LINES),
    oldText: change?.oldText ?? `return ${thing(random)};`,
    newText: change?.newText ?? `return ${functionName(random)}(${thing(random)}); // step ${step}`,
    content: kind === "write" || kind === "other" ? newContent(path ?? "notes.md", source) : "",
    todos: kind === "todo" ? todoItems(source) : [],
  };
}

/** Makes up the content of a new file. Like real files, most made-up files are small and some are large. */
function newContent(path: string, { random, contentChars }: IdeaSource): string {
  const share = random.pick([0.05, 0.1, 0.1, 0.2, 0.3, 0.5, 1]);
  return fileText(path, random, Math.round(contentChars * share * (random.between(60, 140) / 100)));
}

/**
 * Returns the task text of a subagent. For clients without subagent headers, this text shows that a
 * conversation is a subagent's.
 */
const delegation = (topic: string, subject: string, step: number): string =>
  `For "${topic}": find out how ${subject} are handled, and name the files (step ${step}).`;

export const isDelegation = (text: string): boolean =>
  /For ".*": find out how .+ are handled, and name the files \(step \d+\)\./.test(text);

/** Makes up a path. The number in its name makes it unique in a long session. */
function newPath({ random, step, ownFolder }: IdeaSource): string | undefined {
  const ending = random.pick(["ts", "ts", "ts", "test.ts", "md", "json"]);
  const name = `${quality(random)}-${thing(random)}-${step}.${ending}`;
  return ownFolder === undefined ? undefined : `${ownFolder}/${area(random)}/${name}`;
}

/**
 * Picks a path that tool results have shown. An invented path could be any real file, so a path is invented
 * only if `madeUpFolder` is set.
 */
function knownPath({ view: { paths }, random, ownFolder, madeUpFolder }: IdeaSource): string | undefined {
  if (paths.length === 0 && madeUpFolder !== undefined) {
    return `${madeUpFolder}/${area(random)}/${thing(random)}.ts`;
  }
  const own = ownFolder === undefined ? [] : paths.filter((path) => path.startsWith(`${ownFolder}/`));
  const choices = own.length > 0 && chance(random, OWN_PERCENT) ? own : paths;
  return pickFrom(choices, random);
}

/** Picks a folder to look at. For tools that may change something, it is the coder's own folder. */
function chosenFolder(kind: ToolKind, source: IdeaSource): string | undefined {
  const { view, random, ownFolder } = source;
  const known = chance(random, 50) ? view.root : (folderOf(knownPath(source)) ?? view.root);
  return kind === "write" || kind === "edit" || kind === "other" ? ownFolder : known;
}

function folderOf(path: string | undefined): string | undefined {
  return path?.includes("/") ? path.slice(0, path.lastIndexOf("/")) : undefined;
}

interface Change {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

/**
 * Picks a line to edit. The line is in one of the coder's own files, the coder has read it, and it occurs
 * only once in the file. So the edit succeeds.
 */
function changeOf({ view, random, step, ownFolder, madeUpFolder }: IdeaSource): Change | undefined {
  if (ownFolder === undefined) return undefined;
  for (const call of view.calls) {
    const read = call.kind === "read" && !call.isError ? pathIn(call.input) : undefined;
    const path = read === undefined || madeUpFolder !== undefined ? read : pathInside(ownFolder, read);
    // Skips JSON files, because the edit adds a comment, which JSON does not allow.
    if (path === undefined || path.endsWith(".json")) continue;
    const lines = fileLines(call.result);
    const usable = lines.filter(
      (line) => isEditable(line) && lines.indexOf(line) === lines.lastIndexOf(line),
    );
    const oldText = pickFrom(usable, random);
    if (oldText === undefined) continue;
    return { path, oldText, newText: withRemark(oldText, path, `${phrase(random)}, see step ${step}`) };
  }
  return undefined;
}

/**
 * Start of a line comment for each file type. In files of other types, the coder adds a plain line of text.
 */
const COMMENTS: readonly (readonly [ending: RegExp, start: string])[] = [
  [/\.(?:[cm]?[jt]sx?|go|rs|java|kt|c|h|cpp|cs|php)$/, "// "],
  [/\.(?:py|rb|sh|ya?ml|toml)$/, "# "],
  [/\.sql$/, "-- "],
];

function withRemark(line: string, path: string, remark: string): string {
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  const start = COMMENTS.find(([ending]) => ending.test(path))?.[1] ?? "";
  return `${indent}${start}${capitalized(remark)}.\n${line}`;
}

export const canEdit = (source: IdeaSource): boolean => changeOf(source) !== undefined;

function isEditable(line: string): boolean {
  const length = line.trim().length;
  return length >= 8 && length <= 200 && !/<\/?system-reminder>|truncated/.test(line);
}

/**
 * Makes a command that a real agent can run safely: it shows a part of one known file, or the names in the
 * folder. It never runs a program of the project, walks a tree, or takes long.
 */
function commandOn(path: string | undefined, { random, step, view }: IdeaSource): string {
  const remark = `echo "${phrase(random)}: step ${step}"`;
  if (path === undefined) {
    const names =
      view.root === undefined ? remark : `ls ${shellWord(view.root)} | head -${manyLines(random)}`;
    return random.pick([names, remark]);
  }
  const file = shellWord(path);
  const from = random.between(1, LAST_FIRST_LINE);
  return random.pick([
    `sed -n '${from},${from + random.between(10, 90)}p' ${file}`,
    `head -n ${manyLines(random)} ${file}`,
    `tail -n ${manyLines(random)} ${file}`,
    `grep -n "${functionName(random)}" ${file} | head -${manyLines(random)}`,
    `wc -l ${file} && ${remark}`,
  ]);
}

const manyLines = (random: Random): number => random.between(5, 90);

function searchPattern(random: Random): string {
  const name = functionName(random);
  return random.pick([
    name,
    `${thing(random)}s?\\.${quality(random)}`,
    `export function ${name}`,
    `${name}\\(`,
  ]);
}

function filePattern({ random, view }: IdeaSource): string {
  if (view.paths.length === 0) return random.pick(["*", "*/*", "**/*.{ts,js,py,md,json}"]);
  const ending = random.pick(["ts", "test.ts", "json", "md", "*"]);
  return random.pick([
    `**/${area(random)}/**/*${thing(random)}*.${ending}`,
    `**/${quality(random)}-${thing(random)}*.${ending}`,
    `**/{${area(random)},${area(random)}}/**/${quality(random)}-*.${ending}`,
  ]);
}

function todoItems({ random, step, topic }: IdeaSource): readonly JsonRecord[] {
  const items = Array.from({ length: random.between(3, 6) }, () => phrase(random));
  const current = random.between(0, items.length - 1);
  return [`${capitalized(topic)} (step ${step})`, ...items.map(capitalized)].map((content, index) => ({
    content,
    status: index < current ? "completed" : index === current ? "in_progress" : "pending",
    activeForm: `Working on: ${content}`,
  }));
}

/** Invents the content of a file with about this length. */
function fileText(path: string, random: Random, characters: number): string {
  if (path.endsWith(".md")) return markdown(random, characters);
  if (path.endsWith(".json")) return json(random, characters);
  return code(random, characters);
}

function code(random: Random, characters: number): string {
  const subject = capitalized(thing(random));
  let text = `/** ${capitalized(phrase(random))}. */\nexport interface ${subject} {\n  readonly id: string;\n  readonly ${quality(random)}Count: number;\n}\n`;
  do text += `\n${codeFunction(subject, random)}`;
  while (text.length < characters);
  return text;
}

function codeFunction(subject: string, random: Random): string {
  const name = functionName(random);
  const list = `${thing(random)}s`;
  const limit = random.between(2, 900);
  const bodies = [
    `  const ${list} = input.filter((one) => one.id !== "${random.hex(6)}");\n  if (${list}.length > ${limit}) return ${list}.slice(0, ${limit});\n  return ${list};\n`,
    `  const found = new Map(input.map((one) => [one.id, one]));\n  // ${capitalized(phrase(random))}.\n  return [...found.values()].slice(-${limit});\n`,
    `  if (input.length === 0) throw new Error("${phrase(random)}: nothing to do");\n  return input.toSorted((a, b) => a.id.localeCompare(b.id)).slice(${limit % 7});\n`,
  ] as const;
  return `export function ${name}(input: readonly ${subject}[]): readonly ${subject}[] {\n${random.pick(bodies)}}\n`;
}

function markdown(random: Random, characters: number): string {
  let text = `# ${capitalized(area(random))}: ${phrase(random)}\n`;
  do
    text += `\n## ${capitalized(phrase(random))}\n\n- ${phrase(random)}\n- ${phrase(random)} (${random.between(1, 90)})\n`;
  while (text.length < characters);
  return text;
}

function json(random: Random, characters: number): string {
  const entries: Record<string, unknown> = {};
  let length = 0;
  for (let index = 0; length < characters; index++) {
    const key = `${thing(random)}_${index}`;
    entries[key] = { note: phrase(random), limit: random.between(1, 500) };
    length += key.length + 60;
  }
  return `${JSON.stringify(entries, undefined, 2)}\n`;
}
