import { headOf } from "../messages/text.ts";
import { isRecord } from "../messages/untrusted.ts";
import type { ModelRequest } from "./port.ts";

/**
 * Maximum length of a displayed error text. Nobody reads more, and some proxies answer with whole HTML pages.
 */
const MAX_SHOWN_CHARACTERS = 400;
/**
 * Maximum length of the text that is searched for keys and for echoes, which are quotes of the conversation.
 * Longer texts are cut first. Enough text for the display usually remains after echoes and keys are hidden.
 */
const MAX_READ_CHARACTERS = 2_000;
/**
 * Minimum length of an echo, which is text of the conversation that an error repeats. A match of this length
 * is not a coincidence.
 */
const MIN_ECHO_CHARACTERS = 24;
/** Length of the pieces that the search compares. Each echo contains at least one whole piece. */
const PIECE_CHARACTERS = MIN_ECHO_CHARACTERS / 2;
/**
 * Minimum length of a hidden text. Shorter texts of the conversation are common words and not worth hiding.
 */
const MIN_TEXT_CHARACTERS = 8;
const HIDDEN = "[…]";

/**
 * Prepares a provider's error message for display and logs: one short line without keys and without quotes
 * from the conversation.
 */
export function sanitizeErrorText(
  said: string,
  request?: ModelRequest,
  secrets: readonly string[] = [],
): string {
  const text = withoutKeys(withoutEchoes(said.slice(0, MAX_READ_CHARACTERS), request), secrets)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${headOf(text, MAX_SHOWN_CHARACTERS).trimEnd()} …`;
}

/** Patterns that recognize keys by their usual prefixes, or by the words before them. */
const KEYS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|xai|gsk|csk|pplx|nvapi|hf|r8|fw|tgp)[-_][\w*.-]{8,}/g,
  /\bAIza[\w-]{20,}/g,
  /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g,
  /(?<=\bbearer\s+)[^\s"'`]{8,}/gi,
  /(?<=\b(?:api|auth|access)[ _-]?(?:key|token)\b[^:=\n]{0,20}[:=]\s*["'`]?)[^\s"'`]{8,}/gi,
];

function withoutKeys(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets)
    if (secret.length >= MIN_TEXT_CHARACTERS) clean = clean.replaceAll(secret, HIDDEN);
  for (const key of KEYS) clean = clean.replace(key, HIDDEN);
  return clean;
}

function withoutEchoes(said: string, request: ModelRequest | undefined): string {
  if (request === undefined || said.length < MIN_TEXT_CHARACTERS) return said;
  const isEcho = new Uint8Array(said.length);
  const pieces = piecesOf(said);
  for (const text of textsIn([request.system, request.messages])) {
    if (text.length >= MIN_ECHO_CHARACTERS) markEchoes(said, text, pieces, isEcho);
    else if (text.trim().length >= MIN_TEXT_CHARACTERS) markWhole(said, text, isEcho);
  }
  return withoutMarked(said, isEcho);
}

function piecesOf(said: string): ReadonlyMap<string, readonly number[]> {
  const pieces = new Map<string, number[]>();
  for (let at = 0; at + PIECE_CHARACTERS <= said.length; at += 1) {
    const piece = said.slice(at, at + PIECE_CHARACTERS);
    const places = pieces.get(piece);
    if (places === undefined) pieces.set(piece, [at]);
    else places.push(at);
  }
  return pieces;
}

function markEchoes(
  said: string,
  text: string,
  pieces: ReadonlyMap<string, readonly number[]>,
  isEcho: Uint8Array,
): void {
  for (let at = 0; at + PIECE_CHARACTERS <= text.length; at += PIECE_CHARACTERS) {
    for (const place of pieces.get(text.slice(at, at + PIECE_CHARACTERS)) ?? []) {
      if (isEcho[place] === 1 && isEcho[place + PIECE_CHARACTERS - 1] === 1) continue;
      let before = 0;
      while (before < Math.min(at, place) && text[at - before - 1] === said[place - before - 1]) before += 1;
      let after = PIECE_CHARACTERS;
      while (place + after < said.length && text[at + after] === said[place + after]) after += 1;
      if (before + after >= MIN_ECHO_CHARACTERS) isEcho.fill(1, place - before, place + after);
    }
  }
}

function markWhole(said: string, text: string, isEcho: Uint8Array): void {
  for (let at = said.indexOf(text); at >= 0; at = said.indexOf(text, at + 1)) {
    isEcho.fill(1, at, at + text.length);
  }
}

function withoutMarked(said: string, isEcho: Uint8Array): string {
  let kept = "";
  for (let at = 0; at < said.length; at += 1) {
    if (isEcho[at] === 0) kept += said[at];
    else if (at === 0 || isEcho[at - 1] === 0) kept += HIDDEN;
  }
  return kept;
}

/** Fields with ids and names, which an error message may contain. */
const NOT_CONTENT: ReadonlySet<string> = new Set([
  "type",
  "role",
  "id",
  "tool_use_id",
  "name",
  "media_type",
  "signature",
  "cache_control",
]);

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isRecord(value)) {
    for (const [name, inner] of Object.entries(value)) if (!NOT_CONTENT.has(name)) yield* textsIn(inner);
  }
}
