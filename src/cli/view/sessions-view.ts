import type { SessionListing } from "../../transcript/list-sessions.ts";
import type { Terminal } from "../terminal.ts";
import { formatAge, formatBytes, formatShort } from "./numbers.ts";
import { table } from "./table.ts";
import { fitText, foldText, oneLine, textWidth } from "./text-width.ts";

export interface SessionsViewOptions {
  readonly now: Date;
  readonly limit: number | undefined;
}

/** Enough of an id to tell sessions apart, and to give to the other commands. */
const ID_SHOWN = 8;
const PROJECT_WIDTH = 22;
/** Id, age, size and context, with the space between. */
const OTHER_COLUMNS_WIDTH = 44;
const UNKNOWN_CONTEXT =
  "?: no response or compaction near the end of the file reports the size of the context. Run longhaul inspect to count it.";

export function sessionsView(
  listings: readonly SessionListing[],
  options: SessionsViewOptions,
  terminal: Terminal,
): string {
  const { colours, width } = terminal;
  if (listings.length === 0) {
    return "No sessions were found: neither Claude Code nor longhaul has written any on this machine.\nA session file from elsewhere can be given by its path: longhaul inspect FILE";
  }
  const rows = listings.map((listing) => [
    colours.cyan(oneLine(listing.id).slice(0, ID_SHOWN)),
    formatAge(options.now.getTime() - listing.modifiedAt.getTime()),
    formatBytes(listing.bytes),
    listing.contextTokens === undefined ? "?" : formatShort(listing.contextTokens),
    fitText(listing.cwd ?? "?", PROJECT_WIDTH, "front"),
    fitText(listing.title ?? "", Math.max(10, width - OTHER_COLUMNS_WIDTH - PROJECT_WIDTH)),
  ]);
  const columns = [
    { title: "id" },
    { title: "changed" },
    { title: "file", align: "right" },
    { title: "context", align: "right" },
    { title: "project" },
    { title: "title" },
  ] as const;
  const isCut = options.limit !== undefined && listings.length === options.limit;
  const more = isCut ? `The newest ${options.limit}; --all lists every one.\n` : "";
  const isUnknown = listings.some(({ contextTokens }) => contextTokens === undefined);
  const unknown = isUnknown ? `${foldText(UNKNOWN_CONTEXT, width)}\n` : "";
  const hint = colours.dim(`${unknown}${more}Give an id's beginning, or "latest", to inspect or compact.`);
  return `${table(columns, rows, colours.dim, textWidth)}\n\n${hint}`;
}
