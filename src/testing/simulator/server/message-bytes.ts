/** Where the messages of a body stand in its bytes. */
export interface MessageBytes {
  /** Behind the bracket that opens the list. */
  readonly start: number;
  /** Behind each message. */
  readonly ends: readonly number[];
  /** The bracket that closes the list. */
  readonly close: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const KEY = Buffer.from('"messages"');

/**
 * Looks for the list of messages in a body that is known to be JSON. Undefined when there is none, when the
 * key stands there twice, or when a key is written with escapes, so that it could be that key in disguise.
 */
export function findMessages(content: Buffer): MessageBytes | undefined {
  let found: MessageBytes | undefined;
  let at = skipBlanks(content, 0);
  if (content[at] !== OPEN_BRACE) return undefined;
  at = skipBlanks(content, at + 1);
  while (content[at] === QUOTE) {
    const keyEnd = skipString(content, at);
    const key = content.subarray(at, keyEnd);
    if (key.includes(BACKSLASH)) return undefined;
    at = skipBlanks(content, keyEnd);
    if (content[at] !== COLON) return undefined;
    at = skipBlanks(content, at + 1);
    if (key.equals(KEY)) {
      if (found !== undefined || content[at] !== OPEN_BRACKET) return undefined;
      const items = scanItems(content, at + 1);
      if (items === undefined) return undefined;
      found = { start: at + 1, ...items };
    }
    at = skipBlanks(
      content,
      found !== undefined && at < found.close ? found.close + 1 : skipValue(content, at),
    );
    if (content[at] !== COMMA) break;
    at = skipBlanks(content, at + 1);
  }
  return found;
}

/** The items of a list from a place behind its bracket, or behind one of its items. Undefined if it never closes. */
export function scanItems(content: Buffer, from: number): Pick<MessageBytes, "ends" | "close"> | undefined {
  const ends: number[] = [];
  let at = skipBlanks(content, from);
  while (at < content.length && content[at] !== CLOSE_BRACKET) {
    if (content[at] === COMMA) at = skipBlanks(content, at + 1);
    const end = skipValue(content, at);
    if (end <= at || end > content.length) return undefined;
    ends.push(end);
    at = skipBlanks(content, end);
  }
  return at < content.length ? { ends, close: at } : undefined;
}

function skipBlanks(content: Buffer, from: number): number {
  let at = from;
  while (isBlank(content[at])) at++;
  return at;
}

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Behind the value that begins here; behind everything when it never ends. */
function skipValue(content: Buffer, from: number): number {
  const first = content[from];
  if (first === QUOTE) return skipString(content, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(content, from);
  let at = from;
  while (at < content.length && !isEndOfPlain(content[at])) at++;
  return at;
}

const isEndOfPlain = (byte: number | undefined): boolean =>
  byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE || isBlank(byte);

function skipNested(content: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < content.length) {
    const byte = content[at];
    if (byte === QUOTE) {
      at = skipString(content, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    at++;
    if (depth === 0) return at;
  }
  return content.length + 1;
}

/** Most of a body is inside strings, so the search for their ends is left to the machine. */
function skipString(content: Buffer, from: number): number {
  for (let quote = content.indexOf(QUOTE, from + 1); quote >= 0; quote = content.indexOf(QUOTE, quote + 1)) {
    let slashes = 0;
    while (content[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return content.length + 1;
}
