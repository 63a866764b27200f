import type { CauseType, FactAuthor } from "../../../messages/fact-ledger.ts";

/**
 * Recognizes sentences that state a cause, a decision or a corrected belief. All patterns expect lower case
 * and run in linear time.
 */

/** Type of a statement: a choice between possibilities, or a cause. */
export type ReasonType = "decision" | CauseType;

const TROUBLE =
  "issue|problem|bug|cause|culprit|error|failure|crash|regression|race condition|leak|deadlock|mistake|bottleneck|mismatch|conflict|gap|confusion";
const WHICH =
  "(?:real|actual|underlying|core|main|key|fundamental|first|second|third|other|same|only|remaining|bigger|deeper|original|exact)";
const BE = "(?:is|was|lies|lay|came|comes|stems|stemmed|turned out)";

const ROOT_CAUSES: readonly RegExp[] = [
  /\broot[- ]caus/,
  new RegExp(
    `\\b(?:the|that's the|that is the|my|our|one|another) (?:${WHICH} ){0,2}(?:[\\w-]+ ){0,2}(?:${TROUBLE})(?: here| there| now| though)?(?: (?:with|in|of|for|on|behind|from) [^.;:]{1,60})? ${BE}\\b`,
  ),
  new RegExp(`^(?:\\W*\\d?\\W*)(?:the )?(?:${WHICH} )?(?:${TROUBLE})(?: \\d{1,2})?\\W{0,4}:`),
  new RegExp(
    `\\b(?:see|found|spotted|identified|know|hit) (?:the|a|another) (?:[\\w-]+ )?(?:${TROUBLE})s?\\b(?: (?:here|now))?[\\s,]*[—–:-].{16}`,
  ),
  /\b(?:caused by|results? from|resulted from|stems? from|stemmed from|comes? from the|triggered by|is what (?:breaks|broke|causes|caused|made)|to blame)\b/,
  /\b(?:turns out|turned out|it turns out)\b/,
  /\b(?:fails?|failed|failing|broken?|breaks|crash(?:es|ed)?|hangs)\b[^.:—–]{0,80} [—–-] .{16}/,
  /\b(?:fail(?:s|ed|ing|ure)?|br(?:oke|oken|eaks|eaking)|crash(?:es|ed|ing)?|hangs?|hung|wrong|missing|lost|stuck|red|flaky|slow|empty|reject(?:s|ed)|error(?:s|ed)?|block(?:s|ed|ing)|prevent(?:s|ed|ing)?|does(?:n't| not) work|did(?:n't| not) work|not work(?:s|ing)?|(?:not|n't) (?:match|find|found|exist|run|ran|load|apply|fire|trigger|show|update|called|set|get|detect|detected|recogni[sz]ed?)\w*)\b.{0,120}?\b(?:because|since|due to|as a result of)\b/,
  /\b(?:because|since|due to)\b.{0,120}?\b(?:fail(?:s|ed|ing)?|br(?:oke|eaks)|crash(?:es|ed)|hangs?|hung|never (?:runs?|ran|fires?|fired|called|set)|(?:does|do|did|is|are|was|were|ca|could|has|have)(?:n't| not|nnot))\b/,
  /\b(?:that|this|which)(?:'s| is| was| also)? (?:explains?|explained|why)\b/,
  /\bthe reason (?:is|was|why|for|that|it|this|they|we)\b/,
  /\bgrundursache|\bdas problem (?:ist|war|liegt|lag)|\b(?:liegt|lag) (?:daran|an)|\b(?:der fehler|die ursache) (?:ist|war|liegt|lag)|\ble problème (?:est|était|vient|venait)|\bla cause (?:est|était)|\bel problema (?:es|era)|\bla causa (?:es|era)|\bo problema (?:é|era)|\ba causa (?:é|era)|\bil problema (?:è|era)/,
  /根本原因|根因|问题(?:是|在于|出在)|原因(?:是|在于)|其实是|коренная причина|проблема (?:в|была)|причина (?:в|была|—)|оказал(?:ось|ся|ась)|原因は|問題は|ためでした|원인은|문제는|때문(?:입니다|이었)/,
];

/** Words that take back an earlier belief of the speaker, or deny the belief of somebody else. */
const CORRECTIONS: readonly RegExp[] = [
  /\b(?:i|we)(?: was| were|'d been| had been) (?:wrong|mistaken|incorrect)\b/,
  /\b(?:i|we)(?:'d| had)? (?:\w+ly )?(?:assumed|thought|believed|expected|figured|supposed|claimed)\b.{0,200}?\b(?:but|however|actually|in fact|instead|wrong|not)\b/,
  /\b(?:i|we) (?:misread|misunderstood|misinterpreted|misdiagnosed|mistook|overlooked|confused|got (?:it|this|that) wrong)\b/,
  /\bmy (?:\w+ )?(?:assumption|claim|statement|diagnosis|reading|explanation|theory|understanding|analysis)\b.{0,60}?\b(?:was|is|were) (?:wrong|incorrect|mistaken|off|outdated|false)\b/,
  /^\W*you(?:'re| are|r) (?:absolutely |completely |totally |quite |so )?(?:right|correct)\b[\s,.!:;—–-]{1,5}.{20}/,
  /^(?:(?:wait|oh wait|hold on|hmm|actually|correction|scratch that|on second thought)\b[\s,.:!—–-]+|no[,.:!—–]+ ).{0,160}?\b(?:not|n't|wrong|already|actually|should|instead|only|was|is)\b/,
  /\bthat(?:'s| is| was)(?: not|n't) (?:actually |quite |even )?(?:right|correct|true|accurate|the (?:problem|issue|cause|case|bug|reason))\b|\bthat(?:'s| is| was) (?:wrong|incorrect|false)\b/,
  /\b(?:feedback|review(?:er)?|comment|suggestion|finding|warning|claim|report|advice|linter|bot)(?:'s)?(?: [\w-]+){0,3} (?:is|was|are|were) (?:actually |simply |just )?(?:wrong|incorrect|mistaken|outdated|invalid|not valid|false|stale)\b/,
  /\b(?:was|were) (?:simply |just |plain |also |all )?(?:wrong|mistaken|backwards)\b|\b(?:a|correction|one) (?:correction|thing) i(?:'d| had)? (?:got|gotten)\b/,
  /\bcontrary to\b|\bdespite what (?:i|we)\b|\bnot .{2,80}? as (?:i|we) (?:thought|assumed|said|claimed|expected)\b/,
  /\b(?:ich|wir) (?:lag|lagen|hatte\w*) (?:falsch|unrecht)|\bje me suis trompé|\bme equivoqué|\bя ошиб(?:ся|лась)|我(?:之前)?(?:错了|弄错|误以为)|間違(?:え|って)|勘違い|제가 틀렸/,
];
/** A correction that names nothing. */
const EMPTY_CORRECTION =
  /^\W*(?:(?:wait|hold on|hmm|no|oh|actually)[,.!—– -]+){0,3}(?:that|this|it)(?:'s| is| was)(?: not|n't)? (?:quite |actually |even )?(?:right|wrong|correct|incorrect|true|false|it)(?: either| though| yet)?\W*$/;

/** Words of a choice between possibilities. */
const DECISIONS: readonly RegExp[] = [
  /\b(?:decid(?:ed?|ing)|chose|chosen|opt(?:ed|ing) (?:for|to)|went with|going with|go with|gone with|settled? on|agreed (?:to|on|that)|stick(?:ing)? with|stuck with|not worth|deliberately|won't fix)\b/,
  /\b(?:i|we) (?:won't|will not|wouldn't|would not|(?:am|'m|are|'re) not going to) \w|\bskip(?:ping)? (?:this|that|it|these|those|the)\b/,
  /\b(?:must|has to|have to|needs? to|should) (?:be \w+ )?[^.;:]{1,60}(?:,| [—–-]) not \w/,
  /\b(?:that|this|which)(?:'s| is) (?:fine|ok(?:ay)?|acceptable|good enough|intended) (?:since|because|as|for)\b/,
  /\bthe (?:right|better|best|cleaner|cleanest|simpler|simplest|correct|proper|safer|safest|easiest|minimal|idiomatic) (?:\w+ )?(?:approach|way|fix|solution|place|choice|option|thing|design|move|answer)\b.{0,40}?\b(?:is|was|would be|here)\b/,
  /\b(?:the|my|our) (?:\w+ )?(?:fix|solution|approach|workaround|remedy|design|choice|resolution)\b(?: here)?(?: (?:for|to) [^.;:]{1,60})?(?: (?:is|was) (?!in\b|at\b|already|still|now|not\b|right|good|correct)|\W{0,4}:)/,
  /^(?:\W*)(?:decision|fix|solution|resolution|approach|rationale|choice)\W{0,4}:/,
  /\b(?:i|we|you) (?:should|must|will|would|'ll|'d)? ?(?:prefer(?:red)?|keep|kept|dropped|drop|avoid(?:ed)?|skip(?:ped)?|left|leave|reus(?:e|ed)|mov(?:e|ed)|switch(?:ed)? to|replaced|revert(?:ed)?|made|use|used|put|store[ds]?)\b.{0,160}?\b(?:because|since|so that|so (?:it|we|the|they|users?)|to (?:avoid|prevent|keep|ensure|allow|match|make)|otherwise)\b/,
  /\b(?:entschieden|entschluss|wir nehmen|décidé|decid(?:í|imos|ido))\b/,
  /决定|选择了|采用|решил|решено|выбрал|決め|採用|결정/,
];
/** Words of a contrast. They state a choice only in a sentence about the speaker's own work. */
const CONTRAST =
  /\b(?:no need (?:for|to)|(?:don't|doesn't|didn't|won't|not) need(?:ed)? (?:to|the|a|an|any|for|it|this)|(?:was|were) needed|instead|rather than|as opposed to|over the alternative|in favou?r of|no longer (?:need|use|uses|call|calls)|statt|anstatt|au lieu|plutôt que|en lugar|en vez|em vez|invece di)\b|而不是|改为|вместо|ではなく|대신/;
/** Start of a sentence about the speaker's own work. */
const OWN_WORK =
  /^\W*(?:(?:ok(?:ay)?|now|so|then|and|but|also|therefore|done)[,!. ]+){0,2}(?:(?:i|we) (?!checked|verified|found|measured|read|tested|looked|see|saw|notice)|i'\w+|we'\w+|let me|let's|use[ds]?|using|send|sent|keep|kept|make|made|chang(?:e|ed)|replac(?:e|ed)|switch(?:ed)?|mov(?:e|ed)|fix(?:ed)?|emit|stor(?:e|ed)|add(?:ed)?|remov(?:e|ed)|drop(?:ped)?|rewrote|rewrite|convert(?:ed)?|no (?:need|additional|further|other))\b|改为|вместо|ではなく|대신/;
/** Advice, which is no choice before somebody accepts it. */
const PROPOSES =
  /\b(?:i|we)(?:'d| would|'m| am)? (?:still |strongly |really |personally )?(?:suggest|recommend|propose|advise|lean(?:ing)? (?:towards?|to))\b|^\W*(?:my |the )?(?:recommend(?:ation|ed|ing)?\b|(?:suggestion|proposal)s?\W{0,3}:|suggest\b)/;
const COULD = /\b(?:you|we|it|that) (?:could|might|may) \w/;
/** List of possibilities, none of which is chosen yet. */
const OPTIONS =
  /\b(?:(?:your|the|my|these|following|possible|other|have|are|see) (?:\w+ )?(?:options|alternatives|choices|possibilities)|(?:two|three|four|several|some|few|both) (?:\w+ )?(?:options|ways|approaches|alternatives|choices|possibilities|directions)|should (?:i|we)\b|shall (?:i|we)\b|which (?:one|of|would|do)\b)/;
const OPTIONS_ALONE = /^\W*(?:\w+ )?(?:options|alternatives|choices|possibilities)\b[^.]{0,40}$/;

const CONNECTIVES =
  /, (?:so|making|leaving|breaking) (?!far\b)|\bso (?:the|it|it's|we|they|this|that's|there|i|you|no|its|a|an|any|every|all|both|each|only|nothing|neither|don't|do not|never)\b|, as (?:the|it|they|we|there|this)\b|\b(?:which (?:leaves|lets|forces|prevents|happens|explains|would)|would (?:have )?(?:cost|mean|meant|made|leave|left|break|broken|lose|lost|require|required|need|needed))\b|\b(?:because|since|so that|which (?:means|meant|is why|caused|causes|breaks|broke|led|would|makes|made)|th(?:is|at) (?:means|meant|is because|was because|happens because|happened because|ensures|avoids|prevents|keeps|way|makes|made|causes|caused|breaks|broke|would)|that's why|therefore|otherwise|due to|to avoid|to prevent|to bypass|to work around|in order to|thanks to|as a result|causing|resulting in|leading to|for (?:backwards? compat\w*|consistency|simplicity|safety|clarity|performance)|weil|deshalb|denn|parce que|car|puisque|porque|ya que|perché)\b|因为|因此|потому что|поэтому|так как|なぜなら|ので|ため、|때문에|그래서/;

/** Advice against something. In a user's words it is an instruction, which the list of messages has. */
const ADVISES_AGAINST =
  /^\W*(?:so |then |and |but |therefore |instead,? )?(?:don't|do not) (?!worry|know|think|have|see|want|need|forget)\w+/;

/** Statements that give a reason without a connective. */
const POINTS =
  /\bpre-?existing\b|\b(?:unrelated|not related) to\b|\b(?:intentional|on purpose|by design)\b|\balready (?:closed|covered|handled|guarded|escaped)\b|\b(?:the|one|my) (?:key |main |only |real |important |crucial )?(?:insight|difference|catch|trick|point|finding|takeaway|gotcha|caveat|limitation|constraint)(?: here)? (?:is|was)\b|^(?:\W*(?:ah|oh|ok(?:ay)?)[\s,!.]+)?i see[,.:!—–]+ .{24}|\bi (?:can )?(?:now )?(?:can )?see (?:that|how|why)\b/;

/** `since` in "since the last release" names a time and no reason. */
const SINCE_A_TIME =
  /\bsince (?:the (?:last|first|start|beginning|previous|initial)|then|version|v?\d|yesterday|today|last|monday|tuesday|wednesday|thursday|friday)\b/;

/** Start of a user's instruction or choice. A question, a complaint or an observation is none. */
const CHOOSES =
  /^\W*(?:(?:yeah|yes|yep|ok(?:ay)?|sure|so|and|but|also|well|then|now|actually|please|no|i think|i guess|agreed|right|alright|great|good|hmm|instead|therefore)[\s,.!:—–-]+){0,4}(?:let'?s|let us|(?:i|we)(?:'ll| will| should| must)? (?:want|decided|agreed|prefer|use|keep|go|choose|chose|pick|drop|skip|need|stay|stick|leave)|(?:i|we)(?:'d| would) (?:like|prefer|rather)|don'?t|do not|never|always|go with|use|keep|drop|skip|stick|stay|make|leave|remove|avoid|prefer|no need|put|move|add|switch|replace|revert|do|stop|just|only)\b|决定|采用|用|решил|выбрал|決め|採用|결정/;

/**
 * Words of a state that lasts only for a moment. Such a state says nothing about why something was done, and a
 * later reader takes it for the present.
 */
const MOMENTARY =
  /\b(?:is|are|'s|'re|i'm) (?:currently|failing|running|building|working|pending|stale|ready|in progress|in place|up to date|passing|green|clean|open|finished|done|complete|causing|sending)\b|\b(?:needs?|have|has|want|wants) to\b|\bi need\b|\bremaining\b|\b(?:has|have) (?:now )?(?:finished|completed)\b|\btoday\b|^\W*(?:now|next|also|sending|saved|done)\b/;
/** The same if the statement has a reason. */
const UNTIL_NOW =
  /\b(?:is|are|'s|'re) (?:now|still|also still|not yet|unused)\b|\byet\b|\bstill (?:\w+ing|needs?|shows?|fails?|open|missing|un\w+|to)\b/;
const FORETELLS = /\bwill (?:now |probably |likely )?(?:fail|break|crash|pass|work|sound|look)\b/;
/** Text in quotation marks, which is not the speaker's own statement. */
const QUOTATION = /"[^"\n]{8,240}"|“[^”\n]{8,240}”/g;
/** Mark of a list of checks. */
const CHECK_MARK = /^\W*[✅❌⚠✔✗☑🔍🚨]/u;

/**
 * Matches words that make a statement a guess. "Could" after the connective belongs to the reason, so a guess
 * is looked for only before it.
 */
const GUESS =
  /\b(?:maybe|perhaps|might|may (?:be|have|not)|could(?: also| just| well)? (?:be|have)|possibl[ey]|potential(?:ly)?|presumably|whether|wonder(?:ing)?|suspect|i guess|not sure|unsure|unclear|hypothesis|hypotheses|one theory|let me (?:check|see|verify|look)|vielleicht|vermutlich|eventuell|peut-être|quizás?|tal vez|talvez)\b|可能|也许|возможно|наверное|かもしれ|아마/;
/** A condition at the start leaves open whether it holds. "It fails if the file is new" states a cause. */
const CONDITION =
  /^(?:\W*(?:and|but|so|or|now|then|also|even|only)\b)?\W*if (?:it|the|this|that|you|we|i|there)\b/;
const LIKELY = /\b(?:probably|likely|seems?|appears?|looks like|i think|i believe|wahrscheinlich)\b/;

const PLAN =
  /^(?:(?:ok(?:ay)?|now|so|then|next|great|good|perfect|right|first|finally|and|also)[,!. ]+)*(?:let me|i'?ll|i will|i need to|i should|i'm going to|we'?ll|we need to|let'?s|next,|first,|looking at|checking|running|now (?:update|add|fix|run)|(?:现在)?让我|我来|接下来|теперь|давай|сейчас|次に|まず|ich werde|je vais|voy a)/;
/** Verbs of inspection. A plan to inspect something is no decision, whatever its reason is. */
const INSPECTS =
  /^(?:\W*\w+[,!. ]+){0,2}(?:let me|i'?ll|i will|i need to|i should|i'm going to|we'?ll|let's) (?:also |now |just |first |quickly |carefully )*(?:check|look|read|see|verify|run|search|explore|find|understand|investigate|examine|test|view|try|analy[sz]e|inspect|debug|think|re-?read|get|grep|confirm|trace|review|figure|dig|compare|start|continue)\b/;
/** Start of an observation, which can state anything after it. */
const LOOKS = /^(?:\W*\w+[,!. ]+){0,2}(?:looking at|checking|running)\b/;
const OFFER = /\b(?:would you like|do you want|shall i|should i|let me know|want me to|feel free)\b/;
const PREDICTION =
  /\b(?:should (?:now |then |all )?(?:pass|work|be (?:completely |all )?(?:green|fixed|fine|working)))\b/;
/** Emphatic statement that announces a cause in the next sentence. */
const ANNOUNCEMENT =
  /^\W*(?:(?:ah|oh|ok(?:ay)?|aha|wait|great|perfect|good|yes|right|interesting|now|excellent)[\s,!.—–-]+){0,3}(?:i (?:can )?(?:now )?(?:see|found|think i found|know|understand|remember)|(?:i(?:'ve| have) )?(?:found|identified|spotted|located)|there(?:'s| is|'s) (?:it|the (?:issue|problem|bug))|that(?:'s| is) (?:it|the (?:issue|problem|bug))|here(?:'s| is) (?:it|the (?:issue|problem|bug|cause)))\b.{0,80}$/;
const ANNOUNCED_THING =
  /\b(?:issue|problem|bug|cause|culprit|flow|mechanism|difference|picture|situation|it|why|what(?:'s| is) (?:happening|going on|wrong)|mistake|reason|error)\W*$/;
/** Heading of a part about causes or decisions. */
const HEADING =
  /^(?:\d{1,2}[.)] ?)?(?:the |key |main |design )?(?:root[- ]causes?|causes?|problem|issue|bug|what (?:went wrong|happened|was wrong|broke)|diagnosis|why\b.{0,40}|decisions?\b.{0,40}|(?:the )?(?:trap|pitfall|catch|gotcha|constraint|limitation|caveat)s?\b.{0,40}|rationale|reason(?:s|ing)?|trade-?offs?|(?:the )?fix(?:es)?|solutions?|approach)\b/;
const HEADING_DECIDES = /decision|approach|solution|fix/;
const HEADING_EXPLAINS = /rationale|trade|why|reason/;
/** A list of limits has no cause. A single trap does. */
const HEADING_LIMITS = /^(?:the )?(?:traps|pitfalls|gotchas|constraint|limitation|caveat)/;
/** Heading of things that are not done. Its statements say the contrary without it. */
const HEADING_SKIPS =
  /^(?:\d{1,2}[.)] ?)?(?:[\w-]{1,20} ?\/ ?)?(?:intentionally |deliberately |already )?(?:skip(?:ped|ping)?|won'?t (?:fix|do)|defer(?:red)?|not (?:doing|done|fixing|worth|in scope|included)|out of scope|non-?goals?|reject(?:ed)?|dismiss(?:ed)?|ignor(?:ed|ing)|left (?:alone|out|as)|intentional)\b.{0,60}$/;
/** Such a heading in the form of advice. */
const HEADING_ADVISES = /\bskip\b|candidates?|questionable/;
/** Heading of findings, plans and questions, below which nothing is decided. */
const HEADING_UNDECIDED =
  /\b(?:options|alternatives|choices|open|questions?|proposals?|recommend\w*|suggest\w*|ideas?|next steps?|todo|plan|phases?|steps|future|findings?|feedback|comments?|review|issues|non-issues|problems|bugs|risks?|defects?|observations?|verified|verification|summary|status|results?)\b/;

/** Returns true for an announced change, which is no inspection. */
export function announcesChange(sentence: string): boolean {
  const lower = sentence.toLowerCase().replace(/’/g, "'");
  return PLAN.test(lower) && !INSPECTS.test(lower) && CHANGES.test(lower);
}

/** Returns true for a sentence that announces the next step. */
export const isPlan = (sentence: string): boolean => PLAN.test(sentence.toLowerCase().replace(/’/g, "'"));

/** Returns true for a plan to look closer. */
export const inspects = (sentence: string): boolean =>
  INSPECTS.test(sentence.toLowerCase().replace(/’/g, "'"));

/** Verbs of a change to code or settings. */
const CHANGES =
  /\b(?:add|remove|delete|drop|merge|move|rename|replace|change|update|fix|revert|restore|rewrite|switch|use|make|convert|extract|split|exclude|include|disable|enable|skip|keep|wrap|simplify)\b/;

/** Returns the type of a sentence, or undefined if the sentence states no reason. */
export function reasonTypeOf(sentence: string, by: FactAuthor): ReasonType | undefined {
  const lower = plainWords(sentence);
  if (/[?？]\W{0,4}$/.test(lower) || OFFER.test(lower) || PREDICTION.test(lower)) return undefined;
  if (isGuess(sentence, by) || isOptionList(sentence) || EMPTY_CORRECTION.test(lower)) return undefined;
  const hasReason = CONNECTIVES.test(lower) && !SINCE_A_TIME.test(lower);
  if (INSPECTS.test(lower)) return undefined;
  if (by === "assistant" && PLAN.test(lower) && !LOOKS.test(lower)) {
    const isChoice = hasReason || CONTRAST.test(lower);
    return isChoice ? "decision" : undefined;
  }
  if (CORRECTIONS.some((cue) => cue.test(lower))) return "correction";
  if (by === "user") return userTypeOf(lower, hasReason);
  if (PROPOSES.test(lower)) return "reason";
  if (COULD.test(lower)) return hasReason ? "reason" : undefined;
  const isPassing = UNTIL_NOW.test(lower) || FORETELLS.test(lower);
  const isMomentary = isPassing || MOMENTARY.test(lower);
  if (ROOT_CAUSES.some((cue) => cue.test(lower)))
    return isPassing || (isMomentary && !hasReason) ? undefined : "root-cause";
  if (decides(lower)) return "decision";
  return (hasReason || POINTS.test(lower)) && !isMomentary ? "reason" : undefined;
}

/** Returns the type of a user's sentence. */
function userTypeOf(lower: string, hasReason: boolean): ReasonType | undefined {
  if (CHECK_MARK.test(lower) || FORETELLS.test(lower)) return undefined;
  if (ROOT_CAUSES.some((cue) => cue.test(lower))) return "root-cause";
  const isChoice = hasReason || DECISIONS.some((cue) => cue.test(lower)) || CONTRAST.test(lower);
  if (CHOOSES.test(lower) && isChoice) return "decision";
  return hasReason ? "reason" : undefined;
}

const decides = (lower: string): boolean =>
  DECISIONS.some((cue) => cue.test(lower)) ||
  ADVISES_AGAINST.test(lower) ||
  (CONTRAST.test(lower) && OWN_WORK.test(lower));

const plainWords = (sentence: string): string =>
  sentence
    .toLowerCase()
    .replace(/[’`]/g, (mark) => (mark === "’" ? "'" : ""))
    .replace(QUOTATION, '"…"');

/** Returns true if a sentence leaves open whether its statement holds. */
export function isGuess(sentence: string, by: FactAuthor): boolean {
  const lower = plainWords(sentence);
  const connective = CONNECTIVES.exec(lower)?.index ?? 0;
  // A connective at the start leaves nothing before it, so the whole sentence is searched.
  const claim = connective > 0 ? lower.slice(0, connective) : lower;
  return GUESS.test(claim) || CONDITION.test(claim) || (by === "assistant" && LIKELY.test(claim));
}

/** Returns true if a sentence announces possibilities, none of which is chosen yet. */
export const isOptionList = (sentence: string): boolean => {
  const lower = plainWords(sentence);
  return OPTIONS.test(lower) || OPTIONS_ALONE.test(lower);
};

/** Emphatic agreement with the user, whose next sentence states what was wrong. */
const AGREEMENT =
  /^\W*(?:(?:ah|oh|yes|ok(?:ay)?|hmm)[\s,!.]+)?(?:you(?:'re| are) (?:absolutely |completely |totally |quite )?(?:right|correct)|(?:good|great) catch|my mistake|my bad|(?:i )?apologi[sz]e|sorry)\W*$/;
const UNDERSTOOD = /^\W*(?:(?:ah|oh|ok(?:ay)?)[\s,!.]+)?(?:now )?i (?:now )?(?:see|understand|get it)\W*$/;

/**
 * Returns the type of the next sentence if a sentence only announces it, as in "Found the problem!". Returns
 * undefined for other sentences.
 */
export function announcedType(sentence: string): ReasonType | undefined {
  const lower = sentence.toLowerCase().replace(/’/g, "'");
  if (AGREEMENT.test(lower)) return "correction";
  if (UNDERSTOOD.test(lower)) return "reason";
  const ending = lower.replace(/[\s!.:*]+$/, "");
  if (!ANNOUNCEMENT.test(lower) || !ANNOUNCED_THING.test(ending)) return undefined;
  return /\b(?:flow|mechanism|difference|picture|situation)$/.test(ending) ? "reason" : "root-cause";
}

/**
 * Meaning of a heading for the statements below it. `skipped`: the statements are decisions against something,
 * and say so only with the heading. `skippable`: the same as advice. `undecided`: they are no decisions. Otherwise the type of the statements,
 * or undefined if the heading names no reason.
 */
export function headingType(heading: string): ReasonType | "skipped" | "skippable" | "undecided" | undefined {
  const lower = heading
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}]+/u, "")
    .replace(/’/g, "'");
  if (HEADING_SKIPS.test(lower)) return HEADING_ADVISES.test(lower) ? "skippable" : "skipped";
  if (!HEADING.test(lower)) return HEADING_UNDECIDED.test(lower) ? "undecided" : undefined;
  if (HEADING_LIMITS.test(lower) || HEADING_EXPLAINS.test(lower)) return "reason";
  return HEADING_DECIDES.test(lower) && !/cause|problem|issue|bug/.test(lower) ? "decision" : "root-cause";
}

/** Returns true if a sentence continues the statement before it. */
export const continuesReason = (sentence: string): boolean =>
  /^(?:because|this (?:is|was|means|meant|happens|happened|caused|causes|broke|breaks|explains)|that(?:'s| is) why|which|so |but |however|therefore|otherwise|the reason|as a result|hence|it should|weil|deshalb|因为|поэтому|なぜなら)/i.test(
    sentence,
  );

/** Returns true if a sentence starts with a conclusion or a pronoun, so that it needs the sentence before it. */
export const refersBack = (sentence: string): boolean =>
  /^\W*(?:so|but|therefore|thus|hence|then|otherwise|instead|as a result|consequently|which|it|its|they|this|that|these|those|both|neither|because of (?:this|that)|deshalb|因此|所以|поэтому|そのため|그래서)(?:\b|(?=[^a-z]))/i.test(
    sentence,
  ) || isUnresolved(sentence);

/** Pronoun at the start that refers to a thing of an earlier sentence. */
const PRONOUN =
  /^\W*(?:(?:so|but|and|also|perfect|great|yes|now|then|good|wait)[\s,!.]+){0,2}(?:it(?! turn)|its|they|(?:this|that|these|those)(?='|\s+(?:is|was|are|were|has|had|have|will|would|could|can|also|only|way|should|might|may|does|did|makes?|means?|meant|made|ensures?|keeps?|lets?|allows?|prevents?|avoids?|causes?|caused|breaks?|broke|happens?|happened|explains?|explained|prints?|aligns?|gives?|returns?|reads?|needs?)\b))(?=[\s'])/i;
/** Announced change to a thing that only an earlier sentence names. */
const CHANGES_PRONOUN =
  /^\W*(?:(?:now|so|then|ok(?:ay)?|also)[,\s]+)?(?:let me|i'?ll|i will|i need to|let's) \w+ (?:\w+ )?(?:it|this|that|them|these|those)(?:\s+(?:back|instead|to|and|since|because|so|from|in|into|for|too|now|as)\b|\W*$)/i;

/** Returns true if only an earlier sentence tells what the sentence is about. */
export const isUnresolved = (sentence: string): boolean =>
  PRONOUN.test(sentence) || CHANGES_PRONOUN.test(sentence);

/** Words of a sentence that says what is, what is not, or what is different. */
const STATE =
  /\b(?:cannot|not|never|no longer|no|none|nothing|neither|only|already|always|must|wrong|invalid|missing|instead|still|even|fails?|failed|breaks?|broke|unused|empty|same|different|rather|without|except|unless|directly|before|after)\b|n't\b|n’t\b|不|没|не\b|ない|않/i;

export const saysHowThingsAre = (sentence: string): boolean => STATE.test(sentence);

/** Matches words at the start of a statement that carry no content. "The issue is not" does carry content. */
const LEAD_IN =
  /^[^\p{L}\p{N}`"'(]*(?:(?:ah|oh|aha|ok(?:ay)?|great|perfect|yes|right|good|interesting|exactly|hmm|so|now|well)[\s,.!—–-]+){0,3}(?:(?:you'?re (?:absolutely |completely |totally )?right|i (?:can )?(?:now )?see|found (?:it|the (?:issue|problem|bug))|(?:it )?turns out)[\s,.!:;—–-]+(?:that )?)?(?:the (?:issue|problem|bug|cause|root cause|reason)(?: here)? (?:is|was)(?: that| because)? (?!not\b|n't))?/iu;

/** Returns the length of the words before the content of a statement. */
export const leadInLength = (sentence: string): number => LEAD_IN.exec(sentence)?.[0].length ?? 0;

/** Returns the position of the first reason within a sentence, or -1. */
export const connectiveAt = (sentence: string): number => sentence.toLowerCase().search(CONNECTIVES);
