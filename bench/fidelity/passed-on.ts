import { field, isSummaryEntry } from "@longhaul/core/internal/messages";
import type { ContentBlock, Entry } from "@longhaul/core/messages";
import type { SourceMessage, SourcePart } from "./source-messages.ts";

/**
 * Finds out what a library passed on for summarization. A library selects messages, truncates results and
 * writes everything into the text of its own prompt. This code locates the texts of the conversation in that
 * prompt, and returns the conversation with only these texts.
 */

/** A text of the conversation, or a line of it, with its place in the conversation. */
interface Snippet {
  readonly part: SourcePart;
  /** Name of an argument, or number of a text inside a result. */
  readonly slot: string | number;
  readonly text: string;
}

/** A found snippet: a slice of the snippet, and its place in the prompt. */
interface Match {
  readonly snippet: number;
  readonly start: number;
  readonly end: number;
  readonly slice: string;
}

/** Length from which a text is distinctive enough to be located without its neighbors. */
const DISTINCTIVE_CHARS = 24;
/** Length of the start or end of a text by which a truncated text is recognized. */
const ANCHOR_CHARS = 48;
/** Places at which the same text is considered. A longer list of equal texts is rare. */
const MAX_PLACES = 12;
/** Distance to a neighbor at which a short text counts as found. Labels and ids are shorter. */
const NEAR_CHARS = 200;

/**
 * Returns the entries with only what the prompt contains. `earlier` has the summaries that were written
 * before. They become summary entries, however the library wraps them.
 */
export function passedOn(
  prompt: string,
  messages: readonly SourceMessage[],
  earlier: readonly string[],
): readonly Entry[] {
  const summaries = locateSummaries(prompt, earlier);
  const rest = without(prompt, summaries);
  const texts = messages.flatMap(({ parts }) => parts.flatMap(snippetsOf));
  const snippets = texts.flatMap((snippet) => (rest.includes(snippet.text) ? [snippet] : linesOf(snippet)));
  const seen = new Map<ContentBlock, Map<string | number, string>>();
  for (const { snippet, slice } of locate(rest, snippets)) {
    const { part, slot } = snippets[snippet] as Snippet;
    const slots = seen.get(part.block) ?? new Map<string | number, string>();
    const before = slots.get(slot);
    seen.set(part.block, slots.set(slot, before === undefined ? slice : before + lineBreakIn(part) + slice));
  }
  return [...summaries.map(summaryEntry), ...messages.flatMap((message) => visibleEntries(message, seen))];
}

function snippetsOf(part: SourcePart): readonly Snippet[] {
  const { block, entry } = part;
  if (isSummaryEntry(entry)) return [];
  const snippet = (text: string, slot: string | number): Snippet => ({ part, slot, text });
  if (block.type === "text") return [snippet(block.text, 0)];
  if (block.type === "tool_use") {
    return Object.entries(block.input ?? {}).map(([name, value]) => snippet(escaped(value), name));
  }
  if (block.type !== "tool_result") return [];
  if (typeof block.content === "string") return [snippet(block.content, 0)];
  const blocks: readonly ContentBlock[] = Array.isArray(block.content) ? block.content : [];
  return blocks.flatMap((nested, at) => (nested.type === "text" ? [snippet(nested.text, at)] : []));
}

/** Splits a text that the prompt does not contain as a whole: it is truncated, or changed in places. */
const linesOf = (snippet: Snippet): readonly Snippet[] =>
  snippet.text.split(lineBreakIn(snippet.part)).map((text) => ({ ...snippet, text }));

/** Returns the line break of a block's texts. Prompts contain arguments as JSON. */
const lineBreakIn = ({ block }: SourcePart): string => (block.type === "tool_use" ? "\\n" : "\n");

/** Returns a value as prompts write arguments: as JSON, without the quotes around a text. */
function escaped(value: unknown): string {
  const json = JSON.stringify(value) ?? "";
  return typeof value === "string" ? json.slice(1, -1) : json;
}

