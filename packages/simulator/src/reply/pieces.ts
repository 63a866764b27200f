/** Characters per delta. Deltas of the real API are a few tokens long. */
const PIECE_LENGTH = 24;
/** Maximum number of deltas for a text. Very long texts use longer deltas, because each event costs time. */
const MAX_PIECES = 500;

/** Splits a text into pieces. It never splits a surrogate pair, so that each piece is valid text. */
export function* pieces(text: string): Generator<string> {
  const length = Math.max(PIECE_LENGTH, Math.ceil(text.length / MAX_PIECES));
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end++;
    yield text.slice(at, end);
    at = end;
  }
}
