import { tailOf } from "../../../messages/text.ts";
import type { AgentText, Exchange } from "./exchanges.ts";
import { endsWithQuestion, isOnlyCheer, resultSentence } from "./prose.ts";
import { readReport } from "./reports.ts";
import { contentWords, shareIn } from "./topic-words.ts";

/** Reads the outcome of a request from the agent's texts. */

/**
 * Returns the outcome of a request in the agent's words: the main sentence of its last text. An announcement
 * is no outcome.
 */
export function statedOutcome(exchange: Exchange): string | undefined {
  const last = lastWords(exchange);
  return last === undefined ? undefined : resultSentence(last.text);
}

/** Characters at the end of a text that show whether it announces something. */
const ENDING_CHARS = 12;

const lastWords = ({ texts }: Exchange): AgentText | undefined =>
  texts.findLast(({ text }) => !isOnlyCheer(text)) ?? texts.at(-1);

/**
 * Returns true if the agent's last text closes its work: it announces no work and no work follows it, or it
 * reports finished work.
 * Other words are a belief in the middle of the work, which later work may have disproved.
 */
export function endsWithReport(exchange: Exchange): boolean {
  const last = lastWords(exchange);
  if (last === undefined) return false;
  const isFollowed = exchange.actions.some(({ at, kind }) => kind !== "read" && at >= last.at);
  const isAnnouncement = /[:：]\W*$/.test(tailOf(last.text, ENDING_CHARS));
  return !(isFollowed || isAnnouncement) || readReport(last.text).done.length > 0;
}

/** A question with fewer words does not show its topic. */
const MIN_TOPIC_WORDS = 2;

/**
 * Returns the answer to a question that the user asked in the middle of the work on the request before. Then the
 * closing report is about that request. Returns undefined for every other exchange.
 */
export function answerToAside(before: Exchange | undefined, exchange: Exchange): string | undefined {
  const question = exchange.message?.text ?? "";
  if (before?.message === undefined || endsWithReport(before) || !endsWithQuestion(question))
    return undefined;
  const report = statedOutcome(exchange) ?? "";
  if (!isReportOf(before.message.text, question, report)) return undefined;
  const asked = contentWords(question);
  const [best] = exchange.texts
    .slice(0, -1)
    .map(({ text }) => ({ text, share: shareIn(asked, contentWords(text)) }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share);
  return best === undefined ? undefined : resultSentence(best.text);
}

/** Returns true if a report after a question is about the unfinished request before the question. */
export function isReportOf(unfinished: string, question: string, report: string): boolean {
  const asked = contentWords(question);
  const reported = contentWords(report);
  if (!endsWithQuestion(question) || asked.size < MIN_TOPIC_WORDS) return false;
  return shareIn(reported, asked) === 0 && shareIn(reported, contentWords(unfinished)) > 0;
}
