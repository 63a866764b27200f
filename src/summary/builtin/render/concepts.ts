import { type Piece, rising } from "../budget.ts";
import { clip } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { languageOf } from "../read/concepts.ts";
import { earlierItems } from "../read/earlier.ts";

const MAX_EARLIER_CHARS = 260;
const OURS = /^- (?:Languages|Packages|Commands in use|Names that matter): /;

export function renderConcepts(digest: SessionDigest): Piece[] {
  const pieces = [
    line("Languages", merged(digest, "Languages", languages(digest)), 230),
    line(
      "Packages",
      merged(
        digest,
        "Packages",
        digest.packages.map(({ name }) => code(name)),
      ),
      200,
    ),
    line(
      "Commands in use",
      merged(
        digest,
        "Commands in use",
        digest.programs.map(({ name }) => code(name)),
      ),
      190,
    ),
    line(
      "Names that matter",
      merged(
        digest,
        "Names that matter",
        digest.names.map(({ name }) => code(name)),
      ),
      225,
    ),
  ];
  const carried = earlierItems(digest.earlier, "Key Technical Concepts").filter((item) => !OURS.test(item));
  const earlier = carried.map((item, index): Piece => {
    return {
      forms: [clip(item, MAX_EARLIER_CHARS), clip(item, 120)],
      importance: rising(150, 130, index, carried.length),
    };
  });
  return [...pieces.flat(), ...earlier];
}

const MAX_LISTED = 26;
const code = (name: string): string => `\`${name}\``;

function line(label: string, names: readonly string[], importance: number): Piece[] {
  if (names.length === 0) return [];
  const lengths = [MAX_LISTED, 12, 5].filter((length, index) => index === 0 || length < names.length);
  return [{ forms: lengths.map((length) => `- ${label}: ${names.slice(0, length).join(", ")}`), importance }];
}

/** What is new leads; what an earlier summary of ours listed follows while there is room. */
function merged(digest: SessionDigest, label: string, names: readonly string[]): readonly string[] {
  const before = earlierItems(digest.earlier, "Key Technical Concepts")
    .filter((item) => item.startsWith(`- ${label}: `))
    .flatMap((item) => item.slice(label.length + 4).split(", "));
  return [...new Set([...names, ...before])];
}

function languages(digest: SessionDigest): readonly string[] {
  const counts = new Map<string, number>();
  for (const file of digest.files) {
    const language = languageOf(file.path);
    const weight = file.edits + (file.created ? 1 : 0);
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1 + weight);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([language]) => language);
}
