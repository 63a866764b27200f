const LINE_ENDS = /\r\n?|[\u2028\u2029]/g;
/**
 * Characters that a terminal obeys or that nobody sees: escape sequences, bidirectional marks, and the invisible letters
 * that carry hidden instructions to models. Joiners and the emoji selectors belong to visible characters.
 */
const HIDDEN = /(?!\n|\t|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/** Text from a server without its hidden characters: a person would see the same. */
export const withoutHidden = (text: string): string =>
  text.replace(LINE_ENDS, "\n").replace(HIDDEN, "").toWellFormed();
