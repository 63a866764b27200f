/** Bytes of a whole request body. Counted in millions: the smaller reading of "32 MB" is never refused. */
export const MAX_REQUEST_BYTES = 32_000_000;

/** Images and documents in one request on models with a large window. */
export const MAX_MEDIA = 600;

/** Images and documents in one request on models with a 200,000-token window; pass it as `maxMedia`. */
export const MAX_MEDIA_SMALL_WINDOW = 100;

const SMALL_WINDOW_TOKENS = 200_000;

/** Images and documents that a model with this window takes in one request. */
export const maxMediaFor = (windowTokens: number): number =>
  windowTokens <= SMALL_WINDOW_TOKENS ? MAX_MEDIA_SMALL_WINDOW : MAX_MEDIA;

/** Messages in one request; the API refuses more. */
export const MAX_MESSAGES = 100_000;

/** Cache marks over tools, system, messages, blocks inside tool results, and the automatic one. */
export const MAX_CACHE_MARKS = 4;

/** What the API takes as the id of a tool use. */
export const TOOL_USE_ID_PATTERN: RegExp = /^[a-zA-Z0-9_-]+$/;

/** What the API takes as a tool's name; it documents 64 characters and accepts 128. */
export const TOOL_NAME_PATTERN: RegExp = /^[a-zA-Z0-9_-]{1,128}$/;
export const MAX_TOOL_NAME_LENGTH = 128;

export const IMAGE_MEDIA_TYPES: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
]);
/** As data; plain text is sent as a source of type `text`. */
export const DOCUMENT_MEDIA_TYPES: ReadonlySet<string> = new Set(["application/pdf"]);

/** From this version on a model refuses a conversation that ends with the beginning of its own answer. */
export const FIRST_VERSION_WITHOUT_PREFILL: { readonly major: number; readonly minor: number } = {
  major: 4,
  minor: 6,
};

/** From this version on a model takes messages of the role `system` inside the conversation. */
export const FIRST_VERSION_WITH_SYSTEM_MESSAGES: { readonly major: number; readonly minor: number } = {
  major: 4,
  minor: 8,
};
