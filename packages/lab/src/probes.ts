import { extractFacts } from "@longhaul/core/internal/compaction";
import { stringField } from "@longhaul/core/internal/messages";
import type { ErrorRecord } from "@longhaul/core/internal/summary";
import {
  digestSession,
  type FileRecord,
  fileName,
  isRequest,
  isScratch,
  type SessionDigest,
} from "@longhaul/core/internal/summary";
import type { Entry } from "@longhaul/core/messages";
import { headOf, tailOf } from "@longhaul/core/messages";

/** Derives the probes from a conversation. The same entries always give the same probes. */
export function deriveProbes(entries: readonly Entry[]): readonly Probe[] {
  const digest = digestSession(entries);
  return withIds([
    ...directiveProbes(digest, entries),
    ...fileProbes(digest),
    ...errorProbes(digest),
    ...decisionProbes(digest),
    ...numberProbes(digest),
    ...taskProbes(digest),
  ]);
}

/**
 * Numbers the probes and merges duplicates. A merged directive is active if any of its duplicates is active.
 */
function withIds(drafts: readonly DraftProbe[]): readonly Probe[] {
  const byNeedles = new Map<string, DraftProbe>();
  for (const draft of drafts) {
    if (draft.needles.length === 0) continue;
    const key = JSON.stringify([draft.kind, draft.needles]);
    const known = byNeedles.get(key);
    const isActive = known?.isActive || draft.isActive;
    byNeedles.set(key, isActive === undefined ? draft : { ...draft, isActive });
  }
  const count = new Map<string, number>();
  return [...byNeedles.values()].map((draft) => {
    const number = (count.get(draft.kind) ?? 0) + 1;
    count.set(draft.kind, number);
    return { id: `${draft.kind}-${number}`, ...draft };
  });
}

/**
 * A probe asks: does the agent still know this?
 *
 * - `directive`: something that a person said.
 * - `file`: a path that the agent needs again.
 * - `error`: a failure, and the file whose edit fixed it.
 * - `decision`: a question with the person's answer.
 * - `number`: a figure that a person wrote, with the word next to it.
 * - `task`: an open item.
 */
export type ProbeKind = "directive" | "file" | "error" | "decision" | "number" | "task";

export const PROBE_KINDS: readonly ProbeKind[] = ["directive", "file", "error", "decision", "number", "task"];

export interface Probe {
  /** Kind and number of the probe. The same session always has the same ids. */
  readonly id: string;
  readonly kind: ProbeKind;
  /** Description for people. */
  readonly text: string;
  /**
   * A text contains the probe if it contains all needles, ignoring differences in white space. No needle
   * spans several lines.
   */
  readonly needles: readonly string[];
  /** Only for directives: true if the directive still applies at the end of the session. */
  readonly isActive?: boolean;
}

type DraftProbe = Omit<Probe, "id">;

/**
 * Probes for everything that a person said to the agent. Input to the shell or to the program does not count.
 */
function directiveProbes(digest: SessionDigest, entries: readonly Entry[]): readonly DraftProbe[] {
  const active = activeIds(entries);
  return digest.exchanges.flatMap((exchange): DraftProbe[] => {
    const { message } = exchange;
    if (message === undefined || !isRequest(exchange)) return [];
    const isActive = active.has(stringField(entries[message.at], "uuid") ?? "");
    const words = typedWords(message.text);
    return [{ kind: "directive", text: toDisplayText(message.text), needles: phrasesOf(words), isActive }];
  });
}

/** Returns the words that a person typed, without a leading command name and without images. */
function typedWords(text: string): string {
  const words = text.replace(/\[(?:image|document)\]/g, "");
  return words.replace(/^\/[\w:-]+\s+(?=\S)/, "");
}

/**
 * Returns the ids of entries with active directives. Uses the fact extraction of the core package, so that
 * "active" means the same everywhere.
 */
function activeIds(entries: readonly Entry[]): ReadonlySet<string> {
  const { facts } = extractFacts(entries);
  const active = facts.filter(({ kind, status }) => kind === "directive" && status === "active");
  return new Set(active.flatMap(({ entryIds }) => entryIds));
}

