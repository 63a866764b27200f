/** Objects found on a line that is not one JSON value, and how many bytes belong to none of them. */
export interface RecoveredLine {
  readonly values: readonly unknown[];
  readonly lostBytes: number;
}

/** How often the length of the line may be scanned over; keeps garbage of many megabytes from being quadratic. */
const SCAN_BUDGET_IN_LINES = 8;

/** How a line of a session file can begin; inside a lost piece only these are taken for a new entry. */
const ENTRY_START =
  /\{"(?:parentUuid|type|uuid|sessionId|isSidechain|cwd|timestamp|messageId|logicalParentUuid)":/g;

/**
 * Reads objects that were glued together: take one, then go on from where it ended. A piece that a
 * killed writer left unfinished may stand before a whole one, so after a failure the next place that
 * looks like the start of an entry is tried.
 */
export function recoverLine(text: string): RecoveredLine {
  const values: unknown[] = [];
  let budget = text.length * SCAN_BUDGET_IN_LINES;
  let lostBytes = 0;
  let usedTo = 0;
  let isAfterLoss = false;
  let start = text.indexOf("{");
  while (start >= 0 && budget > 0) {
    const end = endOfObject(text, start);
    budget -= (end ?? text.length) - start;
    const value = end === undefined ? undefined : parsed(text.slice(start, end));
    if (end !== undefined && value !== undefined && (!isAfterLoss || hasEnvelope(value))) {
      values.push(value);
      lostBytes += Buffer.byteLength(text.slice(usedTo, start).trim());
      usedTo = end;
      isAfterLoss = false;
      start = text.indexOf("{", end);
    } else {
      isAfterLoss = true;
      start = nextEntryStart(text, start + 1);
    }
  }
  return { values, lostBytes: lostBytes + Buffer.byteLength(text.slice(usedTo).trim()) };
}

/** Braces inside strings do not count. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at < 0) return undefined;
    } else if (code === 0x7b) depth++;
    else if (code === 0x7d && --depth === 0) return at + 1;
  }
  return undefined;
}

export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return -1;
}

function nextEntryStart(text: string, from: number): number {
  const pattern = new RegExp(ENTRY_START);
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}

/** A content block or a message inside a lost entry is an object with a type as well, but not an entry. */
function hasEnvelope(value: object): boolean {
  if ("uuid" in value) return "parentUuid" in value;
  return "sessionId" in value || "leafUuid" in value || "messageId" in value;
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
