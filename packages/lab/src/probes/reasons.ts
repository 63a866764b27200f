import type { AssistantTurn, UserTurn } from "./read-session.ts";
import { type SessionView, SHOWN_CHARS, spread, topicWords, wordGroup } from "./session-view.ts";
import type { Probe } from "./types.ts";
import { contentStems, excerptOf, sentencesOf, tokensOf } from "./words.ts";

type Draft = Omit<Probe, "id">;

const MAX_DECISIONS = 14;
const MAX_ERRORS = 14;
/** Shorter sentences name no choice or no reason. Longer ones are lists and pastes. */
const SENTENCE_CHARS = { min: 40, max: 420 } as const;
/** A choice and its reason need this many content words each. */
const MIN_PART_WORDS = 2;
const MIN_SENTENCE_WORDS = 5;
/** An honest paraphrase keeps half of the words of a choice, and a third of the words of its reason. */
const CHOICE_SHARE = 0.45;
const REASON_SHARE = 0.34;
const CAUSE_SHARE = 0.4;

/** Words between a choice and its reason. */
const REASON_MARK =
  /\b(?:because|so that|since|due to|to avoid|otherwise|the reason (?:is|was)(?: that)?|given that|in order to|which (?:means|avoids|keeps))\b/i;
/** Words between a reason and the choice that follows from it. */
const RESULT_MARK = /, so (?=\w)/i;
/** Verbs that state a choice by themselves. */
const DECIDED =
  /\b(?:decid(?:ed|e)|decision|cho(?:se|ose|sen)|going with|went with|go with|opt(?:ed|ing)? for|prefer(?:red|s)?|picked|settled on)\b/i;
/** Verbs that state a choice if somebody does them, or if the sentence is an order. */
const CHANGE =
  "(?:us(?:e|es|ed|ing)|keep(?:s|ing)?|kept|switch(?:ed|ing)?|replac(?:e|ed|ing)|remov(?:e|ed|ing)|mov(?:e|ed|ing)|extract(?:ed|ing)?|simplif(?:y|ied|ying)|renam(?:e|ed|ing)|split(?:ting)?|merg(?:e|ed|ing)|dropp?(?:ed|ing)?|stor(?:e|ed|ing)|defer(?:red|ring)?|skip(?:ped|ping)?|avoid(?:ed|ing)?|limit(?:ed|ing)?|pin(?:ned|ning)?|add(?:ed|ing)?|chang(?:e|ed|ing)|made|mak(?:e|ing)|left|leav(?:e|ing)|put(?:ting)?|handl(?:e|es|ed|ing)|requir(?:e|es|ed|ing)|return(?:s|ed|ing)?)";
const DONE_BY_SOMEBODY = new RegExp(
  `\\b(?:i|we|i've|we've|i'll|we'll|i'm|let's|let me|deliberately|resolved by|solved by|now)\\s(?:\\w+\\s){0,3}${CHANGE}\\b|\\b(?:was|were|is|are|stays?) (?:now )?(?:removed|replaced|moved|renamed|kept|stored|deferred|skipped|dropped|limited|pinned|split|merged)\\b|^(?:fix: ?)?${CHANGE}\\b`,
  "i",
);
const isChoice = (text: string): boolean => DECIDED.test(text) || DONE_BY_SOMEBODY.test(text);

