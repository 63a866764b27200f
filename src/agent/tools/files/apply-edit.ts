import {
  crlfFinder,
  linesAt,
  MOST_PLACES,
  type Place,
  placesOf,
  replaced,
  withoutOverlaps,
} from "./find-text.ts";
import { whyNotFound } from "./not-found.ts";
import { decodeText, unitsOf, withCrlf } from "./text.ts";

export interface EditWish {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
}

export type EditResult =
  | {
      readonly bytes: Buffer /** Lines in which the places begin, in the content as it was. */;
      readonly lines: readonly number[];
    }
  | { readonly refusal: string };

const MOST_LINES_NAMED = 10;

/** The content with one text in place of another; everything else stays as it is, byte by byte. */
export function applyEdit(bytes: Buffer, wish: EditWish): EditResult {
  const wrong = whatIsWrong(wish);
  if (wrong !== undefined) return { refusal: wrong };
  const decoded = decodeText(bytes);
  if (decoded === undefined) return { refusal: "It is no text, so Edit cannot change it." };
  const content = unitsOf(bytes, decoded.form);
  const { places, newText, isLiteral } = find(content.units, wish, content.of);
  if (places.length === 0)
    return { refusal: `old_string was not found. ${whyNotFound(decoded.text, wish.oldString)}` };
  if (places.length > MOST_PLACES)
    return { refusal: `old_string stands in more than ${MOST_PLACES} places. Use a command for that.` };
  if (places.length > 1 && !wish.replaceAll) return { refusal: severalPlaces(content.units, places) };
  const chosen = withoutOverlaps(places);
  const endsInCrlf = crlfFinder(content.units);
  const units = replaced(content.units, chosen, (place) =>
    !isLiteral && endsInCrlf(place) ? withCrlf(newText) : newText,
  );
  if (units === content.units)
    return { refusal: "That would change nothing: new_string stands there already." };
  return { bytes: content.toBytes(units), lines: linesAt(content.units, chosen) };
}

function whatIsWrong({ oldString, newString }: EditWish): string | undefined {
  if (oldString === "")
    return "old_string is empty. Write makes a new file, or gives a file a whole new content.";
  if (oldString === newString) return "old_string and new_string are the same: there is nothing to change.";
  if (!oldString.isWellFormed() || !newString.isWellFormed())
    return "old_string or new_string has half a character (a lone surrogate), which no file can hold.";
  return undefined;
}

interface Found {
  readonly places: readonly Place[];
  readonly newText: string;
  /** Whoever wrote returns means the line ends as they are. */
  readonly isLiteral: boolean;
}

/** First as it is written; then, where that has CRLF and the file has not, with plain line ends. */
function find(units: string, { oldString, newString }: EditWish, of: (text: string) => string): Found {
  const places = placesOf(units, of(oldString));
  if (places.length > 0 || !oldString.includes("\r\n"))
    return { places, newText: of(newString), isLiteral: `${oldString}${newString}`.includes("\r") };
  const withoutReturns = (text: string): string => of(text.replaceAll("\r\n", "\n"));
  const newText = withoutReturns(newString);
  return { places: placesOf(units, withoutReturns(oldString)), newText, isLiteral: newText.includes("\r") };
}

function severalPlaces(units: string, places: readonly Place[]): string {
  const named = places.slice(0, MOST_LINES_NAMED);
  const lines = [...new Set(linesAt(units, named))];
  const more = places.length > named.length ? ", …" : "";
  return (
    `old_string stands in ${places.length} places, in ${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}, so it is not clear which is meant. ` +
    "Give more of the text around the one you mean, or set replace_all to change them all."
  );
}
