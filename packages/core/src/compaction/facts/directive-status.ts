import type { DirectiveStatus, DirectiveType } from "../../messages/fact-ledger.ts";
import { headOf } from "../../messages/text.ts";
import {
  agrees,
  approves,
  type Cancellation,
  complains,
  contentWords,
  type Exchange,
  endsWithQuestion,
  type HumanMessage,
  informs,
  isAnswer,
  isCommandLine,
  isContinuation,
  isNegative,
  isOnlyForNow,
  isRequest,
  lastSentences,
  opensWithCorrection,
  pointsBack,
  proseSentences,
  readCancellation,
  saysDoneAbout,
  saysRule,
  saysUnfinished,
  shareIn,
} from "../summary/readers/readers.ts";
import { readDirective } from "./directive-type.ts";

/** Tracks the status of the user's rules, requests, questions and statements over the messages of a session. */

/** Message of the user as a directive, or a rule inside such a message. */
export interface TrackedDirective {
  readonly text: string;
  /** Part of the message that shows its subject. */
  readonly about: string;
  type: DirectiveType;
  /** Rules inside a request. They stay active when the request is done. */
  readonly rules: readonly TrackedDirective[];
  status: DirectiveStatus;
  /** True if the user moved on before the request was seen to be done. */
  isLeftOpen: boolean;
  /** True if the messages mention a request that was left open. */
  isMentioned: boolean;
}

/** Number of characters to scan at the start of a message. Later sentences only add details. */
const SCANNED_CHARS = 4_000;
/** A bare "stop" after this many sentences counts as pasted text. */
const OPENING = 3;
/** Share of the words in a cancellation that the cancelled request must contain. */
const NAMED_SHARE = 0.6;
/**
 * Share of a request's words that a cancellation must contain. If the share is smaller, the cancellation
 * names only one of many points of the request.
 */
const ABOUT_SHARE = 0.25;
/** Share of the words of an open request that a later text must contain to mention it. */
const MENTIONED_SHARE = 0.5;
/** The first characters of a request name its subject. */
const SUBJECT_CHARS = 300;
/** A shorter text that ends with a question only asks. A longer text reports too. */
const REPORT_CHARS = 600;
/** Number of last sentences of the agent that say how its work ended. */
const CLOSING_SENTENCES = 4;

export const trackDirective = (
  text: string,
  status: DirectiveStatus,
  known?: DirectiveType,
): TrackedDirective => {
  const { type, rules } = readDirective(text);
  const about = headOf(text, SCANNED_CHARS);
  return {
    text,
    about,
    type: known ?? type,
    rules: (known ?? type) === "request" ? rules.map((rule) => ruleInside(rule)) : [],
    status,
    isLeftOpen: false,
    isMentioned: false,
  };
};

/** True for a directive that no work can finish. It stays active until the user cancels or replaces it. */
const isStanding = ({ type }: TrackedDirective): boolean => type === "rule" || type === "statement";

const ruleInside = (text: string): TrackedDirective => ({
  text,
  about: text,
  type: "rule",
  rules: [],
  status: "active",
  isLeftOpen: false,
  isMentioned: false,
});

/**
 * Tracks the status of directives. Messages form threads. A thread is a request with its corrections, answers
 * and reminders. The newest thread is active. When the user moves on without complaint, the requests of an
 * older thread are done and its questions answered, unless the agent said that it did not finish. Rules and
 * statements stay active until the user cancels or replaces them. The agent's words never change them.
 */
export class Statuses {
  #thread: TrackedDirective[];
  #rules: TrackedDirective[];
  /** Requests that the user left before they were seen to be done. */
  readonly #leftOpen: TrackedDirective[];
  /**
   * True if the agent has ended its turn on the thread. If false, the next user message still belongs to the
   * thread.
   */
  #hasEnded = true;
  /** True if the agent ended its turn with a question. */
  #hasAsked: boolean;
  /** True if the agent changed something for the thread. */
  #hasWorked = false;
  /** The agent's last text in the thread. */
  #lastText = "";
  /**
   * Cache of topic words. The key is a directive, and the value is its topic words. The cache saves time,
   * because each rule is compared with each sentence that states a rule.
   */
  readonly #words = new Map<TrackedDirective, ReadonlySet<string>>();

  /** Newest message, whose work follows. */
  #newest: TrackedDirective | undefined;

  /** `known`: earlier directives, oldest first. `hasAsked`: the agent waits for an answer. */
  constructor(known: readonly TrackedDirective[], hasAsked: boolean) {
    const active = known.filter(({ status }) => status === "active");
    this.#newest = known.at(-1);
    this.#hasAsked = hasAsked;
    this.#thread = active.filter((said) => !isStanding(said) && !said.isLeftOpen);
    this.#leftOpen = active.filter(({ isLeftOpen }) => isLeftOpen);
    this.#rules = active.flatMap((said) => (isStanding(said) ? [said] : said.rules));
  }

