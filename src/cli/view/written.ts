import type { WriteTarget } from "../../host/write-lines.ts";
import type { Terminal } from "../terminal.ts";
import { foldText, oneLine } from "./text-width.ts";

export interface Written {
  readonly out: string | null;
  readonly written: { readonly mode: WriteTarget["mode"]; readonly sessionId: string } | null;
  /** Whether the result is under the threshold; true unless given. */
  readonly fits?: boolean;
  /** Writing it would fail unless the user forces it. */
  readonly isRefused?: boolean;
}

export function writtenLine(result: Written, { colours, width }: Terminal): string {
  const { out, written, fits = true, isRefused = false } = result;
  if (out === null || written === null) {
    const force = isRefused ? " With either, add --force." : "";
    const offer = `Add --in-place to append this to the session, or --out FILE to make a new one.${force}`;
    return foldText(`${colours.yellow("Nothing was written.")} ${offer}`, width);
  }
  const done = fits ? colours.green("Done.") : colours.yellow("Done.");
  if (written.mode === "in-place")
    return foldText(`${done} Appended to the session; nothing was removed from it.`, width);
  const sentence = `${done} Written as session ${oneLine(written.sessionId)}; the original is untouched:`;
  return `${foldText(sentence, width)}\n${oneLine(out)}`;
}
