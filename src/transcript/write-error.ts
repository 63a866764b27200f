import { LonghaulError } from "../errors.ts";

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "the file would become larger than allowed"],
  ["EIO", "the disk reports an error"],
  ["EROFS", "the disk is read-only"],
  ["EACCES", "the file or its folder is read-only for this user"],
  ["EPERM", "the file may not be changed"],
  ["EISDIR", "it is a folder"],
  ["EEXIST", "it exists already, and an existing file is never overwritten"],
  ["ENOTDIR", "its folder is not a folder"],
]);

/** Says in words why a session could not be written, and what state it was left in. */
export function notWritten(
  path: string,
  cause: unknown,
  outcome: "unchanged" | "unfinished line left" = "unchanged",
): LonghaulError {
  if (cause instanceof LonghaulError) return cause;
  const { code, reason } = whyNotWritten(cause);
  const state =
    outcome === "unchanged"
      ? "Nothing was changed."
      : "An unfinished line could not be removed; readers skip it and nothing else was changed.";
  return new LonghaulError("session-not-written", `${path} was not written: ${reason}. ${state}`, {
    remedy:
      code === "EEXIST" ? "Choose another name." : "Solve that and try again; the session can still be used.",
    facts: { path, ...(typeof code === "string" ? { system: code } : {}) },
    cause,
  });
}

/** In words, and the system's code. */
export function whyNotWritten(cause: unknown): { readonly code: unknown; readonly reason: string } {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return {
    code,
    reason: REASONS.get(code) ?? (cause instanceof Error ? cause.message : "of an unknown error"),
  };
}
