import { stat } from "node:fs/promises";
import { LonghaulError } from "../errors.ts";
import { type LatestSession, latestSession } from "./latest-session.ts";
import { type SessionFile, sessionFiles } from "./list-sessions.ts";
import { isSessionId, type UserPlaces } from "./locations.ts";

/** How many sessions an error names when a prefix fits several. */
const MOST_CANDIDATES_NAMED = 5;

/** Finds the file that a person means by a path, an id, the start of an id, or `latest`. */
export async function findSession(query: string, places: UserPlaces): Promise<string> {
  if (looksLikePath(query) || (await exists(query))) return query;
  if (!isSessionId(query)) throw notFound(query);
  if (query === "latest") return (await findLatest(places)).path;
  const files = await sessionFiles(places);
  const exact = files.filter((file) => file.id === query);
  const candidates = exact.length > 0 ? exact : files.filter((file) => file.id.startsWith(query));
  const [only, ...others] = candidates;
  if (only === undefined) throw notFound(query);
  if (others.length > 0) throw ambiguous(query, candidates);
  return only.path;
}

/** The session that `latest` stands for. */
export async function findLatest(places: UserPlaces): Promise<LatestSession> {
  const latest = await latestSession(places);
  if (latest === undefined) throw notFound("latest");
  return latest;
}

/** Whether it exists is for the reader to say, which knows more about what can be wrong with a file. */
function looksLikePath(query: string): boolean {
  return query.includes("/") || query.includes("\\") || query.endsWith(".jsonl");
}

async function exists(path: string): Promise<boolean> {
  if (path === "latest" || path === "") return false;
  const facts = await stat(path).catch(() => undefined);
  return facts?.isFile() === true;
}

function notFound(query: string): LonghaulError {
  const what =
    query === "latest"
      ? "No session holds a conversation yet."
      : `No session is called ${JSON.stringify(query)}.`;
  return new LonghaulError("session-not-found", what, {
    remedy: "Run `longhaul sessions` to see the sessions there are, or give the path of a session file.",
    facts: { query },
  });
}

function ambiguous(query: string, candidates: readonly SessionFile[]): LonghaulError {
  const named = candidates
    .slice(0, MOST_CANDIDATES_NAMED)
    .map((file) => (file.id === query ? file.path : file.id));
  const more = candidates.length > named.length ? ` and ${candidates.length - named.length} more` : "";
  return new LonghaulError(
    "session-ambiguous",
    `${candidates.length} sessions are called ${JSON.stringify(query)}: ${named.join(", ")}${more}.`,
    {
      remedy: "Give more of the id, or the path of the file.",
      facts: { query, candidates: candidates.length },
    },
  );
}
