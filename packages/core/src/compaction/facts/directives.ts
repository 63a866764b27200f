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
  type CallOff,
  callOff,
  complains,
  contentWords,
  goesOn,
  isAnswer,
  isNegative,
  pointsBack,
  saysRule,
  shareIn,
} from "./said-words.ts";

interface Directives {
  /** Of the entries, oldest first. */
  readonly fresh: readonly DraftFact[];
  /** Directives of earlier compactions in their order, updated by what people said since. */
  readonly carried: readonly Fact[];
}

/** Reads what people said. `before`: all that was known before the entries, oldest first. */
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
    // Once all is read: what was said later may have called it off.
    fresh: fresh.map(({ said: { text, status }, entryIds }) =>
      withStatus({ kind: "directive", text, entryIds }, status),
    ),
    carried: known.map(({ fact, said }) =>
      said.status === fact.status ? fact : withStatus(fact, said.status),
    ),
  };
}

/** A directive that is over needs fewer words. */
function withStatus<T extends DraftFact>(fact: T, status: DirectiveStatus): T {
  const { needles: _before, ...rest } = fact;
  const text = quotedForm(fact.text, status === "active", fact.entryIds[0]);
  const needles = neededPieces(text, status === "active");
  return { ...rest, text, status, ...(needles === undefined ? {} : { needles }) } as T;
}

/** Something a person said, with what became of it. */
interface Said {
  readonly text: string;
  /** As much of it as tells what it is about. */
  readonly about: string;
  readonly isRule: boolean;
  status: DirectiveStatus;
}

/** Sentences further in are detail. */
const SCANNED_CHARS = 4_000;
/** A bare "stop" further in is of something that was pasted. */
const OPENING = 3;
/** So much of what is called off must stand in what was asked for. */
const NAMED_SHARE = 0.6;
/** And it must be what that is about, not one of its many points. */
const ABOUT_SHARE = 0.25;

/**
 * Follows what people ask for. Messages form threads: a request, with the corrections, answers and reminders that
 * belong to it. The newest thread is active. One before it is done: the agent had ended its turn, and the person
 * moved on without complaint. Rules hold until a person calls them off. Nothing that the agent says counts.
 */
class Statuses {
  #thread: Said[];
  readonly #rules: Said[];
  /** The agent has ended its turn on the thread: where it has not, it goes on before anybody else speaks. */
  #hasEnded = true;
  /** It did so with a question. */
  #hasAsked: boolean;
  /** Every rule is held against every sentence that says one. */
  readonly #words = new Map<Said, ReadonlySet<string>>();

  /** `active`: what was active before, oldest first. `hasAsked`: the agent waits for an answer. */
  constructor(active: readonly Said[], hasAsked: boolean) {
    this.#hasAsked = hasAsked;
    this.#thread = active.filter(({ isRule }) => !isRule);
    this.#rules = active.filter(({ isRule }) => isRule);
  }

  /** Reads the message of an exchange; undefined if it has none. */
  read(exchange: Exchange): Said | undefined {
    const { message } = exchange;
    const said = message && this.#hear(message, isRequest(exchange));
    if (message === undefined || isRequest(exchange) || exchange.texts.length > 0) this.#noteEnding(exchange);
    return said;
  }

