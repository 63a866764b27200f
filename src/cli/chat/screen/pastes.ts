/**
 * A long paste stands in the text as one character, so that the cursor steps over it and a key deletes it. They are
 * of Unicode's last private plane, which nothing uses; where somebody has one, it is left out.
 */
const FIRST = 0x100000;
const LAST = 0x10fffd;

const PLACEHOLDERS = /[\u{100000}-\u{10fffd}]/gu;

export const placeholderOf = (index: number): string => String.fromCodePoint(Math.min(LAST, FIRST + index));

const indexOf = (placeholder: string): number => (placeholder.codePointAt(0) ?? 0) - FIRST;

export const isPlaceholder = (character: string): boolean => indexOf(character) >= 0;

export const withoutPlaceholders = (text: string): string => text.replace(PLACEHOLDERS, "");

export const withPastes = (text: string, pastes: readonly string[]): string =>
  text.replace(PLACEHOLDERS, (placeholder) => pastes[indexOf(placeholder)] ?? "");

/** What is shown in its place. */
export function foldedPaste(placeholder: string, pastes: readonly string[]): string {
  const pasted = pastes[indexOf(placeholder)] ?? "";
  const lines = pasted.split("\n").length;
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${pasted.length} characters]`;
}
