import { tailOf } from "../../../messages/text.ts";
import { type AgentText, type Exchange, isRequest } from "./exchanges.ts";
import { announcesWork, endsWithQuestion, isOnlyCheer, lastSentences } from "./prose.ts";
import { claimsDone, listsRemainingWork, readReport } from "./reports.ts";
import { resultSentence } from "./result-sentence.ts";
import { isPoliteRequest } from "./said-words.ts";
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

/** Returns true if the agent's last text also lists work that is left. */
export function leavesWork(exchange: Exchange): boolean {
  const text = lastWords(exchange)?.text ?? "";
  return text.length <= MAX_REPORT_CHARS && listsRemainingWork(text);
}

/** Maximum length of a report. A longer text is a document. */
const MAX_REPORT_CHARS = 8_000;

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

/**
 * Returns the report with which the agent closed its work after a commit or a push. Other work can follow the
 * report.
 */
export function reportOnCommit({ actions, texts }: Exchange): string | undefined {
  const work = actions.filter(({ kind }) => kind !== "read");
  for (const { at, text } of texts.toReversed()) {
    const before = work.findLast((action) => action.at < at);
    if (before?.kind !== "command" || !COMMITS.has(before.run.kind) || before.run.state !== "passed")
      continue;
    const closing = lastSentences(text, 1)[0] ?? "";
    const report = resultSentence(text);
    const isReport = report !== undefined && (claimsDone(report) || readReport(text).done.length > 0);
    if (isReport && !announcesWork(closing) && !/[:：]$/.test(closing)) return report;
  }
  return undefined;
}

const COMMITS: ReadonlySet<string> = new Set(["commit", "push"]);

/** Joins each request with the exchanges after it that ask for nothing. Only the first course may have no request. */
export function coursesOf(exchanges: readonly Exchange[]): readonly Exchange[] {
  const courses: Exchange[] = [];
  for (const exchange of exchanges) {
    const before = courses.at(-1);
    if (isRequest(exchange)) courses.push(exchange);
    else if (before === undefined) courses.push({ ...exchange, message: undefined });
    else courses[courses.length - 1] = joined([before, exchange]);
  }
  return courses;
}

/** Joins exchanges that follow each other. The first message is the message of the whole. */
export const joined = (parts: readonly Exchange[]): Exchange => ({
  message: parts[0]?.message,
  actions: parts.flatMap(({ actions }) => actions),
  commits: parts.flatMap(({ commits }) => commits),
  texts: parts.flatMap(({ texts }) => texts),
  isUnfinished: parts.at(-1)?.isUnfinished ?? false,
  resumed: parts.flatMap(({ resumed }) => resumed),
  agentsUntil: Math.max(...parts.map(({ agentsUntil = 0 }) => agentsUntil)),
  isReportedLater: parts.at(-1)?.isReportedLater ?? false,
});

/**
 * Returns the requests that the report on the last course closes, from the requests before it that were under
 * way. A report closes no request whose subagent reported later.
 */
export function closedBy(course: Exchange, underWay: readonly Exchange[]): readonly Exchange[] {
  const saidAt = course.texts.at(-1)?.at ?? 0;
  const waiting = underWay.findLastIndex(({ agentsUntil = 0 }) => agentsUntil > saidAt);
  return [...underWay.slice(waiting + 1), course];
}

/** Number of topic words that an answer shares with its question at least. */
const MIN_SHARED_WORDS = 2;

/**
 * Returns the agent's answer to a question that the user asked in the middle of other work. The agent's last
 * text is about that work.
 */
export function answerInBetween({ message, texts }: Exchange): string | undefined {
  const question = message?.text ?? "";
  if (!endsWithQuestion(question) || isPoliteRequest(question)) return undefined;
  const asked = contentWords(question);
  const [best] = texts
    .slice(0, -1)
    .map(({ text }) => ({ text, shared: shareIn(asked, contentWords(text)) * asked.size }))
    .filter(({ shared }) => shared >= MIN_SHARED_WORDS)
    .sort((a, b) => b.shared - a.shared);
  return best === undefined ? undefined : resultSentence(best.text);
}