  #hear(message: HumanMessage, asks: boolean): Said {
    const said = readSaid(message.text, asks ? "active" : "done");
    if (!asks) return said;
    const sentences = sentencesOf(message.text);
    const calledOff = sentences.map((sentence, nth) =>
      this.#callOff(sentence, sentences.length > 1, nth < OPENING || nth === sentences.length - 1),
    );
    const isAboutOther = calledOff.some((target) => target !== undefined && !this.#thread.includes(target));
    if (!this.#belongsToThread(message, isAboutOther)) this.#endThread();
    this.#thread.push(said);
    if (said.isRule) this.#rules.push(said);
    return said;
  }

  /** `isAboutOther`: it takes back something older, and is no complaint about what was done last. */
  #belongsToThread(message: HumanMessage, isAboutOther: boolean): boolean {
    if (!this.#hasEnded || message.afterInterruption || message.kind === "remark") return true;
    if (goesOn(message.text) || (isComplaint(message) && !isAboutOther)) return true;
    // "Yes, do it" says nothing of its own.
    if (agrees(message.text) && contentWords(headOf(message.text, SCANNED_CHARS)).size === 0) return true;
    return this.#hasAsked && isAnswer(message.text);
  }

  #endThread(): void {
    for (const said of this.#thread) if (said.status === "active" && !said.isRule) said.status = "done";
    this.#thread = [];
  }

  /** Calls off what the sentence names, and returns it. */
  #callOff(sentence: string, hasMore: boolean, mayPointBack: boolean): Said | undefined {
    const off = callOff(sentence);
    if (off === undefined) return this.#contradict(sentence);
    if (off.how === "replaced") return this.#replace(off.what, sentence);
    if (!pointsBack(off.what)) return this.#callOffNamed(off);
    if (off.how === "lifted" || !mayPointBack) return undefined;
    const status = off.how === "turned-round" && hasMore ? "superseded" : "cancelled";
    for (const said of this.#thread) if (said.status === "active") said.status = status;
    return undefined;
  }

  /** The newest that the words fit. Where none does, nothing is called off. */
  #callOffNamed({ what, how }: CallOff): Said | undefined {
    const named = contentWords(what);
    return this.#retract("cancelled", how === "lifted", (said) => {
      const words = this.#wordsOf(said);
      return shareIn(named, words) >= NAMED_SHARE && shareIn(words, named) >= ABOUT_SHARE;
    });
  }

  /** "Spaces instead of tabs" takes the place of what was about tabs and little else. */
  #replace(what: string, sentence: string): Said | undefined {
    const named = contentWords(what);
    const spoken = contentWords(sentence);
    return this.#retract("superseded", false, (said) => {
      const words = this.#wordsOf(said);
      return shareIn(named, words) >= NAMED_SHARE && shareIn(words, spoken) >= NAMED_SHARE;
    });
  }

  /** The opposite of an earlier rule takes its place. */
  #contradict(sentence: string): Said | undefined {
    if (!saysRule(sentence)) return undefined;
    const spoken = contentWords(sentence);
    return this.#retract("superseded", true, (said) => {
      const words = this.#wordsOf(said);
      const isSame = shareIn(words, spoken) >= NAMED_SHARE && shareIn(spoken, words) >= NAMED_SHARE;
      return isSame && isNegative(said.about) !== isNegative(sentence);
    });
  }

  #wordsOf(said: Said): ReadonlySet<string> {
    const known = this.#words.get(said) ?? contentWords(said.about);
    this.#words.set(said, known);
    return known;
  }

  #retract(
    status: "cancelled" | "superseded",
    onlyRules: boolean,
    fits: (said: Said) => boolean,
  ): Said | undefined {
    const target = this.#active(onlyRules).find(fits);
    if (target) target.status = status;
    return target;
  }

  /** Newest first. */
  #active(onlyRules: boolean): readonly Said[] {
    const all = onlyRules ? this.#rules : [...new Set([...this.#rules, ...this.#thread])];
    return all.filter(({ status }) => status === "active").reverse();
  }

  #noteEnding({ texts, actions }: Exchange): void {
    const last = texts.at(-1);
    this.#hasEnded = last !== undefined && last.at > (actions.at(-1)?.at ?? -1);
    this.#hasAsked = this.#hasEnded && last !== undefined && endsWithQuestion(last.text);
  }
}

function readSaid(text: string, status: DirectiveStatus): Said {
  const isRule = status === "active" && sentencesOf(text).some(saysRule);
  return { text, about: headOf(text, SCANNED_CHARS), status, isRule };
}

const isComplaint = (message: HumanMessage): boolean =>
  soundsLikeCorrection(message) || complains(message.text);

const sentencesOf = (text: string): readonly string[] => proseSentences(headOf(text, SCANNED_CHARS));