/** Finds the snippets in the prompt. The found places have the order of the snippets and do not overlap. */
function locate(prompt: string, snippets: readonly Snippet[]): readonly Match[] {
  const candidates = snippets.flatMap(({ text }, snippet) =>
    text.trim().length < DISTINCTIVE_CHARS ? [] : placesOf(text, snippet, prompt),
  );
  const long = heaviestChain(candidates);
  const matches: Match[] = [];
  let next = 0;
  let cursor = 0;
  for (const [index, { text }] of snippets.entries()) {
    const known = long[next];
    if (known?.snippet === index) {
      matches.push(known);
      cursor = known.end;
      next++;
    } else if (text.trim() !== "" && text.trim().length < DISTINCTIVE_CHARS) {
      const start = nearby(text, prompt, cursor, known?.start ?? prompt.length);
      if (start === undefined) continue;
      matches.push({ snippet: index, start, end: start + text.length, slice: text });
      cursor = start + text.length;
    }
  }
  return matches;
}

/** Returns the place of a short text soon after the found text before it, or soon before the one after it. */
function nearby(text: string, prompt: string, from: number, to: number): number | undefined {
  const first = prompt.slice(from, Math.min(to, from + NEAR_CHARS)).indexOf(text);
  if (first !== -1) return from + first;
  const back = Math.max(from, to - NEAR_CHARS);
  const last = prompt.slice(back, to).lastIndexOf(text);
  return last === -1 ? undefined : back + last;
}

/** Returns the places of a text. If the prompt does not contain the whole text: of its start and its end. */
function placesOf(text: string, snippet: number, prompt: string): readonly Match[] {
  const whole = startsOf(text, prompt).map((start) => ({
    ...{ snippet, start, end: start + text.length },
    slice: text,
  }));
  if (whole.length > 0) return whole;
  const head = text.slice(0, ANCHOR_CHARS);
  const tail = text.slice(-ANCHOR_CHARS);
  const heads = startsOf(head, prompt).map((start): Match => {
    let length = head.length;
    while (length < text.length && prompt[start + length] === text[length]) length++;
    return { snippet, start, end: start + length, slice: text.slice(0, length) };
  });
  const tails = startsOf(tail, prompt).map((found): Match => {
    const end = found + tail.length;
    let length = tail.length;
    while (length < text.length && prompt[end - length - 1] === text[text.length - length - 1]) length++;
    return { snippet, start: end - length, end, slice: text.slice(-length) };
  });
  return [...heads, ...tails];
}

function startsOf(text: string, prompt: string): readonly number[] {
  const starts: number[] = [];
  for (let at = prompt.indexOf(text); at !== -1 && starts.length < MAX_PLACES; ) {
    starts.push(at);
    at = prompt.indexOf(text, at + text.length);
  }
  return starts;
}

/** Returns the chain of matches in order that covers most of the prompt. */
function heaviestChain(matches: readonly Match[]): readonly Match[] {
  const weights: number[] = [];
  const before: (number | undefined)[] = [];
  let best: number | undefined;
  for (const [at, match] of matches.entries()) {
    let heaviest: number | undefined;
    for (let earlier = 0; earlier < at; earlier++) {
      const other = matches[earlier] as Match;
      if (other.snippet === match.snippet || other.end > match.start) continue;
      if (heaviest === undefined || (weights[earlier] ?? 0) > (weights[heaviest] ?? 0)) heaviest = earlier;
    }
    before.push(heaviest);
    weights.push((heaviest === undefined ? 0 : (weights[heaviest] ?? 0)) + match.slice.length);
    if (best === undefined || (weights[at] ?? 0) > (weights[best] ?? 0)) best = at;
  }
  const chain: Match[] = [];
  for (let at = best; at !== undefined; at = before[at]) chain.push(matches[at] as Match);
  return chain.reverse();
}

/**
 * Finds the earlier summaries that the prompt contains completely or in part. Summaries that follow each other
 * have much text in common, so a place belongs to the summary that covers most of it.
 */
