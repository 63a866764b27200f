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

/** The exam over a conversation: the same for the same entries, whatever becomes of them. */
export function deriveProbes(entries: readonly Entry[]): readonly Probe[] {
  const digest = digestSession(entries);
  return named([
    ...directiveProbes(digest, entries),
    ...fileProbes(digest),
    ...errorProbes(digest),
    ...decisionProbes(digest),
    ...numberProbes(digest),
    ...taskProbes(digest),
  ]);
}

/** Nothing is asked for twice; said again, it is active if it was so once. */
function named(drafts: readonly DraftProbe[]): readonly Probe[] {
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
 * A question of the exam: is this still known?
 *
 * - `directive`: something that a person said.
 * - `file`: a path that the agent needs again. `error`: what went wrong, and the file that mended it.
 * - `decision`: a question with the person's answer. `number`: a figure in a person's words, with the word beside it.
 * - `task`: an open item.
 */
export type ProbeKind = "directive" | "file" | "error" | "decision" | "number" | "task";

export const PROBE_KINDS: readonly ProbeKind[] = ["directive", "file", "error", "decision", "number", "task"];

export interface Probe {
  /** The same for the same session: kind and number. */
  readonly id: string;
  readonly kind: ProbeKind;
  /** For people: what is asked for. */
  readonly text: string;
  /** All of them must stand in a text that holds it, up to white space. None reaches over the end of a line. */
  readonly needles: readonly string[];
  /** Of a directive: nothing has been said or done since that would settle it. */
  readonly isActive?: boolean;
}

type DraftProbe = Omit<Probe, "id">;

/** Everything that a person asked for or said to the agent; what they typed to the shell or the program is no wish. */
function directiveProbes(digest: SessionDigest, entries: readonly Entry[]): readonly DraftProbe[] {
  const active = activeIds(entries);
  return digest.exchanges.flatMap((exchange): DraftProbe[] => {
    const { message } = exchange;
    if (message === undefined || !isRequest(exchange)) return [];
    const isActive = active.has(stringField(entries[message.at], "uuid") ?? "");
    const words = wordsOf(message.text);
    return [{ kind: "directive", text: shownText(message.text), needles: phrasesOf(words), isActive }];
  });
}

/** What a person typed: without the name of a command that goes before it, and without pictures. */
function wordsOf(text: string): string {
  const words = text.replace(/\[(?:image|document)\]/g, "");
  return words.replace(/^\/[\w:-]+\s+(?=\S)/, "");
}

/** What is active is a definition, and has one home. */
function activeIds(entries: readonly Entry[]): ReadonlySet<string> {
  const { facts } = extractFacts(entries);
  const active = facts.filter(({ kind, status }) => kind === "directive" && status === "active");
  return new Set(active.flatMap(({ entryIds }) => entryIds));
}

/** A file that was looked at so often is one that the agent works with. */
const READS_THAT_MATTER = 2;
/** 1 is any command that failed: a search without a hit, a look at what is not there. */
const WEIGHT_THAT_MATTERS = 2;

/** Files that were changed, and those that were read more than once or that a person named. */
function fileProbes(digest: SessionDigest): readonly DraftProbe[] {
  const said = digest.exchanges.map(({ message }) => message?.text ?? "").join("\n");
  return digest.files
    .filter((file) => !isScratch(file.path) && (isChanged(file) || isWorkedWith(file, said)))
    .map((file) => {
      const path = nameInProject(file.path, digest.cwd);
      return { kind: "file", text: path, needles: [path] };
    });
}

/** As the agent would give it to a tool: from the project's folder on. Of a file elsewhere, its name and its folder's. */
function nameInProject(path: string, cwd: string | undefined): string {
  const folder = cwd?.replace(/\/+$/, "");
  if (folder && path.startsWith(`${folder}/`)) return path.slice(folder.length + 1);
  return path.split(/[\\/]/).slice(-2).join("/");
}

const isChanged = ({ edits, created, removed }: FileRecord): boolean => edits > 0 || created || removed;

const isWorkedWith = ({ path, reads }: FileRecord, said: string): boolean =>
  reads >= READS_THAT_MATTER || (reads > 0 && said.includes(fileName(path)));

/** Tests, builds, checks and tools that failed, or whatever failed more than once; with the file that mended it. */
function errorProbes(digest: SessionDigest): readonly DraftProbe[] {
  return digest.errors
    .filter(({ weight, occurrences }) => weight >= WEIGHT_THAT_MATTERS || occurrences > 1)
    .flatMap((error) => {
      const line = phraseOf(error.text.replace(/…/g, "\n"));
      if (line === undefined) return [];
      const mended = mendedIn(error);
      return [{ kind: "error", text: shownText(error.text), needles: [line, ...mended] }];
    });
}

/** Only where one file was changed between the failure and the success is it known which. */
function mendedIn({ resolution }: ErrorRecord): readonly string[] {
  const files = resolution?.how === "passed" ? [...new Set(resolution.editedFiles.map(fileName))] : [];
  return files.length === 1 ? files : [];
}

/** Questions that the person answered. */
function decisionProbes(digest: SessionDigest): readonly DraftProbe[] {
  return digest.answers.map(({ question, answer }) => ({
    kind: "decision",
    text: shownText(`${question} ${answer}`),
    needles: [question, answer].flatMap((text) => phraseOf(text) ?? []),
  }));
}

/** Items that are not ticked off, and questions that wait for an answer. */
function taskProbes(digest: SessionDigest): readonly DraftProbe[] {
  const open = digest.todos.filter(({ status }) => status !== "completed").map(({ content }) => content);
  return [...open, ...digest.openQuestions].map((text) => ({
    kind: "task",
    text: shownText(text),
    needles: [text].flatMap((item) => phraseOf(item) ?? []),
  }));
}

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
function numberProbes(digest: SessionDigest): readonly DraftProbe[] {
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
    // Only a word of its own can be a filler: `5 in` is cut, `5min` and `64bit` are not.
    const isFiller = unit !== undefined && /^[ -]/.test(unit) && FILLERS.has(unit.slice(1).toLowerCase());
    const isTold = unit !== undefined && !isFiller;
    // A bare 3 stands everywhere.
    if (isTold) yield `${figure}${unit}`;
    else if (before !== undefined) yield `${before}${figure}`;
  }
}

