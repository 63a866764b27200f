import { bulleted, clip, clipMarkdown, indented, inlineCode } from "../clip.ts";
import {
  commandsIn,
  doneTo,
  type EarlierFile,
  type Edit,
  earlierConcepts,
  earlierItems,
  type FileRecord,
  isOnlyRead,
  isSamePath,
  isScratch,
  LABELS,
  languageOf,
  namesFile,
  onlyReadItem,
  type ReadFiles,
  readEarlierFile,
  readEarlierFiles,
  readOnlyRead,
  type SessionDigest,
  shortPath,
  withoutCode,
} from "../readers/readers.ts";
import { type Piece, piece, rising } from "./budget.ts";
import { changeCode, currentEdits, readChange } from "./render-work.ts";

/** Renders the sections "Key Technical Concepts" and "Files and Code Sections". */

const MAX_EARLIER_CONCEPT_CHARS = 260;
const MAX_LISTED = 26;

export function renderConcepts(digest: SessionDigest): Piece[] {
  const inCode = (names: readonly string[]): string[] => names.map((name) => `\`${name}\``);
  const carried = earlierConcepts(digest.earlier);
  return [
    ...listPiece("Languages", languages(digest), 230, digest),
    ...listPiece("Packages", inCode(digest.packages), 200, digest),
    ...listPiece("Commands in use", inCode(digest.programs), 190, digest),
    ...listPiece("Names that matter", inCode(digest.names), 225, digest),
    ...carried.map((item, index) =>
      piece(
        [clip(item, MAX_EARLIER_CONCEPT_CHARS), clip(item, 120)],
        rising(150, 130, index, carried.length),
      ),
    ),
  ];
}

/** Lists new names first, then those of an earlier built-in summary while there is room. */
function listPiece(
  label: string,
  names: readonly string[],
  importance: number,
  { earlier }: SessionDigest,
): Piece[] {
  const start = `- ${label}: `;
  const before = earlierItems(earlier, "Key Technical Concepts")
    .filter((item) => item.startsWith(start))
    .flatMap((item) => item.slice(start.length).split(", "));
  const all = [...new Set([...names, ...before])];
  if (all.length === 0) return [];
  return [
    piece(
      [MAX_LISTED, 12, 5].map((length) => start + all.slice(0, length).join(", ")),
      importance,
    ),
  ];
}

function languages(digest: SessionDigest): readonly string[] {
  const counts = new Map<string, number>();
  for (const file of digest.files) {
    const language = languageOf(file.path);
    if (language !== undefined)
      counts.set(language, (counts.get(language) ?? 0) + 1 + file.edits + (file.created ? 1 : 0));
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([language]) => language);
}

const MAX_CHANGED = 150;
const MAX_EARLIER_FILE_CHARS = 900;

/**
 * Renders changed files first, the latest known change first. After them come files that were only read, and then other files in
 * an earlier summary.
 */
export function renderFiles(digest: SessionDigest): Piece[] {
  const { files, root } = digest;
  const all = earlierItems(digest.earlier, "Files and Code Sections");
  const earlier = all.filter((item) => !isOnlyRead(item));
  const earlierOf = (file: FileRecord): readonly string[] =>
    earlier.filter((item) => pathsOf(file).some((path) => namesFile(item, path, root)));
  const changed = files
    .filter((file) => isChanged(file) || (file.isRead && earlierOf(file).some(saysChanged)))
    .sort((a, b) => changedAt(b) - changedAt(a));
  const ranks = new Map(
    changed.toSorted((a, b) => weightOf(b) - weightOf(a)).map((file, rank) => [file, rank]),
  );
  // A file that git names as changed was changed by somebody else.
  const named = digest.exchanges.flatMap(commandsIn).flatMap(({ namedChanges }) => namedChanges);
  const isNamed = (path: string): boolean => named.some((name) => name === path || isSamePath(name, path));
  const readOnly = files
    .filter((file) => !changed.includes(file) && file.isRead && !isNamed(shortPath(file.path, root)))
    .sort((a, b) => b.lastAt - a.lastAt);
  const listed = readOnlyRead(all);
  const before = { ...listed, names: listed.names.filter((name) => !isNamed(name)) };
  const shownElsewhere = new Set(currentEdits(digest).map(({ edit }) => edit));
  const shown = new Set(changed.flatMap(earlierOf));
  const carried = earlier.filter((item) => !shown.has(item));
  return [
    ...changed.slice(0, MAX_CHANGED).map((file) => {
      const wasRead = before.names.some((name) => namesFile(inlineCode(name), file.path, root));
      const forms = fileForms(
        file,
        earlierOf(file),
        root,
        shownElsewhere,
        wasRead || earlierOf(file).length > 0,
      );
      return piece(forms, 270 - (150 * (ranks.get(file) ?? 0)) / changed.length, LABELS.changedFiles);
    }),
    ...readPieces(readOnly, changed, before, root),
    ...carried.map((item, index) => {
      const bullet = bulleted(item);
      const firstLine = bullet.split("\n")[0] ?? bullet;
      return piece(
        [clippedItem(bullet, MAX_EARLIER_FILE_CHARS), clippedItem(bullet, 350), clip(firstLine, 160)],
        rising(135, 105, index, carried.length),
        LABELS.earlierFiles,
      );
    }),
  ];
}

