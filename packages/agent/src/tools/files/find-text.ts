/** The place of a found text, in the units of the content: from the first to before the last. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/** Of more than these nobody knows what they are doing, and they no longer fit into memory. */
export const MOST_PLACES = 1_000_000;

/**
 * Every place where the text stands, up to one more than the most, also where two overlap. A line end of the text finds
 * a CRLF as well: whoever reads lines does not see how they end. A text with a carriage return of its own is taken as it
 * is written.
 */
export function placesOf(content: string, text: string): readonly Place[] {
  if (text === "") return [];
  if (!text.includes("\n") || text.includes("\r") || !content.includes("\r\n"))
    return indexesOf(content, text).map((from) => ({ from, to: from + text.length }));
  const plain = content.replaceAll("\r\n", "\n");
  const original = originalIndex(content);
  return indexesOf(plain, text).map((from) => ({ from: original(from), to: original(from + text.length) }));
}

/** Places that can all be replaced: of two that overlap, the first. */
export function withoutOverlaps(places: readonly Place[]): readonly Place[] {
  const kept: Place[] = [];
  for (const place of places) if (place.from >= (kept.at(-1)?.to ?? 0)) kept.push(place);
  return kept;
}

/** The content with something in these places instead, which follow each other. */
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
 * True if the line in which a place begins ends in CRLF; in the last line, if the one before does. Asked for
 * places in their order, so that a text with many of them is gone through once.
 */
export function crlfFinder(content: string): (place: Place) => boolean {
  const last = content.lastIndexOf("\n");
  let next = content.indexOf("\n");
  return ({ from }) => {
    if (next < from) next = from > last ? last : content.indexOf("\n", from);
    return next > 0 && content[next - 1] === "\r";
  };
}

/** The lines in which places begin, from 1; the places are in their order. */
export function linesAt(content: string, places: readonly Place[]): readonly number[] {
  let line = 1;
  let end = content.indexOf("\n");
  return places.map(({ from }) => {
    for (; end !== -1 && end < from; end = content.indexOf("\n", end + 1)) line += 1;
    return line;
  });
}

/**
 * In one go, whatever the two are: where a text repeats itself, `indexOf` begins it anew from each place, which in a file
 * of a few megabytes takes minutes. (The way of Knuth, Morris and Pratt.)
 */
function indexesOf(content: string, text: string): readonly number[] {
  const borders = bordersOf(text);
  const first = text.slice(0, 1);
  const indexes: number[] = [];
  for (let at = 0, same = 0; at < content.length && indexes.length <= MOST_PLACES; at++) {
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

/** For each length of the text's beginning: how much of its end is the text's beginning again. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length + 1);
  for (let at = 1, same = 0; at < text.length; at++) {
    while (same > 0 && text.charCodeAt(same) !== text.charCodeAt(at)) same = borders[same] ?? 0;
    if (text.charCodeAt(same) === text.charCodeAt(at)) same++;
    borders[at + 1] = same;
  }
  return borders;
}

/** From an index without the returns to one with them. Asked in rising order or not: each is looked up by halves. */
function originalIndex(content: string): (index: number) => number {
  // Of each CRLF the index of its line end in the content without returns.
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
