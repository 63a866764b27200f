import {
  type ErrorRecord,
  type FileRecord,
  fileName,
  isScratch,
  type SessionDigest,
} from "../../summary/readers/readers.ts";
import { phraseOf, shown } from "./phrases.ts";
import type { DraftProbe } from "./probe.ts";

/** A file that was looked at so often is one that the agent works with. */
const READS_THAT_MATTER = 2;
/** 1 is any command that failed: a search without a hit, a look at what is not there. */
const WEIGHT_THAT_MATTERS = 2;

/** Files that were changed, and those that were read more than once or that a person named. */
export function fileProbes(digest: SessionDigest): readonly DraftProbe[] {
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
export function errorProbes(digest: SessionDigest): readonly DraftProbe[] {
  return digest.errors
    .filter(({ weight, occurrences }) => weight >= WEIGHT_THAT_MATTERS || occurrences > 1)
    .flatMap((error) => {
      const line = phraseOf(error.text.replace(/…/g, "\n"));
      if (line === undefined) return [];
      const mended = mendedIn(error);
      return [{ kind: "error", text: shown(error.text), needles: [line, ...mended] }];
    });
}

/** Only where one file was changed between the failure and the success is it known which. */
function mendedIn({ resolution }: ErrorRecord): readonly string[] {
  const files = resolution?.how === "passed" ? [...new Set(resolution.editedFiles.map(fileName))] : [];
  return files.length === 1 ? files : [];
}
