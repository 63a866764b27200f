import { headOf } from "../../../conversation/text.ts";
import { clip, oneLine, quoted } from "../../../summary/clip.ts";
import {
  type Exchange,
  earlierItems,
  lastLongerRequest,
  NEEDS_CONTEXT_CHARS,
  parseMessageItem,
  type SessionDigest,
  saysLittle,
} from "../../../summary/readers/readers.ts";
import type { News } from "../news.ts";
import { behindLabel, CARRIES_ON, LATEST_REQUEST } from "../state-lines.ts";
import { replyContext } from "./context.ts";

const MAX_REQUEST_CHARS = 500;
const MAX_CONTEXT_CHARS = 300;

export function requestText(exchange: Exchange, news: News): string {
  const text = exchange.message?.text ?? "";
  const context = replyContext(text, news.digest.exchanges.indexOf(exchange), news, MAX_CONTEXT_CHARS);
  return `${inShort(text)}${context}`;
}

/** "Continue" or "yes" carries on with what was asked before it. */
export function carriedOn({ message }: Exchange, { digest, before }: News): string | undefined {
  if (!saysLittle(message?.text ?? "")) return undefined;
  const longer = lastLongerRequest(digest.exchanges);
  if (longer !== undefined) return inShort(longer);
  const last = behindLabel(before.items, LATEST_REQUEST) ?? requestBefore(digest);
  const saysMore = last !== undefined && last.length > NEEDS_CONTEXT_CHARS;
  return saysMore ? last : behindLabel(before.items, CARRIES_ON);
}

/** The newest message that a summary in front of the new entries tells of. */
export function requestBefore({ earlier }: SessionDigest): string | undefined {
  const last = earlierItems(earlier, "All User Messages").at(-1);
  return last === undefined ? undefined : inShort(parseMessageItem(last));
}

function inShort(text: string): string {
  const line = clip(oneLine(headOf(text, 4 * MAX_REQUEST_CHARS)), MAX_REQUEST_CHARS);
  return /^["“]/.test(line) ? line : quoted(line);
}
