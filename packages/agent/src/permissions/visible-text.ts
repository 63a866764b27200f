import type { PermissionNeed } from "../permission.ts";

/**
 * Characters that a terminal interprets, omits or draws as something else. These are controls, bidirectional
 * marks, zero-width characters, blanks that no shell splits at, and combining marks that pile up or have no
 * base letter. They can hide what runs. A command in an escape sequence would run without being seen, and
 * marks can push the end of a line off the screen. Line ends and tabs are visible, so they are not in this
 * pattern. Emoji joiners and the first two marks on a letter are not in it either.
 */
const HIDDEN = new RegExp(
  [
    "(?![\\n\\t]|\\r\\n)[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]",
    // Excludes a joiner between two emoji, and the selector that turns a symbol into an emoji.
    "(?!(?<=\\p{Extended_Pictographic}\\ufe0f?)(?:\\u200d(?=\\p{Extended_Pictographic})|\\ufe0f))[\\p{Cf}\\p{Default_Ignorable_Code_Point}]",
    "(?! )\\p{Zs}",
    "[\\u2800\\ufffc\\u{1d159}\\u{13441}\\u{13442}\\p{Co}\\p{Cn}]",
    // Includes newer marks, because terminals draw them in different widths.
    "(?!\\ufe0f)(?:(?<!\\p{L}\\p{M}?)\\p{M}|(?![\\u0300-\\u0ecd\\u1000-\\u109f\\u1780-\\u17d3\\u3099\\u309a])\\p{M})",
  ].join("|"),
  "gu",
);

/** Replaces every hidden character with a visible code. */
export const visibleText = (text: string): string =>
  text.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/**
 * Makes all hidden characters of a question visible, so that the person sees everything before allowing the
 * action.
 */
export function withAllVisible(need: PermissionNeed): PermissionNeed {
  const { title, detail, scope } = need;
  return {
    ...need,
    title: visibleText(title),
    ...(detail === undefined ? {} : { detail: visibleText(detail) }),
    ...(scope === undefined ? {} : { scope: visibleText(scope) }),
  };
}
