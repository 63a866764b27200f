import type { Refusal, SectionEdit } from "../notes/notes.ts";

/** An edit that a text asks for, or why it cannot be one; `named` is how a reason refers to it. */
export interface NoteBlock {
  readonly named: string;
  readonly edit: SectionEdit | Refusal;
}

const OPENING = /<note\s[^<>]*>/gi;
/** The word alone may be anybody's tag. */
const HAS_ATTRIBUTE_OF_OURS = /\b(?:section|mode)\s*=/i;
const CLOSING = "</note>";
const ATTRIBUTE = /([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** The `<note …>…</note>` blocks of an answer, in their order. What stands between them is talk. */
export function noteBlocksIn(text: string): readonly NoteBlock[] {
  const openings = [...text.matchAll(OPENING)].filter(([tag]) => HAS_ATTRIBUTE_OF_OURS.test(tag));
  return openings.map((opening, index) => {
    const attributes = attributesIn(opening[0]);
    const rest = text.slice(opening.index + opening[0].length, openings[index + 1]?.index);
    return { named: namedBy(attributes), edit: sectionEdit(attributes, rest) };
  });
}

/** `rest`: up to where the next block begins. */
function sectionEdit(attributes: Attributes, rest: string): SectionEdit | Refusal {
  const section = attributes.get("section");
  const mode = attributes.get("mode");
  const end = rest.indexOf(CLOSING);
  if (end === -1) return refused(`it has no ${CLOSING} at its end`);
  // Whichever of the two ends it, the other is part of something that would be lost.
  if (rest.lastIndexOf(CLOSING) !== end)
    return refused(`it holds ${CLOSING} in its text; write that otherwise`);
  if (section === undefined) return refused('it does not say which section it is for (section="…")');
  if (mode !== "replace" && mode !== "append") return refused('its mode is neither "replace" nor "append"');
  return { kind: "section", section, mode, text: rest.slice(0, end).trim() };
}

const refused = (why: string): Refusal => ({ refused: `Not carried out: ${why}.` });

type Attributes = ReadonlyMap<string, string>;

function attributesIn(tag: string): Attributes {
  return new Map(
    [...tag.matchAll(ATTRIBUTE)].map(([, name = "", double, single]) => [
      name.toLowerCase(),
      unescaped(double ?? single ?? "").trim(),
    ]),
  );
}

/** Some models write attributes as XML has them; "Errors & Corrections" is a section's name. */
const unescaped = (value: string): string =>
  value
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");

function namedBy(attributes: Attributes): string {
  const section = attributes.get("section");
  return section === undefined ? "A note" : `The note for ${JSON.stringify(section)}`;
}
