import type { DirectiveStatus, Fact } from "../../messages/fact-ledger.ts";
import { headOf } from "../../messages/text.ts";
import {
  type Exchange,
  endsWithQuestion,
  type HumanMessage,
  isRequest,
  proseSentences,
  soundsLikeCorrection,
} from "../summary/readers/readers.ts";
import type { DraftFact, ReadEntries } from "./fact-source.ts";
import { neededPieces, quotedForm } from "./quote-facts.ts";
import {
  agrees,
  type Cancellation,
  complains,
  contentWords,
  isAnswer,
  isContinuation,
  isNegative,
  pointsBack,
  readCancellation,
  saysRule,
  shareIn,
} from "./said-words.ts";

interface Directives {
  /** New directives in the entries, oldest first. */
  readonly fresh: readonly DraftFact[];
  /** Directives of earlier compactions in their order, updated by later messages. */
  readonly carried: readonly Fact[];
}

/** Reads directives from user messages. `before`: all earlier directives, oldest first. */
export function readDirectives({ digest, has, idsAt }: ReadEntries, before: readonly Fact[]): Directives {
  const known = before
    .filter(({ kind }) => kind === "directive")
    .map((fact) => ({ fact, said: readSaid(fact.text, fact.status ?? "active") }));
  const active = known.map(({ said }) => said).filter(({ status }) => status === "active");
  const hasAsked = before.some(({ kind }) => kind === "question");
  const statuses = new Statuses(active, hasAsked);
  const fresh = digest.exchanges.flatMap((exchange) => {
    const said = statuses.read(exchange);
    const at = exchange.message?.at;
    return said === undefined || at === undefined || !has(at) ? [] : [{ said, entryIds: idsAt(at) }];
  });
  return {
    // Read the status last, because a later message may have cancelled the directive.
    fresh: fresh.map(({ said: { text, status }, entryIds }) =>
      withStatus({ kind: "directive", text, entryIds }, status),
    ),
    carried: known.map(({ fact, said }) =>
      said.status === fact.status ? fact : withStatus(fact, said.status),
    ),
  };
}

/** Sets the status of a directive. A directive that is no longer active is shortened more. */
function withStatus<T extends DraftFact>(fact: T, status: DirectiveStatus): T {
  const { needles: _before, ...rest } = fact;
  const text = quotedForm(fact.text, status === "active", fact.entryIds[0]);
  const needles = neededPieces(text, status === "active");
  return { ...rest, text, status, ...(needles === undefined ? {} : { needles }) } as T;
}

/** Message of the user as a directive, with its status. */
interface TrackedDirective {
  readonly text: string;
  /** Part of the message that shows its subject. */
  readonly about: string;
  readonly isRule: boolean;
  status: DirectiveStatus;
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

/**
 * Tracks the status of directives. Messages form threads. A thread is a request with its corrections, answers
 * and reminders. The newest thread is active. An older thread is done, because the agent ended its turn and
 * the user moved on without complaint. Rules stay active until the user cancels them. The agent's words never
 * change a status.
 */
class Statuses {
  #thread: TrackedDirective[];
  readonly #rules: TrackedDirective[];
  /**
   * True if the agent has ended its turn on the thread. If false, the next user message still belongs to the
   * thread.
   */
  #hasEnded = true;
  /** True if the agent ended its turn with a question. */
  #hasAsked: boolean;
  /**
   * Cache of topic words. The key is a directive, and the value is its topic words. The cache saves time,
   * because each rule is compared with each sentence that states a rule.
   */
  readonly #words = new Map<TrackedDirective, ReadonlySet<string>>();

  /** `active`: earlier active directives, oldest first. `hasAsked`: the agent waits for an answer. */
  constructor(active: readonly TrackedDirective[], hasAsked: boolean) {
    this.#hasAsked = hasAsked;
    this.#thread = active.filter(({ isRule }) => !isRule);
    this.#rules = active.filter(({ isRule }) => isRule);
  }

