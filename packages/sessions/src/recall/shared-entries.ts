import { stringField } from "@longhaul/core/internal/messages";
import type { IndexedSession, ReadDocument } from "./indexed-session.ts";

/**
 * Returns a function that recognizes documents which an earlier call got from another session. A fork of a
 * session holds the same entries as the session itself.
 */
export function sharedEntries(session: IndexedSession): (read: ReadDocument) => boolean {
  /** Session of each document so far, by its id and text. */
  const parts = new Map<string, number>();
  return ({ number, entry, document }) => {
    const id = stringField(entry, "uuid");
    if (id === undefined || session.parts < 2) return false;
    const key = `${id} ${document.block} ${document.kind} ${document.text}`;
    const part = session.partOf(number);
    const known = parts.get(key) ?? part;
    parts.set(key, known);
    return known !== part;
  };
}
