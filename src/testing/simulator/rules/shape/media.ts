import { IMAGE_MEDIA_TYPES } from "../../../../conversation/check/limits.ts";
import {
  boolean,
  type Check,
  filledString,
  list,
  nullable,
  object,
  oneOf,
  record,
  required,
  string,
  stringOr,
  tagged,
} from "./checks.ts";

const type = string;

export const cacheControl: Check = nullable(
  object({ type: required(oneOf("ephemeral")), ttl: oneOf("5m", "1h") }),
);

export const citationsConfig: Check = nullable(object({ enabled: boolean }));

const urlSource = object({ type, url: required(string) });
const fileSource = object({ type, file_id: required(string) });

const imageSource = tagged({
  base64: object({
    type,
    data: required(filledString),
    media_type: required(oneOf(...IMAGE_MEDIA_TYPES)),
  }),
  url: urlSource,
  file: fileSource,
});

export const imageBlock: Check = object({
  type,
  source: required(imageSource),
  transformations: nullable(object({ oversized_image: oneOf("downsize", "error") })),
  cache_control: cacheControl,
});

export const textBlock: Check = object({
  type,
  text: required(string),
  citations: nullable(list(record)),
  cache_control: cacheControl,
});

const documentSource = tagged({
  base64: object({
    type,
    data: required(filledString),
    media_type: required(oneOf("application/pdf")),
  }),
  text: object({ type, data: required(string), media_type: required(oneOf("text/plain")) }),
  content: object({
    type,
    content: required(stringOr(list(tagged({ text: textBlock, image: imageBlock })))),
  }),
  url: urlSource,
  file: fileSource,
});

export const documentBlock: Check = object({
  type,
  source: required(documentSource),
  title: nullable(string),
  context: nullable(string),
  citations: citationsConfig,
  cache_control: cacheControl,
});