/** Minimum number of reads that makes a file a probe. The agent will probably read such a file again. */
const MIN_READS = 2;
/**
 * Minimum weight of an error for a probe. Weight 1 is any failed command, such as a search without a hit or a
 * lookup of a missing file.
 */
const MIN_ERROR_WEIGHT = 2;

/**
 * Probes for files that the agent changed or read more than once. A file that the agent read only once is a
 * probe if a person named it.
 */
function fileProbes(digest: SessionDigest): readonly DraftProbe[] {
  const said = digest.exchanges.map(({ message }) => message?.text ?? "").join("\n");
  return digest.files
    .filter((file) => !isScratch(file.path) && (isChanged(file) || isWorkedWith(file, said)))
    .map((file) => {
      const path = nameInProject(file.path, digest.cwd);
      return { kind: "file", text: path, needles: [path] };
    });
}

/**
 * Returns the path that the agent would pass to a tool. This is the path relative to the project folder. For
 * a file outside that folder, it is the name of the file and of its parent folder.
 */
function nameInProject(path: string, cwd: string | undefined): string {
  const folder = cwd?.replace(/\/+$/, "");
  if (folder && path.startsWith(`${folder}/`)) return path.slice(folder.length + 1);
  return path.split(/[\\/]/).slice(-2).join("/");
}

const isChanged = ({ edits, created, removed }: FileRecord): boolean => edits > 0 || created || removed;

const isWorkedWith = ({ path, reads }: FileRecord, said: string): boolean =>
  reads >= MIN_READS || (reads > 0 && said.includes(fileName(path)));

/**
 * Probes for failed tests, builds, checks and tools, and for anything that failed more than once. Each probe
 * includes the file whose edit fixed the failure.
 */
function errorProbes(digest: SessionDigest): readonly DraftProbe[] {
  return digest.errors
    .filter(({ weight, occurrences }) => weight >= MIN_ERROR_WEIGHT || occurrences > 1)
    .flatMap((error) => {
      const line = phraseOf(error.text.replace(/…/g, "\n"));
      if (line === undefined) return [];
      const mended = fixedFiles(error);
      return [{ kind: "error", text: toDisplayText(error.text), needles: [line, ...mended] }];
    });
}

/**
 * Returns the file whose edit fixed the error. The file is certain only if no other file changed between the
 * failure and the success.
 */
function fixedFiles({ resolution }: ErrorRecord): readonly string[] {
  const files = resolution?.how === "passed" ? [...new Set(resolution.editedFiles.map(fileName))] : [];
  return files.length === 1 ? files : [];
}

function decisionProbes(digest: SessionDigest): readonly DraftProbe[] {
  return digest.answers.map(({ question, answer }) => ({
    kind: "decision",
    text: toDisplayText(`${question} ${answer}`),
    needles: [question, answer].flatMap((text) => phraseOf(text) ?? []),
  }));
}

/** Probes for unfinished items and unanswered questions. */
function taskProbes(digest: SessionDigest): readonly DraftProbe[] {
  const open = digest.todos.filter(({ status }) => status !== "completed").map(({ content }) => content);
  return [...open, ...digest.openQuestions].map((text) => ({
    kind: "task",
    text: toDisplayText(text),
    needles: [text].flatMap((item) => phraseOf(item) ?? []),
  }));
}

/**
 * Number of characters at the start and at the end of a message that count as typed by the person. In a
 * longer message, the middle counts as pasted text, such as a log or a file.
 */
const OWN_WORDS_HEAD_CHARS = 1_000;
const OWN_WORDS_TAIL_CHARS = 500;

