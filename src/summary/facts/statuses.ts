import type { DirectiveStatus } from "../../conversation/facts.ts";
import type { Exchange } from "../builtin/exchange.ts";
import { isRequest } from "../builtin/exchange.ts";
import { type HumanMessage, soundsLikeCorrection } from "../builtin/read/human.ts";
import { endsWithQuestion, proseSentences } from "../builtin/sentences.ts";
import { contentWords, shareIn } from "./content-words.ts";
import { type CallOff, callOff, goesOn, isAnswer, isNegative, pointsBack, saysRule } from "./words.ts";

/** Something a person said, with what became of it. */
export interface Said {
  readonly text: string;
  readonly isRule: boolean;
  status: DirectiveStatus;
}

/** Sentences further in are detail. */
const SCANNED_CHARS = 4_000;
/** So much of what is called off must stand in what was asked for. */
const NAMED_SHARE = 0.6;
/** And it must be what that is about, not one of its many points. */
const ABOUT_SHARE = 0.25;

/**
 * Follows what people ask for. Messages form threads: a request, with the corrections, answers and reminders that
 * belong to it. The newest thread is active. One before it is done: the agent had ended its turn, and the person
 * moved on without complaint. Rules hold until a person calls them off. Nothing that the agent says counts.
 */
export class Statuses {
  #thread: Said[];
  readonly #rules: Said[];
  /** The agent has ended its turn on the thread. */
  #hasEnded = false;
  /** It did so with a question. */
  #hasAsked = false;

  /** `active`: what was active before, oldest first. */
  constructor(active: readonly Said[]) {
    this.#thread = active.filter(({ isRule }) => !isRule);
    this.#rules = active.filter(({ isRule }) => isRule);
  }

  /** What the message of an exchange becomes; undefined where it has none. */
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
    for (const sentence of sentences) this.#callOff(sentence, sentences.length > 1);
    if (!this.#belongsToThread(message)) this.#endThread();
    this.#thread.push(said);
    if (said.isRule) this.#rules.push(said);
    return said;
  }

  #belongsToThread(message: HumanMessage): boolean {
    if (this.#thread.length === 0) return true;
    if (!this.#hasEnded || message.afterInterruption || message.kind === "remark") return true;
    if (goesOn(message.text) || soundsLikeCorrection(message)) return true;
    return this.#hasAsked && isAnswer(message.text);
  }

  #endThread(): void {
    for (const said of this.#thread) if (said.status === "active" && !said.isRule) said.status = "done";
    this.#thread = [];
  }

  #callOff(sentence: string, hasMore: boolean): void {
    const off = callOff(sentence);
    if (off === undefined) this.#contradict(sentence);
    else if (off.how === "replaced") this.#replace(off.what, sentence);
    else if (!pointsBack(off.what)) this.#callOffNamed(off);
    else if (off.how !== "lifted") {
      const status = off.how === "turned-round" && hasMore ? "superseded" : "cancelled";
      for (const said of this.#thread) if (said.status === "active") said.status = status;
    }
  }

  /** The newest that the words fit. Where none does, nothing is called off. */
  #callOffNamed({ what, how }: CallOff): void {
    const named = contentWords(what);
    const target = this.#active(how === "lifted").find(({ text }) => {
      const words = contentWords(text);
      return shareIn(named, words) >= NAMED_SHARE && shareIn(words, named) >= ABOUT_SHARE;
    });
    if (target) target.status = "cancelled";
  }

  /** "Spaces instead of tabs" takes the place of what was about tabs and little else. */
  #replace(what: string, sentence: string): void {
    const named = contentWords(what);
    const spoken = contentWords(sentence);
    const target = this.#active(false).find(({ text }) => {
      const words = contentWords(text);
      return shareIn(named, words) >= NAMED_SHARE && shareIn(words, spoken) >= NAMED_SHARE;
    });
    if (target) target.status = "superseded";
  }

  /** The opposite of an earlier rule takes its place. */
  #contradict(sentence: string): void {
    if (!saysRule(sentence)) return;
    const spoken = contentWords(sentence);
    const target = this.#active(true).find(({ text }) => {
      const words = contentWords(text);
      const isSame = shareIn(words, spoken) >= NAMED_SHARE && shareIn(spoken, words) >= NAMED_SHARE;
      return isSame && isNegative(text) !== isNegative(sentence);
    });
    if (target) target.status = "superseded";
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

export function readSaid(text: string, status: DirectiveStatus): Said {
  return { text, status, isRule: status === "active" && sentencesOf(text).some(saysRule) };
}

const sentencesOf = (text: string): readonly string[] => proseSentences(text.slice(0, SCANNED_CHARS));
