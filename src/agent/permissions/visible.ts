import type { PermissionNeed } from "../permission.ts";

/**
 * What terminals obey or leave out: a command in an escape sequence would run and not be seen, and marks of direction
 * make one thing read as another. Line ends and tabs are seen; joiners belong to letters and emoji.
 */
const HIDDEN = /(?![\n\t\u200c\u200d]|\r\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

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