/** Names that look like figures: versions, issues, commits. */
const NAMES: readonly RegExp[] = [
  /\bv?\d+\.\d+(?:\.\d+)+(?:-[\w.]*\w)?\b/g,
  /(?<![\w#])#\d{1,7}\b/g,
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g,
];
/** A figure with its unit or with the words beside it. */
const FIGURE =
  /(?<before>\p{L}{2,20} )?(?<![\w.:/#-])(?<figure>\d+(?:[.,:]\d+)*)(?<unit> ?%|\p{L}{1,3}\b|[ -]\p{L}{2,20}\b)?(?![\w/])/gu;
/** Words that do not say what a figure counts. */
const FILLERS: ReadonlySet<string> = new Set(
  "and are as at be but by for from if in is it not of on or so than that the then there to was were with".split(
    " ",
  ),
);

/** Probes for figures that a person wrote. Each figure counts once, regardless of case. */
function numberProbes(digest: SessionDigest): readonly DraftProbe[] {
  const found = new Set<string>();
  for (const exchange of digest.exchanges) {
    if (!isRequest(exchange) || exchange.message === undefined) continue;
    for (const line of typedText(exchange.message.text).split("\n")) {
      for (const figure of figuresIn(line)) found.add(figure.toLowerCase());
    }
  }
  return [...found].map((figure) => ({ kind: "number", text: figure, needles: [figure] }));
}

function typedText(text: string): string {
  if (text.length <= OWN_WORDS_HEAD_CHARS + OWN_WORDS_TAIL_CHARS) return text;
  return `${headOf(text, OWN_WORDS_HEAD_CHARS)}\n${tailOf(text, OWN_WORDS_TAIL_CHARS)}`;
}

function* figuresIn(line: string): Generator<string> {
  // The number of a list item is not a figure.
  let words = line.replace(/^\s*\d{1,2}[.)]\s/, "").replace(/\s+/g, " ");
  for (const pattern of NAMES) {
    for (const [name] of words.matchAll(pattern)) yield name;
    words = words.replace(pattern, "");
  }
  for (const { groups = {} } of words.matchAll(FIGURE)) {
    const { before, figure, unit } = groups;
    // Only a separate word can be a filler: `5 in` becomes `5`, but `5min` and `64bit` stay.
    const isFiller = unit !== undefined && /^[ -]/.test(unit) && FILLERS.has(unit.slice(1).toLowerCase());
    const hasUnit = unit !== undefined && !isFiller;
    // A figure without a unit or a word is no probe, because a bare 3 occurs everywhere.
    if (hasUnit) yield `${figure}${unit}`;
    else if (before !== undefined) yield `${before}${figure}`;
  }
}

/**
 * Maximum length of a phrase. The phrase is long enough that it does not occur by chance, and short enough
 * that a quotation contains all of it.
 */
const PHRASE_CHARS = 60;
/** Maximum length of a text that its beginning identifies. For a longer text, its end is needed too. */
const MAX_BEGINNING_ONLY_CHARS = 1.5 * PHRASE_CHARS;

/** Shortens a text to one line for people. */
const toDisplayText = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 2 * PHRASE_CHARS ? line : `${headOf(line, 2 * PHRASE_CHARS)}…`;
};

/**
 * Returns the beginning of a text, and also the end if the text is long. Each is a verbatim phrase from one
 * line.
 */
function phrasesOf(text: string): readonly string[] {
  const lines = linesOf(text);
  const first = lines.find(hasWords) ?? lines[0];
  const last = lines.findLast(hasWords) ?? lines.at(-1);
  if (first === undefined || last === undefined) return [];
  const begins = trimCutWord(headOf(first, PHRASE_CHARS), "start");
  if (text.trim().length <= MAX_BEGINNING_ONLY_CHARS) return [begins];
  const ends = trimCutWord(tailOf(last, PHRASE_CHARS), "end");
  return begins === ends ? [begins] : [begins, ends];
}

/** Returns the beginning of the first non-empty line of a text. */
function phraseOf(text: string): string | undefined {
  const [first] = linesOf(text);
  return first === undefined ? undefined : trimCutWord(headOf(first, PHRASE_CHARS), "start");
}

const linesOf = (text: string): readonly string[] =>
  text.split("\n").flatMap((line) => {
    const bare = line.replace(/\s+/g, " ").trim();
    return bare === "" ? [] : [bare];
  });

/** Returns false for lines that consist only of fences, rules or brackets. */
const hasWords = (line: string): boolean => /[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(line);

/** Removes the partial word at the cut end of a phrase. A phrase without spaces stays unchanged. */
function trimCutWord(phrase: string, from: "start" | "end"): string {
  if (phrase.length < PHRASE_CHARS) return phrase;
  const cut = from === "start" ? phrase.replace(/\s\S*$/, "") : phrase.replace(/^\S*\s/, "");
  return cut.length > PHRASE_CHARS / 2 ? cut : phrase;
}
