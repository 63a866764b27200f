import { isMoreNeeded, type MoreNeeded } from "./chain.ts";
import { indexWithoutDuplicates, type ReadEntries, readEntries } from "./load.ts";
import { asConversation, linesFrom } from "./relink.ts";
import { repeatedAbove } from "./repeated-lines.ts";
import { BOUNDARY_MARK, lastLineWith, lineStartAt } from "./search-backwards.ts";
import { isOfSubagent, modelIn, type ResumedSession, refuseForeignFile, sessionFacts } from "./session.ts";
import { cachingTail, type OpenSessionFile, type ReadAt, withSessionFile } from "./session-file.ts";

const RESPONSE_MARK = Buffer.from('"assistant"');

/**
 * Opens a session for going on with it. Reads from the end, and only as far up as the conversation
 * reaches, so that the size of the file does not matter; gives the conversation that a whole load would.
 */
export function resumeSession(path: string): Promise<ResumedSession> {
  return withSessionFile(path, (file) => resumeFrom(file, path));
}

/** The same, of a file that is open; of as many bytes of it as are given. */
export async function resumeFrom(file: OpenSessionFile, path: string): Promise<ResumedSession> {
  const { bytes } = file;
  const readAt = cachingTail(file.readAt, bytes);
  let known: ReadEntries = { entries: [], damage: [] };
  let from = bytes;
  let needs: MoreNeeded["needs"] = "boundary";
  for (let attempt = 0; ; attempt++) {
    const to = from;
    from = await startOf(readAt, needs, to, attempt < 2 ? 0 : bytes - to);
    known = joined(await readEntries(readAt, { from, to }, path), known);
    const { index, damage } = indexWithoutDuplicates(known, from === 0);
    const { entries } = index;
    const lines = linesFrom(index);
    if (isMoreNeeded(lines)) {
      needs = lines.needs;
      continue;
    }
    const repeated = await repeatedAbove(file.readAt, from, index, lines.lines);
    if (repeated !== undefined) {
      needs = repeated === "too-many" ? "whole-file" : { uuid: repeated };
      continue;
    }
    const found = asConversation(lines);
    if (found.entries.length === 0) refuseForeignFile(path, entries, damage);
    const facts = sessionFacts(path, bytes, entries, found);
    const model = facts.model ?? (await modelAbove(readAt, from, path, isOfSubagent(found.entries)));
    return { ...facts, model, boundary: found.boundary, damage, bytesRead: bytes - from };
  }
}

/** The model of the newest response above a place, for a conversation that holds none. */
async function modelAbove(
  readAt: ReadAt,
  before: number,
  path: string,
  isSubagent: boolean,
): Promise<string | undefined> {
  for (let to = before; ; ) {
    const from = await lastLineWith(readAt, RESPONSE_MARK, to);
    if (from === undefined) return undefined;
    const { entries } = await readEntries(readAt, { from, to }, path);
    const model = modelIn(entries, isSubagent);
    if (model !== undefined) return model;
    to = from;
  }
}

/** @param atLeast how far up to go in any case: doubling it keeps many small steps from adding up. */
async function startOf(
  readAt: ReadAt,
  needs: MoreNeeded["needs"],
  before: number,
  atLeast: number,
): Promise<number> {
  if (needs === "whole-file") return 0;
  const mark = needs === "boundary" ? BOUNDARY_MARK : Buffer.from(`"uuid":${JSON.stringify(needs.uuid)}`);
  const line = await lastLineWith(readAt, mark, before);
  if (line === undefined) return 0;
  const wanted = Math.max(0, before - atLeast);
  return wanted < line ? lineStartAt(readAt, wanted) : line;
}

function joined(above: ReadEntries, below: ReadEntries): ReadEntries {
  return { entries: [...above.entries, ...below.entries], damage: [...above.damage, ...below.damage] };
}
