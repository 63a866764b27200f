import type { Entry } from "../../conversation/entry.ts";
import type { Fact } from "../../conversation/fact-ledger.ts";
import { oneLine } from "../clip.ts";
import { type FileRecord, isScratch, type SessionDigest, shortPath } from "../readers/readers.ts";
import { type DraftFact, entryIdsAt } from "./draft.ts";
import { slashed } from "./paths.ts";

type Deed = "created" | "changed" | "deleted" | "read";

/** Files with what was done to them. `carried`: what was known of them before. */
export function fileFacts(
  digest: SessionDigest,
  entries: readonly Entry[],
  carried: readonly Fact[],
): readonly DraftFact[] {
  const before = new Map(carried.map((fact) => [pathOf(fact), fact]));
  const touched = touchedPaths(digest, entries.length);
  const files = digest.files
    .filter((file) => (file.lastAt < entries.length || touched.has(file.path)) && !isPassing(file))
    .sort((a, b) => a.lastAt - b.lastAt);
  const ends = endsOf(files);
  return files.flatMap((file): readonly DraftFact[] => {
    const path = oneLine(slashed(file.path)).replace(/\/{2,}/g, "/");
    if (path === "" || ends.has(path)) return [];
    const known = before.get(path);
    const deed = known === undefined ? deedOf(file) : deedSince(deedIn(known), deedOf(file));
    const entryIds = entryIdsAt(entries, file.lastAt);
    return [
      {
        kind: "file",
        text: `${deed} ${path}`,
        needles: [path],
        entryIds: entryIds.length > 0 ? entryIds : (known?.entryIds ?? []),
      },
    ];
  });
}

/** Made for the moment, or read in a folder of the session's own. */
function isPassing(file: FileRecord): boolean {
  if (isScratch(file.path)) return true;
  return deedOf(file) === "read" && shortPath(file.path, undefined).startsWith("…/");
}

/** The ends of all paths from the root: a command may name a file from where it ran. */
function endsOf(files: readonly FileRecord[]): ReadonlySet<string> {
  const ends = new Set<string>();
  for (const file of files) {
    const path = slashed(file.path);
    if (!/^(?:\/|[A-Za-z]:)/.test(path)) continue;
    for (let cut = path.indexOf("/"); cut !== -1; cut = path.indexOf("/", cut + 1))
      ends.add(path.slice(cut + 1));
  }
  return ends;
}

function touchedPaths({ exchanges }: SessionDigest, end: number): ReadonlySet<string> {
  const touched = new Set<string>();
  for (const { actions } of exchanges) {
    for (const action of actions) if ("path" in action && action.at < end) touched.add(action.path);
  }
  return touched;
}

function deedOf(file: FileRecord): Deed {
  if (file.removed) return "deleted";
  if (file.created) return "created";
  return file.edits > 0 || file.changedOutside ? "changed" : "read";
}

/** A file that was there before is not created by writing it; one that was made here stays so. */
function deedSince(before: string, now: Deed): Deed {
  if (now === "deleted") return now;
  if (before === "created") return before;
  if (now === "read") return before === "changed" ? before : now;
  return before === "deleted" ? now : "changed";
}

/** The first word of a file's fact; what another version wrote may be anything. */
export const deedIn = ({ text }: DraftFact): string => text.slice(0, Math.max(0, text.indexOf(" ")));

export const pathOf = ({ needles, text }: DraftFact): string => needles?.[0] ?? text;
