import type { Entry } from "../../conversation/entry.ts";
import type { Fact } from "../../conversation/facts.ts";
import { oneLine } from "../builtin/clip.ts";
import type { SessionDigest } from "../builtin/digest.ts";
import { type FileRecord, isScratch } from "../builtin/read/files.ts";
import { shortPath } from "../builtin/render/paths.ts";
import { type DraftFact, entryIdsAt } from "./draft.ts";

export type Deed = "created" | "changed" | "deleted" | "read";

/** Files with what was done to them. `carried`: what was known of them before. */
export function fileFacts(
  digest: SessionDigest,
  entries: readonly Entry[],
  carried: readonly Fact[],
): readonly DraftFact[] {
  const before = new Map(carried.map((fact) => [pathOf(fact), fact]));
  const touched = touchedPaths(digest, entries.length);
  return digest.files
    .filter((file) => (file.lastAt < entries.length || touched.has(file.path)) && !isScratch(file.path))
    .sort((a, b) => a.lastAt - b.lastAt)
    .map((file): DraftFact => {
      const path = oneLine(shortPath(file.path, digest.cwd));
      const known = before.get(path);
      const deed = known === undefined ? deedOf(file) : deedSince(deedIn(known), deedOf(file));
      const entryIds = entryIdsAt(entries, file.lastAt);
      return {
        kind: "file",
        text: `${deed} ${path}`,
        needles: [path],
        entryIds: entryIds.length > 0 ? entryIds : (known?.entryIds ?? []),
      };
    })
    .filter((fact) => pathOf(fact) !== "");
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