  /** Reads the message of an exchange. Returns undefined if the exchange has no message. */
  read(exchange: Exchange): TrackedDirective | undefined {
    const { message } = exchange;
    const said = message && this.#readMessage(message, isRequest(exchange));
    if (message === undefined || isRequest(exchange) || exchange.texts.length > 0) this.#noteEnding(exchange);
    return said;
  }

  #readMessage(message: HumanMessage, asks: boolean): TrackedDirective {
    const said = readSaid(message.text, asks ? "active" : "done");
    if (!asks) return said;
    const sentences = sentencesOf(message.text);
    const calledOff = sentences.map((sentence, nth) =>
      this.#readCancellation(sentence, sentences.length > 1, nth < OPENING || nth === sentences.length - 1),
    );
    const isAboutOther = calledOff.some((target) => target !== undefined && !this.#thread.includes(target));
    if (!this.#belongsToThread(message, isAboutOther)) this.#endThread();
    this.#thread.push(said);
    if (said.isRule) this.#rules.push(said);
    return said;
  }

  /** `isAboutOther`: the message cancels something older and does not complain about the latest work. */
  #belongsToThread(message: HumanMessage, isAboutOther: boolean): boolean {
    if (!this.#hasEnded || message.afterInterruption || message.kind === "remark") return true;
    if (isContinuation(message.text) || (isComplaint(message) && !isAboutOther)) return true;
    // A message such as "Yes, do it" adds nothing new.
    if (agrees(message.text) && contentWords(headOf(message.text, SCANNED_CHARS)).size === 0) return true;
    return this.#hasAsked && isAnswer(message.text);
  }

  #endThread(): void {
    for (const said of this.#thread) if (said.status === "active" && !said.isRule) said.status = "done";
    this.#thread = [];
  }

  /** Cancels and returns the directive that the sentence names. */
  #readCancellation(sentence: string, hasMore: boolean, mayPointBack: boolean): TrackedDirective | undefined {
    const off = readCancellation(sentence);
    if (off === undefined) return this.#contradict(sentence);
    if (off.how === "replaced") return this.#replace(off.what, sentence);
    if (!pointsBack(off.what)) return this.#readNamedCancellation(off);
    if (off.how === "lifted" || !mayPointBack) return undefined;
    const status = off.how === "turned-round" && hasMore ? "superseded" : "cancelled";
    for (const said of this.#thread) if (said.status === "active") said.status = status;
    return undefined;
  }

  /**
   * Cancels the newest directive that matches the words of the cancellation. If no directive matches, cancels
   * nothing.
   */
  #readNamedCancellation({ what, how }: Cancellation): TrackedDirective | undefined {
    const named = contentWords(what);
    return this.#retract("cancelled", how === "lifted", (said) => {
      const words = this.#wordsOf(said);
      return shareIn(named, words) >= NAMED_SHARE && shareIn(words, named) >= ABOUT_SHARE;
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
      return shareIn(named, words) >= NAMED_SHARE && shareIn(words, spoken) >= NAMED_SHARE;
    });
  }

  /** Supersedes an earlier rule if the sentence states the opposite rule. */
  #contradict(sentence: string): TrackedDirective | undefined {
    if (!saysRule(sentence)) return undefined;
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
    const all = onlyRules ? this.#rules : [...new Set([...this.#rules, ...this.#thread])];
    return all.filter(({ status }) => status === "active").reverse();
  }

  #noteEnding({ texts, actions }: Exchange): void {
    const last = texts.at(-1);
    this.#hasEnded = last !== undefined && last.at > (actions.at(-1)?.at ?? -1);
    this.#hasAsked = this.#hasEnded && last !== undefined && endsWithQuestion(last.text);
  }
}

function readSaid(text: string, status: DirectiveStatus): TrackedDirective {
  const isRule = status === "active" && sentencesOf(text).some(saysRule);
  return { text, about: headOf(text, SCANNED_CHARS), status, isRule };
}

const isComplaint = (message: HumanMessage): boolean =>
  soundsLikeCorrection(message) || complains(message.text);

const sentencesOf = (text: string): readonly string[] => proseSentences(headOf(text, SCANNED_CHARS));
