import type { Entry } from "../../conversation/entry.ts";
import { headOf } from "../../conversation/text.ts";
import { clip, oneLine } from "../builtin/clip.ts";
import type { SessionDigest } from "../builtin/digest.ts";
import type { CommandRun } from "../builtin/read/commands.ts";
import type { ErrorRecord } from "../builtin/read/errors.ts";
import { keysOf } from "../builtin/read/errors.ts";
import type { FileRecord } from "../builtin/read/files.ts";
import { isScratch } from "../builtin/read/files.ts";
import { fileName, shortPath } from "../builtin/render/paths.ts";
import { type DraftFact, entryIdsAt } from "./draft.ts";

/** What the agent's tools did and met, up to the end of `entries`. */
export function workFacts(digest: SessionDigest, entries: readonly Entry[]): readonly DraftFact[] {
  return [...errorFacts(digest, entries), ...fileFacts(digest, entries), ...commandFacts(digest, entries)];
}

function fileFacts(digest: SessionDigest, entries: readonly Entry[]): readonly DraftFact[] {
  const end = entries.length;
  const touched = new Set(
    digest.exchanges.flatMap(({ actions }) =>
      actions.flatMap((action) => ("path" in action && action.at < end ? [action.path] : [])),
    ),
  );
  return digest.files
    .filter((file) => (file.lastAt < end || touched.has(file.path)) && !isScratch(file.path))
    .map((file): DraftFact => {
      const path = oneLine(shortPath(file.path, digest.cwd));
      return {
        kind: "file",
        text: `${deedOf(file)} ${path}`,
        needles: [path],
        entryIds: entryIdsAt(entries, file.lastAt),
      };
    });
}

export type Deed = "created" | "changed" | "deleted" | "read";

function deedOf(file: FileRecord): Deed {
  if (file.removed) return "deleted";
  if (file.created) return "created";
  return file.edits > 0 || file.changedOutside ? "changed" : "read";
}

const SOURCE_CHARS = 70;
const LINE_CHARS = 120;

function errorFacts(digest: SessionDigest, entries: readonly Entry[]): readonly DraftFact[] {
  return digest.errors
    .filter((error) => error.at < entries.length)
    .map((error): DraftFact => {
      const lines = error.text.split("\n");
      const line = headOf(oneLine(lines[0] ?? ""), LINE_CHARS).trim();
      return {
        kind: "error",
        text: `\`${inCode(clip(error.source, SOURCE_CHARS))}\`: ${line}${outcomeOf(error)}`,
        needles: [line],
        entryIds: entryIdsAt(entries, error.at),
      };
    })
    .filter(({ needles }) => needles?.[0] !== "");
}

const inCode = (text: string): string => oneLine(text).replace(/`/g, "'");

function outcomeOf({ resolution }: ErrorRecord): string {
  if (resolution === undefined) return " → not seen fixed";
  const files = [...new Set(resolution.editedFiles.map(fileName))];
  return files.length === 0 ? " → fixed" : ` → fixed by changing ${files.join(", ")}`;
}

const COMMAND_CHARS = 90;

function commandFacts(digest: SessionDigest, entries: readonly Entry[]): readonly DraftFact[] {
  const runs = new Map<string, CommandRun>();
  for (const { actions } of digest.exchanges) {
    for (const action of actions) {
      if (action.kind !== "command" || action.at >= entries.length || action.run.kind === "other") continue;
      const key = action.run.kind === "commit" ? String(action.at) : (keysOf(action.run)[0] ?? "");
      runs.delete(key);
      runs.set(key, action.run);
    }
  }
  return [...runs.values()].map((run): DraftFact => {
    const command = headOf(run.command, COMMAND_CHARS).trim();
    const outcome = run.outcome ?? (run.failed ? "failed" : "ok");
    return {
      kind: "command",
      text: `\`${inCode(command)}\` → ${outcome}`,
      needles: [inCode(command), ...(run.outcome === undefined ? [] : [run.outcome])],
      entryIds: entryIdsAt(entries, run.at),
    };
  });
}
