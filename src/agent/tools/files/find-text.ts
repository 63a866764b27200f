/** Where a text was found, in the units of the content: from the first to before the last. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/**
 * Every place where the text stands, also where two overlap. A line end of the text finds a CRLF as well: whoever
 * reads lines does not see how they end. A text with a carriage return of its own is taken as it is written.
 */
export function placesOf(content: string, text: string): readonly Place[] {
  if (text === "") return [];
  if (!text.includes("\n") || text.includes("\r") || !content.includes("\r\n"))
    return indexesOf(content, text).map((from) => ({ from, to: from + text.length }));
  const plain = content.replaceAll("\r\n", "\n");
  const original = originalIndex(content);
  return indexesOf(plain, text).map((from) => ({ from: original(from), to: original(from + text.length) }));
}

/** Those that can all be replaced: of two that overlap, the first. */
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
 * Whether the line ends in CRLF in which a place begins; in the last line, whether the one before does. Asked for
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

function indexesOf(content: string, text: string): readonly number[] {
  const indexes: number[] = [];
  for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + 1)) indexes.push(at);
  return indexes;
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
