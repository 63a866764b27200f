export {
  IMAGE_MEDIA_TYPES,
  MAX_CACHE_MARKS,
  MAX_MESSAGES,
  maxMediaFor,
  TOOL_NAME_PATTERN,
  TOOL_USE_ID_PATTERN,
} from "../request/check/limits.ts";
export { reminder } from "../request/flatten/attachment-content.ts";
export { countMessages, countOriginalMessages } from "../request/flatten/count-messages.ts";
export { FlattenedEntries } from "../request/flatten/flatten.ts";
export { readableText } from "../request/flatten/readable-text.ts";
