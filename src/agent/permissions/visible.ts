import type { PermissionNeed } from "../permission.ts";

/**
 * Characters that a terminal obeys, leaves out or draws as something else: controls, marks of direction, characters
 * without width, blanks that no shell splits at, and marks that pile up or stand alone. A command in an escape sequence
 * would run and not be seen, and marks can push the end of a line off the screen. Line ends and tabs are seen. Joiners of
 * emoji stay, and up to two marks on a letter.
 */
const HIDDEN =
  /(?![\n\t]|\r\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?<!\p{Extended_Pictographic}\ufe0f?)[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|[\u2800\ufffc]|(?<!\p{L}\p{M}?)(?!\ufe0f)\p{M}/gu;

const shown = (text: string): string =>
  text.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/** As it is asked for: whoever allows something must see all of it. */
export function withAllVisible(need: PermissionNeed): PermissionNeed {
  const { title, detail, scope } = need;
  return {
    ...need,
    title: shown(title),
    ...(detail === undefined ? {} : { detail: shown(detail) }),
    ...(scope === undefined ? {} : { scope: shown(scope) }),
  };
}
