/** Position of a match in units of the content. `to` is exclusive. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/**
 * Maximum number of matches. An edit with more matches is a mistake, and the list of matches would no longer
 * fit into memory.
 */
export const MAX_PLACES = 1_000_000;

/**
 * Finds every match, including overlapping ones. Stops after one match more than the limit. A line end in the
 * text also matches CRLF, because the model sees lines without their line ends. A text that contains a
 * carriage return is matched literally.
 */
export function placesOf(content: string, text: string): readonly Place[] {
  if (text === "") return [];
  if (!text.includes("\n") || text.includes("\r") || !content.includes("\r\n"))
    return indexesOf(content, text).map((from) => ({ from, to: from + text.length }));
  const plain = content.replaceAll("\r\n", "\n");
  const original = originalIndex(content);
  return indexesOf(plain, text).map((from) => ({ from: original(from), to: original(from + text.length) }));
}

/** Keeps only the first of two overlapping matches, so that all remaining matches can be replaced. */
export function withoutOverlaps(places: readonly Place[]): readonly Place[] {
  const kept: Place[] = [];
  for (const place of places) if (place.from >= (kept.at(-1)?.to ?? 0)) kept.push(place);
  return kept;
}

/** Replaces these matches, which must be in order. */
export function replaced(
  content: string,
  places: readonly Place[],
  replacement: (place: Place) => string,
): string {
  let at = 0;
  const parts: string[] = [];
  for (const place of places) {
    parts.push(content.slice(at, place.from), replacement(place));
    at = place.to;
  }
  return parts.join("") + content.slice(at);
}

/**
 * Checks if the line of a match ends in CRLF. For the last line, the line before it decides. Call it with
 * matches in order, so that it scans the text only once.
 */
export function crlfFinder(content: string): (place: Place) => boolean {
  const last = content.lastIndexOf("\n");
  let next = content.indexOf("\n");
  return ({ from }) => {
    if (next < from) next = from > last ? last : content.indexOf("\n", from);
    return next > 0 && content[next - 1] === "\r";
  };
}

/** Returns the line numbers of matches, from 1. The matches must be in order. */
export function linesAt(content: string, places: readonly Place[]): readonly number[] {
  let line = 1;
  let end = content.indexOf("\n");
  return places.map(({ from }) => {
    for (; end !== -1 && end < from; end = content.indexOf("\n", end + 1)) line += 1;
    return line;
  });
}

/**
 * Searches in linear time (Knuth-Morris-Pratt). `indexOf` restarts at each position, which takes minutes for
 * repetitive files of a few megabytes.
 */
function indexesOf(content: string, text: string): readonly number[] {
  const borders = bordersOf(text);
  const first = text.slice(0, 1);
  const indexes: number[] = [];
  for (let at = 0, same = 0; at < content.length && indexes.length <= MAX_PLACES; at++) {
    const unit = content.charCodeAt(at);
    while (same > 0 && text.charCodeAt(same) !== unit) same = borders[same] ?? 0;
    if (text.charCodeAt(same) === unit) same++;
    if (same === text.length) {
      indexes.push(at + 1 - same);
      same = borders[same] ?? 0;
    }
    if (same > 0) continue;
    const next = content.indexOf(first, at + 1);
    if (next === -1) break;
    at = next - 1;
  }
  return indexes;
}

/**
 * Computes one number for each prefix of the text: the length of its longest proper suffix that is also a
 * prefix of the text.
 */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length + 1);
  for (let at = 1, same = 0; at < text.length; at++) {
    while (same > 0 && text.charCodeAt(same) !== text.charCodeAt(at)) same = borders[same] ?? 0;
    if (text.charCodeAt(same) === text.charCodeAt(at)) same++;
    borders[at + 1] = same;
  }
  return borders;
}

/**
 * Returns a function that converts indexes. It takes an index in the content without carriage returns, and
 * returns the index in the original content. Uses binary search, so calls can come in any order.
 */
function originalIndex(content: string): (index: number) => number {
  // For each CRLF, the index of its line end in the content without carriage returns.
  const ends: number[] = [];
  for (let at = content.indexOf("\r\n"); at !== -1; at = content.indexOf("\r\n", at + 2))
    ends.push(at - ends.length);
  return (index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return index + low;
  };
}
