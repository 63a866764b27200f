/** Returns the first `maxChars` UTF-16 units, or one fewer if the cut would split a character. */
export function headOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = Math.max(0, maxChars);
  return text.slice(0, isBetween(text.charCodeAt(end - 1), 0xd800, 0xdbff) ? end - 1 : end);
}

/** Returns the last `maxChars` UTF-16 units, or one fewer if the cut would split a character. */
export function tailOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const start = text.length - Math.max(0, maxChars);
  return text.slice(isBetween(text.charCodeAt(start), 0xdc00, 0xdfff) ? start + 1 : start);
}

const isBetween = (code: number, first: number, last: number): boolean => code >= first && code <= last;

/** Escape sequences for terminals: colors, links, cursor moves. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const ESCAPE_SEQUENCE = /[\u001b\u009b](?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\[?[0-9;?]*[A-Za-z])/g;
/** All Unicode control characters except line breaks and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const CONTROLS = new RegExp(CONTROL.source, "g");

/**
 * Removes escape sequences and other control characters, which only cost tokens and garble screens. A
 * carriage return becomes a line break.
 */
export function withoutControls(text: string): string {
  if (!CONTROL.test(text)) return text;
  return text.replace(/\r\n?/g, "\n").replace(ESCAPE_SEQUENCE, "").replace(CONTROLS, "");
}

/** Formats a count like 34,726. `Intl.NumberFormat` would add 8 ms to every start. */
export const formatCount = (count: number): string =>
  String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ",");
