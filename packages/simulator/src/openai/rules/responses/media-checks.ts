import { imageTypeOf } from "../../../shape/image-type.ts";
import { string } from "../../../shape/shape-check.ts";
import { refuse } from "../../wording/refuse.ts";
import { type Check, type Inspection, shortened } from "../shape/inspection.ts";

/** Longest scheme and media type that a data URL may have before its comma. */
const MAX_HEAD_CHARACTERS = 200;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

interface DataUrl {
  readonly mediaType: string;
  readonly base64: string;
}

/** Checks an image by URL or as data URL. A data URL must hold an image that the API can decode. */
export const imageUrl: Check = (value, inspection) => {
  string(value, inspection);
  const url = value as string;
  if (!url.startsWith("data:")) return checkUrl(url, inspection);
  const { mediaType, base64 } = dataUrlOf(url, "imageDataInvalid", inspection);
  if (!mediaType.startsWith("image/")) {
    refuseData("imageDataInvalid", `unsupported MIME type '${shortened(mediaType)}'`, inspection);
  }
  if (imageTypeOf(base64) === undefined) refuse("imageUndecodable", "input");
};

/** Checks the data of a file. The API accepts many media types, so only the form is checked. */
export const fileData: Check = (value, inspection) => {
  string(value, inspection);
  dataUrlOf(value as string, "fileDataInvalid", inspection);
};

export const fileUrl: Check = (value, inspection) => {
  string(value, inspection);
  checkUrl(value as string, inspection);
};

function checkUrl(url: string, inspection: Inspection): void {
  if (/^https?:\/\/./i.test(url) && URL.canParse(url)) return;
  refuse("urlInvalid", inspection.path, { path: inspection.path });
}

type DataText = "imageDataInvalid" | "fileDataInvalid";

function dataUrlOf(url: string, text: DataText, inspection: Inspection): DataUrl {
  const head = url.slice(0, MAX_HEAD_CHARACTERS);
  const comma = head.indexOf(",");
  if (!head.startsWith("data:") || comma < 0) {
    return refuseData(text, "a value without the ',' separator", inspection);
  }
  const [mediaType = "", ...parameters] = head.slice("data:".length, comma).split(";");
  if (!parameters.includes("base64")) {
    return refuseData(text, "a value without the ';base64' separator", inspection);
  }
  const base64 = url.slice(comma + 1);
  if (base64 === "") return refuseData(text, "empty base64-encoded bytes", inspection);
  if (!BASE64.test(base64)) return refuseData(text, "an invalid base64-encoded value", inspection);
  return { mediaType, base64 };
}

function refuseData(text: DataText, fault: string, inspection: Inspection): never {
  return refuse(text, inspection.path, { path: inspection.path, fault });
}
