import type { Report } from "../report.ts";
import { at, isSet, textOf } from "../values.ts";

/** An address, or a data URL with an image. The format of the image is the API's own check. */
const IMAGE_URL = /^(?:https?:\/\/\S|data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/_-])/i;

/** Checks the address of an image. Only its beginning counts, so that a large image costs nothing. */
export function checkImageUrl(url: string, path: string, report: Report): void {
  if (IMAGE_URL.test(url)) return;
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

/** Reports a file part or image part without any of the fields that tell its content. */
export function checkSource(
  part: unknown,
  fields: readonly string[],
  path: string,
  report: Report,
  rule: "file-source" | "image-url" = "file-source",
): void {
  if (fields.some((field) => isSet(part, field))) return;
  report.add(rule, path, `${path} has no content. Add ${fields.join(" or ")}.`);
}

/** Checks the parts of a Responses message or of a tool output. */
export function checkResponsesParts(parts: readonly unknown[], path: string, report: Report): void {
  for (const [index, part] of parts.entries()) {
    const partPath = `${path}[${index}]`;
    const type = textOf(part, "type");
    if (type === "input_file") checkSource(part, ["file_data", "file_id", "file_url"], partPath, report);
    if (type !== "input_image") continue;
    checkImageSupport(partPath, report);
    checkSource(part, ["image_url", "file_id"], partPath, report, "image-url");
    const url = textOf(part, "image_url");
    if (url !== undefined) checkImageUrl(url, at(partPath, "image_url"), report);
  }
}