function locateSummaries(prompt: string, earlier: readonly string[]): readonly Match[] {
  const found = earlier.flatMap((text, index) => placesOf(text, index, prompt));
  const chosen: Match[] = [];
  for (const match of found.toSorted((one, other) => other.slice.length - one.slice.length)) {
    const isTaken = chosen.some(
      ({ snippet, start, end }) => snippet === match.snippet || (start < match.end && match.start < end),
    );
    if (!isTaken) chosen.push(match);
  }
  return chosen.toSorted((one, other) => one.start - other.start);
}

/** Replaces the places in the prompt, so that no text of the conversation is found in them. */
function without(prompt: string, places: readonly Match[]): string {
  return places.reduce(
    (text, { start, end }) => text.slice(0, start) + "\0".repeat(end - start) + text.slice(end),
    prompt,
  );
}

const summaryEntry = ({ snippet, slice }: Match): Entry => ({
  ...{ type: "user", uuid: `earlier-${snippet}`, parentUuid: null, isCompactSummary: true },
  timestamp: "1970-01-01T00:00:00.000Z",
  message: { role: "user", content: slice },
});

type Seen = ReadonlyMap<ContentBlock, ReadonlyMap<string | number, string>>;

/** Returns the entries of a message, with only the content that was found. */
function visibleEntries({ parts }: SourceMessage, seen: Seen): readonly Entry[] {
  const isAnySeen = parts.some(({ block }) => seen.has(block));
  const byEntry = new Map<Entry, ContentBlock[]>();
  for (const { entry, block } of parts) {
    const visible = visibleBlock(block, seen.get(block), isAnySeen && !isSummaryEntry(entry));
    if (visible !== undefined) byEntry.set(entry, [...(byEntry.get(entry) ?? []), visible]);
  }
  return [...byEntry].map(([entry, content]) => cleanEntry(entry, content));
}

/** A call without arguments, or an empty result, is visible if its message is. */
function visibleBlock(
  block: ContentBlock,
  slots: ReadonlyMap<string | number, string> | undefined,
  isMessageSeen: boolean,
): ContentBlock | undefined {
  if (block.type === "text") return slots === undefined ? undefined : { ...block, text: slots.get(0) ?? "" };
  if (block.type === "tool_use") {
    const names = Object.keys(block.input ?? {});
    if (slots === undefined && !(names.length === 0 && isMessageSeen)) return undefined;
    const input = names.flatMap((name) => {
      const slice = slots?.get(name);
      return slice === undefined ? [] : [[name, argumentFrom(slice, field(block.input, name))] as const];
    });
    return { ...block, input: Object.fromEntries(input) };
  }
  if (block.type !== "tool_result") return undefined;
  const isEmpty = block.content === undefined || block.content.length === 0;
  if (slots === undefined) return isEmpty && isMessageSeen ? block : undefined;
  return { ...block, content: [...slots.values()].join("\n") };
}

/** Length of the longest escape sequence in JSON, which a truncation can split. */
const MAX_ESCAPE_CHARS = 6;

function argumentFrom(slice: string, value: unknown): unknown {
  if (slice === escaped(value)) return value;
  for (let cut = 0; cut <= MAX_ESCAPE_CHARS; cut++) {
    for (const text of [slice.slice(0, slice.length - cut), slice.slice(cut)]) {
      try {
        return JSON.parse(`"${text}"`);
      } catch {}
    }
  }
  return slice;
}

/** Returns the entry without fields that repeat its content, such as the untruncated result. */
function cleanEntry(entry: Entry, content: readonly ContentBlock[]): Entry {
  if (entry.type === "attachment") return entry;
  const { uuid, parentUuid, timestamp, cwd, isMeta } = entry as Extract<Entry, { type: "user" }>;
  const link = {
    ...{ uuid, parentUuid, timestamp },
    ...(cwd === undefined ? {} : { cwd }),
    ...(isMeta === undefined ? {} : { isMeta }),
  };
  if (entry.type !== "assistant" || !("message" in entry)) {
    return { ...link, type: "user", message: { role: "user", content } };
  }
  const { id } = (entry as Extract<Entry, { type: "assistant" }>).message;
  return {
    ...link,
    type: "assistant",
    message: { role: "assistant", content, ...(id === undefined ? {} : { id }) },
  };
}
