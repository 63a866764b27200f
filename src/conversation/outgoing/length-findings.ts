import { Draft } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import { requestBytesFault } from "../check/rules/media-limits.ts";
import { messageCountFault } from "../check/rules/message-count.ts";

/** What is said of a request that is too long, and changes with every message. */
export function lengthFindings(
  messageCount: number,
  tooManyBytes: { readonly bytes: number; readonly limit: number } | undefined,
): readonly Finding[] {
  const count = messageCountFault(messageCount);
  if (count === undefined && tooManyBytes === undefined) return [];
  const draft = new Draft({ messages: [] });
  if (tooManyBytes) draft.report(requestBytesFault(tooManyBytes.bytes, tooManyBytes.limit));
  if (count) draft.report(count);
  return draft.findings;
}
