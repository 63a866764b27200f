import { headOf } from "../messages/text.ts";
import { isRecord } from "../messages/untrusted.ts";
import type { ModelRequest } from "./port.ts";

/** More is not read by anybody; some proxies answer with whole pages. */
const LONGEST_WORDS = 400;
/** No more is looked at: what is hidden makes it shorter, but hardly by so much. */
const LONGEST_READ = 2_000;
/** As much of the conversation in a row is no coincidence. */
const SHORTEST_ECHO = 24;
/** Looked up at every such step of the conversation, so that every echo holds at least one whole piece. */
const PIECE = SHORTEST_ECHO / 2;
/** A whole text of the conversation is looked for from this length on: shorter ones are everybody's words. */
const SHORTEST_TEXT = 8;
const HIDDEN = "[…]";

/**
 * Words of a provider about a failure, fit for a message that people log and send on: without keys, without
 * what it quotes of the conversation, in one line, and not longer than anybody reads.
 */
export function fitToShow(said: string, request?: ModelRequest, secrets: readonly string[] = []): string {
  const text = withoutKeys(withoutEchoes(said.slice(0, LONGEST_READ), request), secrets)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return text.length <= LONGEST_WORDS ? text : `${headOf(text, LONGEST_WORDS).trimEnd()} …`;
}

/** By their usual beginnings, or by what stands before them. */
const KEYS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|xai|gsk|csk|pplx|nvapi|hf|r8|fw|tgp)[-_][\w*.-]{8,}/g,
  /\bAIza[\w-]{20,}/g,
  /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g,
  /(?<=\bbearer\s+)[^\s"'`]{8,}/gi,
  /(?<=\b(?:api|auth|access)[ _-]?(?:key|token)\b[^:=\n]{0,20}[:=]\s*["'`]?)[^\s"'`]{8,}/gi,
];

function withoutKeys(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= SHORTEST_TEXT) clean = clean.replaceAll(secret, HIDDEN);
  for (const key of KEYS) clean = clean.replace(key, HIDDEN);
  return clean;
}

function withoutEchoes(said: string, request: ModelRequest | undefined): string {
  if (request === undefined || said.length < SHORTEST_TEXT) return said;
  const isEcho = new Uint8Array(said.length);
  const pieces = piecesOf(said);
  for (const text of textsIn([request.system, request.messages])) {
    if (text.length >= SHORTEST_ECHO) markEchoes(said, text, pieces, isEcho);
    else if (text.trim().length >= SHORTEST_TEXT) markWhole(said, text, isEcho);
  }
  return withoutMarked(said, isEcho);
}

function piecesOf(said: string): ReadonlyMap<string, readonly number[]> {
  const pieces = new Map<string, number[]>();
  for (let at = 0; at + PIECE <= said.length; at += 1) {
    const piece = said.slice(at, at + PIECE);
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
  for (let at = 0; at + PIECE <= text.length; at += PIECE) {
    for (const place of pieces.get(text.slice(at, at + PIECE)) ?? []) {
      if (isEcho[place] === 1 && isEcho[place + PIECE - 1] === 1) continue;
      let before = 0;
      while (before < Math.min(at, place) && text[at - before - 1] === said[place - before - 1]) before += 1;
      let after = PIECE;
      while (place + after < said.length && text[at + after] === said[place + after]) after += 1;
      if (before + after >= SHORTEST_ECHO) isEcho.fill(1, place - before, place + after);
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

/** Names and ids are what an error has to name. */
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
