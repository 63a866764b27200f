import { listSessions, type SessionListing } from "@longhaul/sessions";
import { sessionLabel } from "@longhaul/sessions/internal";
import type { Composition } from "../composition.ts";
import type { Terminal } from "../terminal.ts";
import { formatAge, formatBytes, formatShort, ID_SHOWN } from "../view/numbers.ts";
import { type Columns, table } from "../view/sections.ts";
import { foldText, oneLine } from "../view/text-width.ts";

export interface SessionsOptions {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly limit?: number;
}

const LISTED_BY_DEFAULT = 20;

/** Lists the sessions on this machine, newest first, so that nobody has to know a path. */
export async function sessions(options: SessionsOptions, composition: Composition): Promise<void> {
  const limit = options.all ? undefined : (options.limit ?? LISTED_BY_DEFAULT);
  const listings = await listSessions({ ...composition.places, ...(limit === undefined ? {} : { limit }) });
  const { terminal } = composition;
  if (options.json) terminal.print(JSON.stringify(listings.map(listingReport), null, 2));
  else terminal.print(sessionsView(listings, { now: composition.now(), limit }, terminal));
}

/** Formats a session for `sessions --json`. */
function listingReport(listing: SessionListing): Readonly<Record<string, unknown>> {
  const { id, path, agent, bytes, cwd: project = null, title = null, contextTokens = null } = listing;
  const modifiedAt = listing.modifiedAt.toISOString();
  return { id, path, agent, bytes, modifiedAt, project, title, contextTokens };
}

const COLUMNS: Columns = [
  "id",
  "changed",
  { title: ">file", rank: 1 },
  { title: ">context", rank: 3 },
  { title: "title or first prompt", cut: "end", least: 28 },
  { title: "project", cut: "front", least: 16, rank: 2 },
];
const NO_SESSIONS = "No sessions found. Neither Claude Code nor longhaul has written any on this machine.";
const OTHER_FILE = "To use a session file from elsewhere, pass its path: longhaul inspect FILE";
const HINT = "Pass the start of an id, or `latest`, to inspect or compact a session.";
const UNKNOWN_CONTEXT = "?: the file does not say how large the context is. `longhaul inspect` counts it.";

export function sessionsView(
  listings: readonly SessionListing[],
  { now, limit }: { readonly now: Date; readonly limit: number | undefined },
  terminal: Terminal,
): string {
  const { colors, width } = terminal;
  if (listings.length === 0) return [NO_SESSIONS, OTHER_FILE].map((line) => foldText(line, width)).join("\n");
  const rows = listings.map((listing) => [
    colors.cyan(oneLine(listing.id).slice(0, ID_SHOWN)),
    formatAge(now.getTime() - listing.modifiedAt.getTime()),
    formatBytes(listing.bytes),
    listing.contextTokens === undefined ? "?" : formatShort(listing.contextTokens),
    sessionLabel(listing),
    listing.cwd ?? "?",
  ]);
  const isUnknown = listings.some(({ contextTokens }) => contextTokens === undefined);
  const hints = [
    ...(isUnknown ? [UNKNOWN_CONTEXT] : []),
    ...(limit !== undefined && listings.length === limit
      ? [`These are the newest ${limit}. --all lists all of them.`]
      : []),
    HINT,
  ];
  const folded = hints.map((hint) => foldText(hint, width)).join("\n");
  return `${table(COLUMNS, rows, terminal)}\n\n${colors.dim(folded)}`;
}
