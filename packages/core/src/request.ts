export { type CheckedRequest, checkRequest } from "./request/check/check.ts";
export { MAX_MEDIA, MAX_MEDIA_SMALL_WINDOW, MAX_REQUEST_BYTES } from "./request/check/limits.ts";
export type { CheckOptions, Finding, RepairAction, RuleName } from "./request/check/rule.ts";
export { attachmentContent, sentContent } from "./request/flatten/attachment-content.ts";
export {
  type FlattenedConversation,
  type FlattenOptions,
  flatten,
  flattenChecked,
} from "./request/flatten/flatten.ts";
