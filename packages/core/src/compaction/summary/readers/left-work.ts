import { headOf } from "../../../messages/text.ts";
import { oneLine } from "../clip.ts";
import { commandsIn, type Exchange, isRequest } from "./exchanges.ts";
import { isNamedTestSeenToPass } from "./named-tests.ts";
import { Happenings, isSameWork } from "./open-items.ts";
import { isOnlyCheer } from "./prose.ts";
import { readReport } from "./reports.ts";
import { agrees, approves, isContinuation } from "./said-words.ts";
import { contentWords, shareIn } from "./topic-words.ts";

/** Reads open work that neither a to-do list nor a failed command shows. */

/** Work that the agent left undone at the end of a report. */
export interface LeftWork {
  readonly text: string;
  /** Position of the report. */
  readonly at: number;
  /** User's last request before the report. Absent if no newer request followed the report. */
  readonly request: string | undefined;
}

const MAX_LEFT = 6;
/** Share of an item's words in a request that takes the item up. */
const TAKEN_UP_SHARE = 0.5;

/**
 * Returns the work that the agent named as undone in its reports and that nobody finished, cancelled or took
 * up since. Oldest first.
 */
export function leftWork(exchanges: readonly Exchange[]): readonly LeftWork[] {
  const named = exchanges.flatMap(leftIn);
  if (named.length === 0) return [];
  const happenings = new Happenings(exchanges);
  const left = named.filter(({ text, at, request }) => {
    const fate = happenings.fateOf(text, at, { isPlan: true, isLeft: request !== undefined });
    return fate !== "done" && fate !== "cancelled";
  });
  return left
    .filter((item, nth) => !left.slice(nth + 1).some((next) => isSameWork(item.text, next.text)))
    .slice(-MAX_LEFT);
}

/** Returns the work that the report of this exchange left and that no later request takes up. */
function leftIn(exchange: Exchange, nth: number, exchanges: readonly Exchange[]): readonly LeftWork[] {
  const closing = closingText(exchange);
  const { left } = closing === undefined ? { left: [] } : readReport(closing.text);
  if (closing === undefined || left.length === 0) return [];
  const later = exchanges.slice(nth + 1);
  const request = later.some(isRequest) ? (requestOf(exchange)[0] ?? "") : undefined;
  return left
    .flatMap((text) => notTakenUp(text, true, later) ?? [])
    .map((text) => ({ text: oneLine(text), at: closing.at, request }));
}

const SCANNED_CHARS = 4_000;

/** Returns true if a request asks for the work. The request tracks it from then on. */
const isAbout = (request: string, work: string): boolean =>
  shareIn(contentWords(work), contentWords(headOf(request, SCANNED_CHARS))) >= TAKEN_UP_SHARE;

/**
 * Returns the part of the work that a report before the exchanges left and that the user did not take up since.
 * Returns undefined if the user took up everything. `isNewest`: no request followed the report so far.
 */
export function notTakenUp(
  work: string,
  isNewest: boolean,
  exchanges: readonly Exchange[],
): string | undefined {
  const requests = exchanges.flatMap((next) => (isRequest(next) ? requestOf(next) : []));
  if (isNewest && requests[0] !== undefined && takesUpAll(requests[0])) return undefined;
  if (requests.some((request) => isAbout(request, work))) return undefined;
  const parts = listedIn(work);
  const open = parts.filter((part) => !requests.some((request) => names(request, part)));
  if (open.length === parts.length) return work;
  return open.length === 0 ? undefined : open.join(", ");
}

/** Returns true if a request has every word of a listed thing. */
const names = (request: string, thing: string): boolean =>
  shareIn(contentWords(thing), contentWords(headOf(request, SCANNED_CHARS))) === 1;

/** Maximum length of a thing in a list such as "the labels, the prices, the pictures". */
const MAX_LISTED_CHARS = 40;

/** Returns the things that a line of work lists. A longer part is a clause and not a thing. */
function listedIn(work: string): readonly string[] {
  const parts = work.split(/, (?:and )?/);
  return parts.every((part) => part.length <= MAX_LISTED_CHARS && contentWords(part).size > 0)
    ? parts
    : [work];
}

const requestOf = ({ message }: Exchange): readonly string[] => (message === undefined ? [] : [message.text]);

/** Returns the text that closes the work on a request. Work that follows a text shows that it closes nothing. */
function closingText({ texts, actions }: Exchange): Exchange["texts"][number] | undefined {
  const last = texts.findLast(({ text }) => !isOnlyCheer(text));
  const isFollowed = last !== undefined && actions.some(({ at, kind }) => kind !== "read" && at >= last.at);
  return isFollowed ? undefined : last;
}

/** A request such as "fix the rest" or "2 and 3", which points to the list before it. */
const POINTS_TO_LIST =
  /\b(?:rest|remaining|others?|all of (?:them|it)|them(?: all)?|list|follow-?ups?|todos?)\b|(?:^|\s)#?\d{1,2}(?=[\s,.)]|$)/i;
/** A longer request states its own subject. */
const POINTING_CHARS = 200;

/** Returns true if the user's next request continues the work that the report left. */
const takesUpAll = (request: string): boolean =>
  isContinuation(request) ||
  (agrees(request) && !approves(request)) ||
  (request.length <= POINTING_CHARS && POINTS_TO_LIST.test(request));

/** Failed tests in the output that a user pasted, of Go, pytest, and jest or vitest. */
const PASTED_FAILURE = /^[ \t]{0,8}(?:--- FAIL: (\w+)|FAILED [^\s:]{1,200}::(\w+)|=== NAME {1,3}(\w+))/gm;
/** A shorter name is an ordinary word. */
const LOOKS_LIKE_TEST = /^(?=.{8,}).*(?:_|\p{Ll}\p{Lu})/u;
const PASTED_CHARS = 20_000;
const MAX_FAILURES = 3;

/** Returns the names of the failed tests that the user pasted and that no later run was seen to pass. */
export function failuresOfUser(exchanges: readonly Exchange[]): readonly string[] {
  const runs = exchanges.flatMap(commandsIn);
  const names = exchanges.flatMap(({ message }) => {
    if (message?.kind !== "request") return [];
    const found = [...headOf(message.text, PASTED_CHARS).matchAll(PASTED_FAILURE)].map(
      (match) => match.slice(1).find(Boolean) ?? "",
    );
    const failed = found.filter((name) => LOOKS_LIKE_TEST.test(name));
    return failed.filter((name) => !isNamedTestSeenToPass(`failed: ${name}`, runs, message.at));
  });
  return [...new Set(names)].slice(-MAX_FAILURES);
}
