import { z } from "zod";
import type { ToolContext, ToolOutcome } from "../../tool.ts";
import { fingerprintOf } from "../../workplace/read-state.ts";
import { systemCode } from "../../workplace/real-path.ts";
import type { FileContent, ResolvedPath, SeenFile } from "../../workplace.ts";
import type { FilePlace } from "./file-place.ts";
import { createFile, replaceFile, type WriteOutcome } from "./replace-file.ts";
import { decodeText } from "./text.ts";
import { type TextDiff, unifiedDiff } from "./unified-diff.ts";

/** A file with a NUL counts as binary: its diff is empty, and the person would allow something unseen. */
export const textInput: z.ZodType<string> = z
  .string()
  .refine((text) => !text.includes("\0"), "has a NUL character, which no text file holds");

export const refused = (content: string, summary: string): ToolOutcome => ({
  content,
  isError: true,
  summary,
});

/** Why the agent may not change this content: it has to know what it changes. Undefined where it does. */
export function notKnown(
  place: FilePlace,
  file: ResolvedPath,
  content: FileContent,
): ToolOutcome | undefined {
  const seen = place.reads.get(file.realPath);
  if (seen === undefined)
    return refused(
      `${file.displayPath} was not changed: you have not read it yet, or its content is no longer before you. Read it first.`,
      "not read yet",
    );
  return seen.fingerprint === fingerprintOf(content.bytes) ? undefined : changedMeanwhile(file);
}

const changedMeanwhile = ({ displayPath }: ResolvedPath): ToolOutcome =>
  refused(
    `${displayPath} was not changed: since you read it somebody else has changed it (the user, a command, another agent). ` +
      "Read it again, and make your change to what stands there now.",
    "changed by somebody else",
  );

export interface Change {
  readonly file: ResolvedPath;
  /** Undefined where there is no such file yet. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
  /** What the agent knows of it from now on. */
  readonly range: SeenFile["range"];
}

/** Makes a change, if the file is still what it was; afterwards the agent knows the new content. */
export async function makeChange(
  place: FilePlace,
  { file, before, after, range }: Change,
  { signal }: ToolContext,
): Promise<ToolOutcome | undefined> {
  signal.throwIfAborted();
  let outcome: WriteOutcome;
  try {
    outcome =
      before === undefined
        ? await createFile(file.realPath, after, signal)
        : await replaceFile(file.realPath, before, after, signal);
  } catch (error) {
    signal.throwIfAborted();
    return refused(`${file.displayPath} was not changed: ${whyNotWritten(error)}.`, "not written");
  }
  if (outcome.state === "changed") return changedMeanwhile(file);
  const { mtimeMs } = outcome;
  place.reads.saw(file.realPath, { fingerprint: fingerprintOf(after), mtimeMs, range, callId: undefined });
  return undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "it may not be written by this user",
  EPERM: "it may not be written by this user",
  EROFS: "it lies on a disk that can only be read",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  ENOTDIR: "a part of its path is a file, not a folder",
  EEXIST: "a part of its path is a file, not a folder",
  EISDIR: "it is a folder",
  ENOENT: "it is gone, or its folder is",
  ENAMETOOLONG: "its name is longer than the system takes",
  ETXTBSY: "it is a program that runs right now",
};

function whyNotWritten(error: unknown): string {
  const code = systemCode(error);
  return REASONS[code] ?? `writing failed (${code || String(error)})`;
}

/** For people. */
export function diffOf(
  before: Buffer | undefined,
  after: Buffer,
  reach?: Parameters<typeof unifiedDiff>[2],
): TextDiff {
  const text = (bytes: Buffer | undefined): string =>
    bytes === undefined ? "" : (decodeText(bytes)?.text ?? "");
  return unifiedDiff(text(before), text(after), reach);
}

export const countsIn = ({ added, removed }: TextDiff): string => `+${added} −${removed}`;
