import { listSessions, type SessionListing } from "@longhaul/sessions";
import type { Composition } from "../composition.ts";
import type { Terminal } from "../terminal.ts";
import { formatAge, formatBytes, formatShort, ID_SHOWN } from "../view/numbers.ts";
import { table } from "../view/sections.ts";
import { fitText, foldText, oneLine } from "../view/text-width.ts";

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
  const { id, path, agent, bytes, cwd: project = null, title = null, contextTokens = null } = listing;
  const modifiedAt = listing.modifiedAt.toISOString();
  return { id, path, agent, bytes, modifiedAt, project, title, contextTokens };
}

const PROJECT_WIDTH = 22;
/** Id, age, size and context, with the space between. */
const OTHER_COLUMNS_WIDTH = 44;
const UNKNOWN_CONTEXT =
  "?: no response or compaction near the end of the file reports the size of the context. Run longhaul inspect to count it.";

export function sessionsView(
  listings: readonly SessionListing[],
  { now, limit }: { readonly now: Date; readonly limit: number | undefined },
  terminal: Terminal,
): string {
  const { colours, width } = terminal;
  if (listings.length === 0) {
    return "No sessions were found: neither Claude Code nor longhaul has written any on this machine.\nA session file from elsewhere can be given by its path: longhaul inspect FILE";
  }
  const rows = listings.map((listing) => [
    colours.cyan(oneLine(listing.id).slice(0, ID_SHOWN)),
    formatAge(now.getTime() - listing.modifiedAt.getTime()),
    formatBytes(listing.bytes),
    listing.contextTokens === undefined ? "?" : formatShort(listing.contextTokens),
    fitText(listing.cwd ?? "?", PROJECT_WIDTH, "front"),
    fitText(listing.title ?? "", Math.max(10, width - OTHER_COLUMNS_WIDTH - PROJECT_WIDTH)),
  ]);
  const columns = ["id", "changed", ">file", ">context", "project", "title"];
  const isCut = limit !== undefined && listings.length === limit;
  const more = isCut ? `The newest ${limit}; --all lists every one.\n` : "";
  const isUnknown = listings.some(({ contextTokens }) => contextTokens === undefined);
  const unknown = isUnknown ? `${foldText(UNKNOWN_CONTEXT, width)}\n` : "";
  const hint = colours.dim(`${unknown}${more}Give an id's beginning, or "latest", to inspect or compact.`);
  return `${table(columns, rows, terminal)}\n\n${hint}`;
}