/** Shortens an item. The code goes first, because a cut edit shows only half of the change. */
const clippedItem = (item: string, maxChars: number): string =>
  item.length <= maxChars ? item : clipMarkdown(withoutCode(item).join("\n"), maxChars);

const isChanged = ({ edits, byShell, created, removed, movedFrom }: Omit<EarlierFile, "note">): boolean =>
  edits > 0 || byShell || created || removed || movedFrom !== undefined;

/** Returns true if the item says that the file was changed. A model's item does not say it in our words. */
const saysChanged = (item: string): boolean => isChanged(readEarlierFile(item));

const pathsOf = ({ path, movedFrom }: FileRecord): readonly string[] =>
  movedFrom === undefined ? [path] : [path, movedFrom];

/** Returns the position of the last known change. Earlier changes are in the earlier summary. */
const changedAt = (file: FileRecord): number => (isChanged(file) ? file.lastAt : -1);

/**
 * Returns the weight of a file. Recency counts first, but many edits outrank a single edit that is slightly
 * more recent.
 */
function weightOf(file: FileRecord): number {
  const passing = isScratch(file.path) ? 200 : 0;
  return file.lastAt + Math.min(file.edits, 8) * 6 - passing;
}

/**
 * Renders a file. `before`: its items in an earlier summary. The count of edits includes these items, so that
 * it covers the whole session. `isKnown`: the file existed at the earlier summary, so that writing it does
 * not count as creating it.
 */
function fileForms(
  file: FileRecord,
  before: readonly string[],
  cwd: string | undefined,
  shownElsewhere: ReadonlySet<Edit>,
  isKnown: boolean,
): string[] {
  const earlier = readEarlierFiles(before, file.reasons);
  const movedFrom = file.movedFrom === undefined ? earlier.movedFrom : shortPath(file.movedFrom, cwd);
  const done = doneTo({
    ...file,
    ...(movedFrom === undefined ? {} : { movedFrom }),
    edits: file.edits + earlier.edits + (file.created && isKnown ? 1 : 0),
    byShell: file.byShell || earlier.byShell,
    isRead: file.isRead || earlier.isRead,
    changedOutside: file.changedOutside || earlier.changedOutside,
    created: earlier.created || (file.created && !isKnown),
  });
  const header = `- \`${shortPath(file.path, cwd)}\` — ${done}`;
  const why = file.reasons.length > 0 ? [`  Why: ${file.reasons.join(" · ")}`] : [];
  const names = file.defines.map((name) => `\`${name}\``).join(", ");
  const heading = [
    header,
    ...why,
    ...(names === "" ? [] : [`  Names: ${names}`]),
    ...(earlier.note ? [`  Before: ${earlier.note}`] : []),
  ];
  const shown = file.lastEdits.filter((edit) => !shownElsewhere.has(edit)).map(readChange);
  const edits = (count: number, lines: number): string[] =>
    shown.slice(-count).map((change) => indented(changeCode(change, file.path, lines)));
  const forms = [
    [...heading, ...edits(2, 24)],
    [...heading, ...edits(1, 14)],
    [header, ...why, ...edits(1, 6)],
    [header, ...why.map((line) => clip(line, 140))],
    [header],
  ];
  return forms.map((lines) => lines.join("\n"));
}

/** Lists files that were only read, with those of earlier summaries that nobody has changed since. */
function readPieces(
  files: readonly FileRecord[],
  changed: readonly FileRecord[],
  before: ReadFiles,
  root: string | undefined,
): Piece[] {
  const known = [...files, ...changed];
  const earlier = before.names.filter(
    (name) => !known.some((file) => namesFile(inlineCode(name), file.path, root)),
  );
  const names = [...files.map(({ path }) => shortPath(path, root)), ...earlier];
  if (names.length === 0 && before.more === 0) return [];
  const forms = [24, 10, 4].map((length) => onlyReadItem({ names, more: before.more }, length));
  return [piece(forms, 140, LABELS.readFiles)];
}
