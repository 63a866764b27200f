import { indexOfMessage } from "../../conversation/copies.ts";
import type { Entry } from "../../conversation/entry.ts";
import { standsFor } from "../../conversation/stand-ins.ts";

/** Where the messages begin that came after the newest noted one; undefined where that is no longer here. */
export function notedUpTo(entries: readonly Entry[], coveredUuid: string): number | undefined {
  // Where it was repeated, the first counts: nobody knows whether what stands between was noted.
  const noted = indexOfMessage(entries, coveredUuid);
  if (noted !== -1) return noted + 1;
  // Collapsed or snipped with others: what stands for them may hold something that was not noted.
  const standIn = entries.findIndex((entry) => standsFor(entry, coveredUuid));
  return standIn === -1 ? undefined : standIn;
}