  /** Reads the message of an exchange. Returns undefined if the exchange has no message. */
  read(exchange: Exchange): TrackedDirective | undefined {
    const { message } = exchange;
    const said = message && this.#readMessage(message, isRequest(exchange));
    if (message === undefined || isRequest(exchange) || exchange.texts.length > 0) this.#noteEnding(exchange);
    if (said !== undefined) this.#newest = said;
    this.#readWork(exchange);
    this.#readLeftOpen(exchange);
    return said;
  }

  /** A statement that the agent answers with changes asked for them. "The logo is blurred" is an example. */
  #readWork({ actions, commits }: Exchange): void {
    const said = this.#newest;
    if (said?.type !== "statement" || said.status !== "active" || informs(said.text)) return;
    if (commits.length === 0 && !actions.some(({ kind }) => kind === "edit")) return;
    said.type = "request";
    this.#rules = this.#rules.filter((rule) => rule !== said);
    if (!this.#thread.includes(said)) this.#thread.push(said);
  }

  #readMessage(message: HumanMessage, asks: boolean): TrackedDirective {
    // A program command asks for nothing, so nothing about it can stay open.
    if (!asks) return trackDirective(message.text, "done", "request");
    const said = trackDirective(message.text, "active");
    const sentences = sentencesOf(message.text);
    const calledOff = sentences.map((sentence, nth) =>
      this.#readCancellation(sentence, sentences.length > 1, nth < OPENING || nth === sentences.length - 1),
    );
    if (this.#hasReplied() && !message.afterInterruption && !isComplaint(message)) this.#answerQuestions();
    const isAboutOther = calledOff.some((target) => target !== undefined && !this.#thread.includes(target));
    if (!this.#belongsToThread(message, isAboutOther)) this.#endThread(approves(message.text));
    this.#thread.push(said);
    this.#rules.push(...(isStanding(said) ? [said] : said.rules));
    return said;
  }

  /** `isAboutOther`: the message cancels something older and does not complain about the latest work. */
  #belongsToThread(message: HumanMessage, isAboutOther: boolean): boolean {
    if (!this.#hasEnded || message.afterInterruption || message.kind === "remark") return true;
    if (isCommandLine(message.text)) return true;
    if (isContinuation(message.text) || (isComplaint(message) && !isAboutOther)) return true;
    // A message such as "Yes, do it" adds nothing new.
    if (agrees(message.text) && contentWords(headOf(message.text, SCANNED_CHARS)).size === 0) return true;
    return this.#hasAsked && isAnswer(message.text);
  }

  #endThread(isApproved: boolean): void {
    const isFinished = isApproved || !this.#isUnfinished();
    for (const said of this.#thread) {
      if (said.status !== "active" || isStanding(said)) continue;
      if (said.type === "question") said.status = "answered";
      else if (isFinished) said.status = "done";
      else {
        said.isLeftOpen = true;
        said.isMentioned = true;
        this.#leftOpen.push(said);
      }
    }
    this.#thread = [];
    this.#hasWorked = false;
    this.#lastText = "";
  }

  /** Returns true if the agent's last text says that it did not finish, or only asks back. */
  #isUnfinished(): boolean {
    if (this.#lastText === "") return false;
    if (lastSentences(this.#lastText, CLOSING_SENTENCES).some(saysUnfinished)) return true;
    return !this.#hasWorked && this.#onlyAsksBack();
  }

  #onlyAsksBack(): boolean {
    return this.#hasAsked && this.#lastText.length < REPORT_CHARS;
  }

  /** Returns true if the agent ended its turn with a text that can answer a question. */
  #hasReplied(): boolean {
    return this.#hasEnded && this.#lastText !== "" && !this.#onlyAsksBack();
  }

  #answerQuestions(): void {
    for (const said of this.#thread) {
      if (said.status === "active" && said.type === "question") said.status = "answered";
    }
  }

