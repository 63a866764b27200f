import type { Report } from "../report.ts";
import { at, isSet, textOf } from "../values.ts";

const ADDRESS = /^https?:\/\/[^\s/]/i;
/** Beginning of a data URL, up to its data. The media type is limited, so that a large image costs little. */
const DATA_URL = /^data:([^,]{0,200}),/i;
/** Base64 with white space. Two neighboring parts that both match spaces would take quadratic time. */
const BASE64 = /^[A-Za-z0-9+/\s]+(?:=\s*){0,2}$/;

/** Media type of a data URL in base64, or undefined for any other text. */
function mediaTypeOf(url: string): string | undefined {
  const [head, type] = DATA_URL.exec(url) ?? [];
  if (head === undefined || type === undefined || !/;base64$/i.test(type)) return undefined;
  return BASE64.test(url.slice(head.length)) ? type.toLowerCase() : undefined;
}

/** Checks the address of an image. Does not decode the image. */
export function checkImageUrl(url: string, path: string, report: Report): void {
  if (ADDRESS.test(url) || mediaTypeOf(url)?.startsWith("image/") === true) return;
  report.add(
    "image-url",
    path,
    `${path} is neither an http address nor a data URL with an image in base64. Send one of them.`,
  );
}

export function checkImageSupport(path: string, report: Report): void {
  if (report.options.acceptsImages !== false) return;
  report.add(
    "image-unsupported",
    path,
    `The model reads no images. Remove ${path}, or select another model.`,
  );
}

/** Reports a part without any of the fields that tell its content. */
function checkSource(part: unknown, fields: readonly string[], path: string, report: Report): void {
  if (fields.some((field) => isSet(part, field))) return;
  report.add("file-source", path, `${path} has no content. Add ${fields.join(" or ")}.`);
}

/** Checks the parts of a Responses message or of a tool output. */
export function checkResponsesParts(parts: readonly unknown[], path: string, report: Report): void {
  for (const [index, part] of parts.entries()) {
    const partPath = `${path}[${index}]`;
    const type = textOf(part, "type");
    if (type === "input_file") checkFile(part, partPath, report);
    if (type === "input_image") checkImage(part, partPath, report);
  }
}

/** Reports a file without a source, and data that are no data URL. */
export function checkFileData(file: unknown, sources: readonly string[], path: string, report: Report): void {
  checkSource(file, sources, path, report);
  const data = textOf(file, "file_data");
  if (data !== undefined && mediaTypeOf(data) === undefined)
    report.add(
      "file-source",
      at(path, "file_data"),
      `${path}.file_data is not a data URL in base64. Send one.`,
    );
}

function checkFile(part: unknown, path: string, report: Report): void {
  checkFileData(part, ["file_data", "file_id", "file_url"], path, report);
  const url = textOf(part, "file_url");
  if (url !== undefined && !ADDRESS.test(url))
    report.add("file-source", at(path, "file_url"), `${path}.file_url is not an http address. Send one.`);
}

function checkImage(part: unknown, path: string, report: Report): void {
  checkImageSupport(path, report);
  if (isSet(part, "image_url") === isSet(part, "file_id"))
    report.add("image-url", path, `${path} needs exactly one of image_url and file_id. Send one of them.`);
  const url = textOf(part, "image_url");
  if (url !== undefined) checkImageUrl(url, at(path, "image_url"), report);
}
