import { listSessions, type SessionListing } from "../../transcript/list-sessions.ts";
import type { Composition } from "../composition.ts";
import { sessionsView } from "../view/sessions-view.ts";

export interface SessionsOptions {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly limit?: number;
}

const LISTED_BY_DEFAULT = 20;

/** The sessions on this machine, newest first, so that nobody has to know a path. */
export async function sessions(options: SessionsOptions, composition: Composition): Promise<void> {
  const limit = options.all ? undefined : (options.limit ?? LISTED_BY_DEFAULT);
  const listings = await listSessions({ ...composition.places, ...(limit === undefined ? {} : { limit }) });
  const { terminal } = composition;
  if (options.json) terminal.print(JSON.stringify(listings.map(listingReport), null, 2));
  else terminal.print(sessionsView(listings, { now: composition.now(), limit }, terminal));
}

/** The shape that `sessions --json` prints. */
function listingReport(listing: SessionListing): Readonly<Record<string, unknown>> {
  const { id, path, agent, bytes, modifiedAt, cwd, title, contextTokens } = listing;
  return {
    id,
    path,
    agent,
    bytes,
    modifiedAt: modifiedAt.toISOString(),
    project: cwd ?? null,
    title: title ?? null,
    contextTokens: contextTokens ?? null,
  };
}