/** Sentences that consider something decide nothing. */
const TENTATIVE =
  /^\||^now\b|\b(?:isn't|aren't|wasn't|if|could|would|might|maybe|perhaps|should (?:i|we)|let me (?:also )?(?:check|see|verify|look|try|run|read|find|confirm|think)|i need to|wait|hmm|option|either|whether|probably|seems|i think|consider)\b|\?\s*$/i;

const CAUSE =
  /\b(?:root cause|the (?:real |actual |main |underlying |fundamental )?(?:problem|issue|bug|cause|failure) (?:is|was|were|came|comes)|caused by|(?:fail(?:s|ed|ing)?|broke|breaks|crash(?:es|ed)?) because|the fix (?:is|was) to|fixed (?:by|it by|this by)|turn(?:s|ed) out|the culprit|returned \S+, which meant|i see the (?:problem|issue|bug))\b/i;
/** Words of trouble before a reason explain an error. */
const TROUBLE_BECAUSE =
  /\b(?:missed|fail\w*|broke\w*|wrong\w*|unused|missing|corrupt\w*|crash\w*|silently|bugs?|lost|leaks?|stale|couldn't|wasn't|isn't|doesn't|didn't|aren't)\b.{0,160}\bbecause\b/i;
const isCause = (text: string): boolean => CAUSE.test(text) || TROUBLE_BECAUSE.test(text);

interface Sentence {
  readonly text: string;
  readonly turn: AssistantTurn | UserTurn;
}

function reasonSentences(view: SessionView, isWanted: (text: string) => boolean): Sentence[] {
  const seen = new Set<string>();
  const found: Sentence[] = [];
  for (const turn of view.turns) {
    if (turn.type !== "assistant") continue;
    for (const raw of announcedCauses(sentencesOf(turn.text))) {
      const text = withoutMarkup(raw);
      if (text.length < SENTENCE_CHARS.min || text.length > SENTENCE_CHARS.max) continue;
      if (seen.has(text) || !isWanted(text)) continue;
      if (contentStems(tokensOf(text)).length < MIN_SENTENCE_WORDS) continue;
      seen.add(text);
      found.push({ text, turn });
    }
  }
  return found;
}

/** "I see the problem!" The cause is in the next sentence. */
const ANNOUNCES_CAUSE = /\bi see the (?:problem|issue|bug)\W*$/i;

const announcedCauses = (sentences: readonly string[]): string[] =>
  sentences.map((text, at) => (ANNOUNCES_CAUSE.test(text) ? `${text} ${sentences[at + 1] ?? ""}` : text));

const LIST_MARK = /^\s*(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+/;

const withoutMarkup = (text: string): string => text.replace(LIST_MARK, "").replaceAll("**", "").trim();

/** Probes for choices that the agent explained. Both the choice and its reason must be stated together. */
export function decisionProbes(view: SessionView): Draft[] {
  const sentences = reasonSentences(view, (text) => decisionParts(text) !== undefined && !isCause(text));
  return spread(sentences, MAX_DECISIONS).flatMap(({ text, turn }) => {
    const parts = decisionParts(text);
    if (parts === undefined) return [];
    return [
      {
        kind: "decision",
        question: `What was decided about "${topicWords(view, parts.choice)}", and why?`,
        text: excerptOf(text, SHOWN_CHARS),
        answer: {
          needles: [],
          groups: [wordGroup(view, parts.choice, CHOICE_SHARE), wordGroup(view, parts.reason, REASON_SHARE)],
          isReasoned: true,
        },
        entryIds: [turn.entryId],
      } satisfies Draft,
    ];
  });
}

interface DecisionParts {
  readonly choice: string;
  readonly reason: string;
}

function decisionParts(text: string): DecisionParts | undefined {
  if (TENTATIVE.test(text)) return undefined;
  return splitAt(text, REASON_MARK, false) ?? splitAt(text, RESULT_MARK, true);
}

function splitAt(text: string, pattern: RegExp, isReasonFirst: boolean): DecisionParts | undefined {
  const mark = pattern.exec(text);
  if (mark === null) return undefined;
  const [before, after] = [text.slice(0, mark.index), text.slice(mark.index + mark[0].length)];
  const [choice, reason] = isReasonFirst ? [after, before] : [before, after];
  const isFull = [choice, reason].every((part) => contentStems(tokensOf(part)).length >= MIN_PART_WORDS);
  return isFull && isChoice(choice) ? { choice, reason } : undefined;
}

const NO_CAUSE =
  /\b(?:let me|if|might|could|maybe|perhaps|not the (?:issue|problem|cause)|no longer)\b|\?\s*$|:\s*$/i;

/** Words that announce a cause name no topic. */
const CAUSE_WORDS = ["root cause found identified issue problem bug fix fixed"];

/** Probes for causes of errors and for their fixes. */
export function errorProbes(view: SessionView): Draft[] {
  const sentences = reasonSentences(view, (text) => isCause(text) && !NO_CAUSE.test(text));
  return spread(sentences, MAX_ERRORS).map(({ text, turn }) => ({
    kind: "error",
    question: `What went wrong with "${topicWords(view, text, CAUSE_WORDS)}", and what was its cause or fix?`,
    text: excerptOf(text, SHOWN_CHARS),
    answer: { needles: [], groups: [wordGroup(view, text, CAUSE_SHARE)] },
    entryIds: [turn.entryId],
  }));
}