/** Long enough to stand nowhere by chance, short enough to be quoted by anybody who quotes. */
const PHRASE_CHARS = 60;
/** Up to this length a text is known by how it begins; of a longer one the end counts too. */
const BY_ITS_BEGINNING_CHARS = 1.5 * PHRASE_CHARS;

/** A text for people, on one line. */
const shownText = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 2 * PHRASE_CHARS ? line : `${headOf(line, 2 * PHRASE_CHARS)}…`;
};

/** How a text begins, and how it ends where it is long: word by word, each within one line. */
function phrasesOf(text: string): readonly string[] {
  const lines = linesOf(text);
  const first = lines.find(isTelling) ?? lines[0];
  const last = lines.findLast(isTelling) ?? lines.at(-1);
  if (first === undefined || last === undefined) return [];
  const begins = wholeWords(headOf(first, PHRASE_CHARS), "start");
  if (text.trim().length <= BY_ITS_BEGINNING_CHARS) return [begins];
  const ends = wholeWords(tailOf(last, PHRASE_CHARS), "end");
  return begins === ends ? [begins] : [begins, ends];
}

/** The beginning of its first line. */
function phraseOf(text: string): string | undefined {
  const [first] = linesOf(text);
  return first === undefined ? undefined : wholeWords(headOf(first, PHRASE_CHARS), "start");
}

const linesOf = (text: string): readonly string[] =>
  text.split("\n").flatMap((line) => {
    const bare = line.replace(/\s+/g, " ").trim();
    return bare === "" ? [] : [bare];
  });

/** Fences, rules and brackets alone say nothing. */
const isTelling = (line: string): boolean => /[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(line);

/** Without the word that the cut went through; a text without spaces is taken as it was cut. */
function wholeWords(phrase: string, from: "start" | "end"): string {
  if (phrase.length < PHRASE_CHARS) return phrase;
  const cut = from === "start" ? phrase.replace(/\s\S*$/, "") : phrase.replace(/^\S*\s/, "");
  return cut.length > PHRASE_CHARS / 2 ? cut : phrase;
}