  /** Closes requests that were left open if the agent reports later that they are done. */
  #readLeftOpen({ message, texts, commits }: Exchange): void {
    const open = this.#leftOpen.filter(({ status }) => status === "active");
    if (open.length === 0) return;
    const reports = [...texts.map(({ text }) => text), ...commits.map(({ subject }) => `Done: ${subject}`)];
    for (const said of open) {
      const subject = contentWords(headOf(said.about, SUBJECT_CHARS));
      const isAbout = (text: string): boolean =>
        shareIn(subject, contentWords(headOf(text, SCANNED_CHARS))) >= MENTIONED_SHARE;
      if (reports.some((text) => saysDoneAbout(text, subject))) said.status = "done";
      else if (isAbout(message?.text ?? "") || reports.some(isAbout)) said.isMentioned = true;
    }
  }

  /** Cancels and returns the directive that the sentence names. */
  #readCancellation(sentence: string, hasMore: boolean, mayPointBack: boolean): TrackedDirective | undefined {
    const off = readCancellation(sentence);
    if (off === undefined) return this.#contradict(sentence);
    if (off.how === "replaced") return this.#replace(off.what, sentence);
    if (!pointsBack(off.what)) return this.#readNamedCancellation(off, sentence);
    if (off.how === "lifted" || !mayPointBack) return undefined;
    const status = off.how === "turned-round" && hasMore ? "superseded" : "cancelled";
    const last = this.#thread.at(-1);
    // "Never mind" withdraws a rule only if the rule was the last thing that the user said.
    for (const said of this.#thread) {
      if (said.status === "active" && (!isStanding(said) || said === last)) said.status = status;
    }
    return undefined;
  }

  /**
   * Cancels the newest directive that matches the words of the cancellation. If no directive matches, cancels
   * nothing. Words that stop a single piece of work are not enough to cancel a rule.
   */
  #readNamedCancellation({ what, how }: Cancellation, sentence: string): TrackedDirective | undefined {
    const named = contentWords(what);
    return this.#retract("cancelled", how === "lifted", (said) => {
      const words = this.#wordsOf(said);
      if (shareIn(named, words) < NAMED_SHARE) return false;
      if (!isStanding(said) || how === "lifted") return shareIn(words, named) >= ABOUT_SHARE;
      const isSamePolarity = isNegative(said.about);
      return shareIn(words, named) >= NAMED_SHARE && !isSamePolarity && !isOnlyForNow(sentence);
    });
  }

  /**
   * Supersedes directives that a sentence replaces. For example, "spaces instead of tabs" supersedes a
   * directive that is mainly about tabs.
   */
  #replace(what: string, sentence: string): TrackedDirective | undefined {
    const named = contentWords(what);
    const spoken = contentWords(sentence);
    return this.#retract("superseded", false, (said) => {
      const words = this.#wordsOf(said);
      const isSame = shareIn(named, words) >= NAMED_SHARE && shareIn(words, spoken) >= NAMED_SHARE;
      // A ban on the replaced thing agrees with the sentence, and so does the same sentence said earlier.
      const agreesWith = isStanding(said) && (isNegative(said.about) || replaces(said.about, named));
      return isSame && !agreesWith;
    });
  }

  /** Supersedes an earlier rule if the sentence states the opposite rule. */
  #contradict(sentence: string): TrackedDirective | undefined {
    if (!saysRule(sentence) || isOnlyForNow(sentence)) return undefined;
    const spoken = contentWords(sentence);
    return this.#retract("superseded", true, (said) => {
      const words = this.#wordsOf(said);
      const isSame = shareIn(words, spoken) >= NAMED_SHARE && shareIn(spoken, words) >= NAMED_SHARE;
      return isSame && isNegative(said.about) !== isNegative(sentence);
    });
  }

  #wordsOf(said: TrackedDirective): ReadonlySet<string> {
    const known = this.#words.get(said) ?? contentWords(said.about);
    this.#words.set(said, known);
    return known;
  }

  #retract(
    status: "cancelled" | "superseded",
    onlyRules: boolean,
    fits: (said: TrackedDirective) => boolean,
  ): TrackedDirective | undefined {
    const target = this.#active(onlyRules).find(fits);
    if (target) target.status = status;
    return target;
  }

  /** Returns active directives, newest first. */
  #active(onlyRules: boolean): readonly TrackedDirective[] {
    const all = onlyRules ? this.#rules : [...new Set([...this.#leftOpen, ...this.#rules, ...this.#thread])];
    return all.filter(({ status }) => status === "active").reverse();
  }

  #noteEnding({ texts, actions, commits }: Exchange): void {
    const last = texts.at(-1);
    this.#hasEnded = last !== undefined && last.at > (actions.at(-1)?.at ?? -1);
    this.#hasAsked = this.#hasEnded && last !== undefined && endsWithQuestion(last.text);
    this.#hasWorked ||= commits.length > 0 || actions.some(({ kind }) => kind === "edit");
    if (last !== undefined) this.#lastText = last.text;
  }
}

/** Returns true if the text itself puts something in the place of the named thing. */
function replaces(text: string, named: ReadonlySet<string>): boolean {
  return sentencesOf(text).some((sentence) => {
    const off = readCancellation(sentence);
    return off?.how === "replaced" && shareIn(named, contentWords(off.what)) >= NAMED_SHARE;
  });
}

const isComplaint = (message: HumanMessage): boolean =>
  opensWithCorrection(message) || complains(message.text);

const sentencesOf = (text: string): readonly string[] => proseSentences(headOf(text, SCANNED_CHARS));
