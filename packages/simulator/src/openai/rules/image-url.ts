import { imageTypeOf } from "../../shape/image-type.ts";
import { string } from "../../shape/shape-check.ts";
import { refuse } from "../wording/refuse.ts";
import type { Check } from "./shape/inspection.ts";

const WEB_ADDRESS = /^https?:\/\/[^\s/]/i;
/** Beginning of a data URL, as far as its comma. */
const DATA_HEADER = /^data:([^;,]*)(;[^,]*)?,/i;
/** Longest beginning of a data URL that is searched for its comma, in characters. */
const MAX_HEADER_CHARACTERS = 256;
/** Base64, in which the API ignores white space. No two neighbors match it, so the time stays linear. */
const BASE64 = /^[A-Za-z0-9+/\s]+(?:=\s*){0,2}$/;

/** Returns the media type of a data URL in base64, or undefined for any other text. */
export function mediaTypeOf(url: string): string | undefined {
  const [text, type = ""] = DATA_HEADER.exec(url.slice(0, MAX_HEADER_CHARACTERS)) ?? [];
  if (text === undefined || !/;base64,$/i.test(text)) return undefined;
  return BASE64.test(url.slice(text.length)) ? type.toLowerCase() : undefined;
}

/** Checks the address of an image: a web address, or a data URL with an image that the API can decode. */
export const imageUrl: Check = (value, inspection) => {
  string(value, inspection);
  const url = value as string;
  if (WEB_ADDRESS.test(url)) return;
  const header = DATA_HEADER.exec(url.slice(0, MAX_HEADER_CHARACTERS));
  if (header === null) return refuse("urlInvalid", inspection.path, { path: inspection.path });
  const [text, type = ""] = header;
  if (!type.toLowerCase().startsWith("image/")) refuse("imageMimeType");
  if (mediaTypeOf(url) === undefined) refuse("imageData", inspection.path);
  if (imageTypeOf(url.slice(text.length)) === undefined) refuse("imageUnsupported");
};
