import type { Entry } from "../conversation/entry.ts";

/**
 * A fork copies its history into a new file: new session id, same uuids. What an earlier session of the
 * list has already is left out of the later ones, so that totals over several files count it once.
 */
export function dedupeAcrossFiles<T extends { readonly entries: readonly Entry[] }>(
  sessions: readonly T[],
): readonly T[] {
  const uuids = new Set<string>();
  const responses = new Set<string>();
  return sessions.map((session) => {
    const entries = session.entries.filter((entry) => !isKnown(entry, uuids, responses));
    for (const entry of entries) {
      if (entry.uuid !== undefined) uuids.add(entry.uuid);
      const response = responseKey(entry);
      if (response !== undefined) responses.add(response);
    }
    return entries.length === session.entries.length ? session : { ...session, entries };
  });
}

function isKnown(entry: Entry, uuids: ReadonlySet<string>, responses: ReadonlySet<string>): boolean {
  if (entry.uuid !== undefined && uuids.has(entry.uuid)) return true;
  const response = responseKey(entry);
  return response !== undefined && responses.has(response);
}

/** Some tools give copied lines fresh uuids; the ids that the provider gave stay. */
function responseKey(entry: Entry): string | undefined {
  if (entry.type !== "assistant" || entry.message.id === undefined || entry.requestId === undefined) {
    return undefined;
  }
  return `${entry.message.id}\n${entry.requestId}`;
}
