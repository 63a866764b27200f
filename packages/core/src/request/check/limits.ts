/**
 * Maximum bytes of a request body. "32 MB" can mean 32 million bytes or slightly more. This is the smaller
 * number, which the API never refuses.
 */
export const MAX_REQUEST_BYTES = 32_000_000;

/** Maximum number of images and documents in one request, for models with a large window. */
export const MAX_MEDIA = 600;

/** Maximum number of images and documents for models with a 200,000-token window. Pass it as `maxMedia`. */
export const MAX_MEDIA_SMALL_WINDOW = 100;

/** Maximum length of the base64 data of one image. The API calls it 10 MB. */
export const MAX_IMAGE_BYTES = 10_485_760;

/** Maximum pixels of each side of an image. */
export const MAX_IMAGE_SIDE = 8_000;

const SMALL_WINDOW_TOKENS = 200_000;

/** Returns the maximum number of images and documents in one request for a model with this window. */
export const maxMediaFor = (windowTokens: number): number =>
  windowTokens <= SMALL_WINDOW_TOKENS ? MAX_MEDIA_SMALL_WINDOW : MAX_MEDIA;

/** Maximum number of messages in one request. */
export const MAX_MESSAGES = 100_000;

/**
 * Maximum number of cache marks in a request. The marks of tools, the system prompt, messages and blocks
 * inside tool results count, and so does the automatic mark.
 */
export const MAX_CACHE_MARKS = 4;

/** Valid tool use ids. */
export const TOOL_USE_ID_PATTERN: RegExp = /^[a-zA-Z0-9_-]+$/;

/** Valid tool names. The API documents 64 characters but accepts 128. */
export const TOOL_NAME_PATTERN: RegExp = /^[a-zA-Z0-9_-]{1,128}$/;
export const MAX_TOOL_NAME_LENGTH = 128;

export const IMAGE_MEDIA_TYPES: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
]);
/** Media types for base64 data. Plain text is sent as a source of type `text`. */
export const DOCUMENT_MEDIA_TYPES: ReadonlySet<string> = new Set(["application/pdf"]);

/** First version whose models refuse a conversation that ends with a prefilled answer. */
export const FIRST_VERSION_WITHOUT_PREFILL: { readonly major: number; readonly minor: number } = {
  major: 4,
  minor: 6,
};

/** First version whose models accept messages with the role `system` inside the conversation. */
export const FIRST_VERSION_WITH_SYSTEM_MESSAGES: { readonly major: number; readonly minor: number } = {
  major: 4,
  minor: 8,
};
