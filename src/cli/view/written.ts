import type { WriteTarget } from "../../host/write-lines.ts";
import type { Terminal } from "../terminal.ts";
import { oneLine } from "./text-width.ts";

export interface Written {
  readonly out: string | null;
  readonly written: { readonly mode: WriteTarget["mode"]; readonly sessionId: string } | null;
  /** Whether the result is under the threshold; true unless given. */
  readonly fits?: boolean;
}

export function writtenLine({ out, written, fits = true }: Written, { colours }: Terminal): string {
  if (out === null || written === null) {
    return `${colours.yellow("Nothing was written.")} Add --in-place to append this to the session,\nor --out FILE to make a new one.`;
  }
  const done =
    written.mode === "in-place"
      ? "Appended to the session; nothing was removed from it."
      : `Written as session ${oneLine(written.sessionId)}; the original is untouched:\n${oneLine(out)}`;
  return `${fits ? colours.green("Done.") : colours.yellow("Done.")} ${done}`;
}
