import type { Entry, EntryLink } from "../conversation/entry.ts";

/** Fields that an agent writes on every line of a session, whatever the line says. */
const HOST_FIELDS = [
  "isSidechain",
  "userType",
  "entrypoint",
  "cwd",
  "sessionId",
  "version",
  "gitBranch",
  "slug",
  "agentId",
] as const;

/** Clock and randomness, passed in. */
export interface CompactionPorts {
  readonly now: () => Date;
  readonly newUuid: () => string;
}

/** A link for a new entry after `parentUuid`, with the session's own fields as its newest lines have them. */
export function newLink(
  entries: readonly Entry[],
  parentUuid: string | null,
  ports: CompactionPorts,
): EntryLink {
  const fields: Record<string, unknown> = {};
  const newest = entries.findLast((entry) => entry.uuid !== undefined);
  for (const field of HOST_FIELDS) {
    const value = (newest as Record<string, unknown> | undefined)?.[field];
    if (value !== undefined) fields[field] = value;
  }
  return { parentUuid, ...fields, uuid: ports.newUuid(), timestamp: ports.now().toISOString() };
}
