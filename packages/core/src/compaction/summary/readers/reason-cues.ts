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
const BE = "(?:is|was|were|are|lies|lay|came|comes|stems|stemmed|turned out)";

const ROOT_CAUSES: readonly RegExp[] = [
  /\broot[- ]caus/,
  new RegExp(
    `\\b(?:the|that's the|that is the|my|our|one|another) (?:${WHICH} ){0,2}(?:[\\w-]+ ){0,2}(?:${TROUBLE})s?(?: here| there| now| though)?(?: (?:with|in|of|for|on|behind|from) [^.;:]{1,60})? ${BE}\\b`,
  ),
  new RegExp(`^(?:\\W*\\d?\\W*)(?:the )?(?:${WHICH} )?(?:${TROUBLE})(?: \\d{1,2})?\\W{0,4}:`),
  new RegExp(
    `\\b(?:see|found|spotted|identified|know|hit) (?:the|a|another) (?:[\\w-]+ )?(?:${TROUBLE})s?\\b(?: (?:here|now))?[\\s,]*[—–:-].{16}`,
  ),
  /\b(?:caused by|results? from|resulted from|stems? from|stemmed from|comes? from the|triggered by|is what (?:breaks|broke|causes|caused|made)|to blame)\b/,
  /\b(?:turns out|turned out|it turns out)\b/,
  /\b(?:fails?|failed|failing|broken?|breaks|crash(?:es|ed)?|hangs)\b[^.:—–]{0,80} [—–-] .{16}/,
  /\bpre-?existing\b|\b(?:unrelated|not related) to\b/,
  /\b(?:fail(?:s|ed|ing|ure)?|br(?:oke|oken|eaks|eaking)|crash(?:es|ed|ing)?|hangs?|hung|wrong|missing|lost|stuck|red|flaky|slow|empty|reject(?:s|ed)|error(?:s|ed)?|block(?:s|ed|ing)|prevent(?:s|ed|ing)?|does(?:n't| not) work|did(?:n't| not) work|not work(?:s|ing)?|(?:not|n't) (?:match|find|found|exist|run|ran|load|apply|fire|trigger|show|update|called|set|get|detect|detected|recogni[sz]ed?)\w*)\b.{0,120}?\b(?:because|since|due to|as a result of)\b/,
  /\b(?:because|since|due to)\b.{0,120}?\b(?:fail(?:s|ed|ing)?|br(?:oke|eaks)|crash(?:es|ed)|hangs?|hung|never (?:runs?|ran|fires?|fired|called|set)|(?:does|do|did|is|are|was|were|ca|could|has|have)(?:n't| not|nnot))\b/,
  /\b(?:that|this|which)(?:'s| is| was| also)? (?:explains?|explained|why)\b/,
  /\bthe reason (?:is|was|why|for|that|it|this|they|we)\b/,
  /\bgrundursache|\bdas problem (?:ist|war|liegt|lag)|\b(?:liegt|lag) (?:daran|an)|\b(?:der fehler|die ursache) (?:ist|war|liegt|lag)|\ble problème (?:est|était|vient|venait)|\bla cause (?:est|était)|\bel problema (?:es|era)|\bla causa (?:es|era)|\bo problema (?:é|era)|\ba causa (?:é|era)|\bil problema (?:è|era)/,
  /根本原因|根因|问题(?:是|在于|出在)|原因(?:是|在于)|其实是|коренная причина|проблема (?:в|была)|причина (?:в|была|—)|оказал(?:ось|ся|ась)|原因は|問題は|ためでした|원인은|문제는|때문(?:입니다|이었)/,
];

const CORRECTIONS: readonly RegExp[] = [
  /\b(?:i|we)(?: was| were|'d been| had been) (?:wrong|mistaken|incorrect)\b/,
  /\b(?:i|we)(?:'d| had)? (?:\w+ly )?(?:assumed|thought|believed|expected|figured|supposed|claimed)\b.{0,200}?\b(?:but|however|actually|in fact|instead|wrong|not)\b/,
  /\b(?:i|we) (?:misread|misunderstood|misinterpreted|misdiagnosed|mistook|overlooked|confused|got (?:it|this|that) wrong)\b/,
  /\bmy (?:\w+ )?(?:assumption|claim|statement|diagnosis|reading|explanation|theory|understanding|analysis)\b.{0,60}?\b(?:was|is|were) (?:wrong|incorrect|mistaken|off|outdated|false)\b/,
  /^\W*you(?:'re| are|r) (?:absolutely |completely |totally |quite |so )?(?:right|correct)\b[\s,.!:;—–-]{1,5}.{20}/,
  /^(?:wait|oh wait|hold on|hmm|no|actually|correction|scratch that|on second thought)\b[\s,.:!—–-]+.{0,160}?\b(?:not|n't|wrong|already|actually|should|instead|only|was|is)\b/,
  /\bthat(?:'s| is| was)(?: not|n't) (?:actually |quite |even )?(?:right|correct|true|accurate|the (?:problem|issue|cause|case|bug|reason))\b|\bthat(?:'s| is| was) (?:wrong|incorrect|false)\b/,
  /\b(?:is|was|were|are)(?: not|n't) (?:actually )?(?:the|a|an) (?:\w+ ){0,2}(?:cause|problem|issue|bug|culprit|reason|regression)\b/,
  /\b(?:feedback|review(?:er)?|comment|suggestion|finding|warning|claim|report|advice|linter|bot)(?:'s)?(?: [\w-]+){0,3} (?:is|was|are|were) (?:actually |simply |just )?(?:wrong|incorrect|mistaken|outdated|invalid|not valid|false|stale)\b/,
  new RegExp(`\\bnot (?:a|an) (?:real |actual |true )?(?:[\\w-]+ )?(?:${TROUBLE})\\b`),
  /\balready (?:covered|handled|encoded|escaped|guarded|checked|implemented|validated|closed|documented|enforced)\b/,
  /\b(?:was|were) (?:simply |just |plain |also |all )?(?:wrong|mistaken|backwards)\b|\ba correction\b/,
  /\bcontrary to\b|\bdespite what (?:i|we)\b|\bnot .{2,80}? as (?:i|we) (?:thought|assumed|said|claimed|expected)\b/,
  /\b(?:ich|wir) (?:lag|lagen|hatte\w*) (?:falsch|unrecht)|\bje me suis trompé|\bme equivoqué|\bя ошиб(?:ся|лась)|我(?:之前)?(?:错了|弄错|误以为)|間違(?:え|って)|勘違い|제가 틀렸/,
];

const DECISIONS: readonly RegExp[] = [
  /\b(?:decid(?:ed?|ing)|decision|chose|chosen|choosing|opt(?:ed|ing) (?:for|to)|went with|going with|go with|gone with|settled? on|agreed (?:to|on|that)|stick(?:ing)? with|stuck with|deliberately|intentional(?:ly)?|not worth|on purpose|by design|trade-?offs?|won't fix|out of scope)\b/,
  /\b(?:i|we) (?:won't|will not|wouldn't|would not|(?:am|'m|are|'re) not going to) \w|\bskip(?:ping)? (?:this|that|it|these|those|the)\b/,
  /\b(?:must|has to|have to|needs? to|should) (?:be \w+ )?[^.;:]{1,60}(?:,| [—–-]) not \w/,
  /\b(?:i|we|i'd|we'd) (?:would )?(?:suggest|recommend|propose|advise|prefer|favou?r)\b.{0,160}?(?: [—–-] |: |;|\b(?:because|since|so|as)\b).{12}/,
  /\b(?:no need (?:for|to)|(?:don't|doesn't|didn't|won't|not) need(?:ed)? (?:to|the|a|an|any|for|it|this))\b|\b(?:instead|rather than|as opposed to|over the alternative|in favou?r of|no longer (?:need|use|uses|call|calls))\b/,
  /\bthe (?:right|better|best|cleaner|cleanest|simpler|simplest|correct|proper|safer|safest|easiest|minimal|idiomatic) (?:\w+ )?(?:approach|way|fix|solution|place|choice|option|thing|design|move|answer)\b.{0,40}?\b(?:is|was|would be|here)\b/,
  /\b(?:the|my|our) (?:\w+ )?(?:fix|solution|approach|workaround|remedy|design|choice|resolution)\b(?: here)?(?: (?:for|to) [^.;:]{1,60})?(?: (?:is|was)\b|\W{0,4}:)/,
  /^(?:\W*)(?:decision|fix|solution|resolution|approach|rationale|why|trade-?off|choice|recommendation)\W{0,4}:/,
  /\b(?:i|we|you) (?:should|must|will|would|'ll|'d)? ?(?:prefer(?:red)?|recommend(?:ed)?|keep|kept|dropped|drop|avoid(?:ed)?|skip(?:ped)?|left|leave|reus(?:e|ed)|mov(?:e|ed)|switch(?:ed)? to|replaced|revert(?:ed)?|made|use|used|put|store[ds]?)\b.{0,160}?\b(?:because|since|so that|so (?:it|we|the|they|users?)|to (?:avoid|prevent|keep|ensure|allow|match|make)|otherwise)\b/,
  /\b(?:entschieden|entschluss|statt|anstatt|wir nehmen|décidé|au lieu|plutôt que|decid(?:í|imos|ido)|en lugar|en vez|em vez|invece di)\b/,
  /决定|选择了|采用|改为|而不是|решил|решено|выбрал|вместо|決め|採用|ではなく|결정|대신/,
];

const CONNECTIVES =
  /, (?:so|making|leaving|breaking) (?!far\b)|\bso (?:the|it|it's|we|they|this|that's|there|i|you|no|its|a|an|any|every|all|both|each|only|nothing|neither|don't|do not|never)\b|, as (?:the|it|they|we|there|this)\b|\b(?:which (?:leaves|lets|forces|prevents|happens|explains|would)|would (?:have )?(?:cost|mean|meant|made|leave|left|break|broken|lose|lost|require|required|need|needed))\b|\b(?:because|since|so that|which (?:means|meant|is why|caused|causes|breaks|broke|led|would|makes|made)|th(?:is|at) (?:means|meant|is because|was because|happens because|happened because|ensures|avoids|prevents|keeps|way|makes|made|causes|caused|breaks|broke|would)|that's why|therefore|otherwise|due to|to avoid|to prevent|to bypass|to work around|in order to|thanks to|as a result|causing|resulting in|leading to|for (?:backwards? compat\w*|consistency|simplicity|safety|clarity|performance)|weil|deshalb|denn|parce que|car|puisque|porque|ya que|perché)\b|因为|因此|потому что|поэтому|так как|なぜなら|ので|ため、|때문에|그래서/;

/** Advice against something. In a user's words it is an instruction. */
const ADVISES_AGAINST =
  /^\W*(?:so |then |and |but |therefore |instead,? )?(?:don't|do not|never) (?!worry|know|think|have|see|want|need|forget)\w+/;

/** Statements that give a reason without a connective. */
const POINTS =
  /\b(?:the|one|my) (?:key |main |only |real |important |crucial )?(?:insight|difference|catch|trick|point|finding|takeaway|gotcha|caveat|limitation|constraint)(?: here)? (?:is|was)\b|^(?:\W*(?:ah|oh|ok(?:ay)?)[\s,!.]+)?i see\b[\s,.:!—–-]+.{24}|\bi (?:can )?(?:now )?(?:can )?see (?:that|how|why)\b|(?:,| [—–-]) not (?!sure|yet|that|too|much|bad|really|all|bad)\w/;

/** `since` in "since the last release" names a time and no reason. */
const SINCE_A_TIME =
  /\bsince (?:the (?:last|first|start|beginning|previous|initial)|then|version|v?\d|yesterday|today|last|monday|tuesday|wednesday|thursday|friday)\b/;

/** Verbs of a choice that a user announces. */
const CHOOSES =
  /\b(?:let'?s|let us|we(?:'ll| will| should| want| need| can| could| don'?t| do not| decided)?|i(?:'d| would|'ll| will)? (?:like|want|prefer|rather|need|keep|use|go|choose|chose|pick|think we|don'?t want)|use|keep|drop|skip|go with|stick|stay|make it|leave|remove|avoid|prefer|no need|better|just)\b/;

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
  /^(?:\d{1,2}[.)] ?)?(?:the |key |main )?(?:root[- ]causes?|causes?|problems?|issues?|bugs?|what (?:went wrong|happened|was wrong|broke)|diagnosis|why\b.{0,40}|decisions?|design decisions?|(?:the )?(?:trap|pitfall|catch|gotcha|constraint|limitation|caveat)s?\b.{0,40}|(?:[\w-]{1,20} ?\/ ?)?(?:skip(?:ped|ping)?|won'?t (?:fix|do)|defer(?:red)?|not (?:doing|fixing|worth)|intentional|out of scope|reject(?:ed)?|dismiss(?:ed)?|ignor(?:ed|ing))\b.{0,40}|rationale|reason(?:s|ing)?|trade-?offs?|(?:the )?fix(?:es)?|solutions?|approach|key (?:findings?|insights?|differences?|decisions?))\b/;
const HEADING_DECIDES =
  /decision|rationale|trade|approach|solution|fix|why|reason|skip|won'?t|defer|not doing|not worth|intentional|scope|reject|dismiss|ignor/;
/** A list of limits has no cause. A single trap does. */
const HEADING_LIMITS = /^(?:the )?(?:traps|pitfalls|gotchas|constraint|limitation|caveat)/;

/** Returns true for an announced change, which is no inspection. */
export function announcesChange(sentence: string): boolean {
  const lower = sentence.toLowerCase().replace(/’/g, "'");
  return PLAN.test(lower) && !INSPECTS.test(lower) && CHANGES.test(lower);
}

/** Verbs of a change to code or settings. */
const CHANGES =
  /\b(?:add|remove|delete|drop|merge|move|rename|replace|change|update|fix|revert|restore|rewrite|switch|use|make|convert|extract|split|exclude|include|disable|enable|skip|keep|wrap|simplify)\b/;

/** Returns the type of a sentence, or undefined if the sentence states no reason. */
export function reasonTypeOf(sentence: string, by: FactAuthor): ReasonType | undefined {
  const lower = sentence.toLowerCase().replace(/[’`]/g, (mark) => (mark === "’" ? "'" : ""));
  if (/[?？]\W{0,4}$/.test(lower) || OFFER.test(lower) || PREDICTION.test(lower)) return undefined;
  if (isGuess(lower, by)) return undefined;
  const hasReason = CONNECTIVES.test(lower) && !SINCE_A_TIME.test(lower);
  const decides =
    DECISIONS.some((cue) => cue.test(lower)) || (by === "assistant" && ADVISES_AGAINST.test(lower));
  if (PLAN.test(lower)) {
    return !INSPECTS.test(lower) && (hasReason || decides) ? "decision" : undefined;
  }
  if (CORRECTIONS.some((cue) => cue.test(lower))) return "correction";
  if (ROOT_CAUSES.some((cue) => cue.test(lower))) return "root-cause";
  if (decides) return "decision";
  if (by === "user" && hasReason && CHOOSES.test(lower)) return "decision";
  return hasReason || POINTS.test(lower) ? "reason" : undefined;
}

function isGuess(lower: string, by: FactAuthor): boolean {
  const connective = CONNECTIVES.exec(lower)?.index ?? 0;
  // A connective at the start leaves nothing before it, so the whole sentence is searched.
  const claim = connective > 0 ? lower.slice(0, connective) : lower;
  return GUESS.test(claim) || CONDITION.test(claim) || (by === "assistant" && LIKELY.test(claim));
}

/** Emphatic agreement with the user, whose next sentence states what was wrong. */
const AGREEMENT =
  /^\W*(?:(?:ah|oh|yes|ok(?:ay)?|hmm)[\s,!.]+)?(?:you(?:'re| are) (?:absolutely |completely |totally |quite )?(?:right|correct)|good (?:catch|point|question)|great (?:catch|point)|my mistake|my bad|(?:i )?apologi[sz]e|sorry)\W*$/;
const UNDERSTOOD = /^\W*(?:(?:ah|oh|ok(?:ay)?)[\s,!.]+)?(?:now )?i (?:now )?(?:see|understand|get it)\W*$/;

/**
 * Returns the type of the next sentence if a sentence only announces it, as in "Found the problem!". Returns
 * undefined for other sentences.
 */
export function announcedType(sentence: string): ReasonType | undefined {
  const lower = sentence.toLowerCase().replace(/’/g, "'");
  if (AGREEMENT.test(lower)) return "correction";
  if (UNDERSTOOD.test(lower)) return "root-cause";
  const isAnnounced = ANNOUNCEMENT.test(lower) && ANNOUNCED_THING.test(lower.replace(/[\s!.:*]+$/, ""));
  return isAnnounced ? "root-cause" : undefined;
}

/** Returns the type of the statements below a heading, or undefined if the heading names no reason. */
export function headingType(heading: string): ReasonType | undefined {
  const lower = heading.toLowerCase().replace(/^[^\p{L}\p{N}]+/u, "");
  if (!HEADING.test(lower)) return undefined;
  if (HEADING_LIMITS.test(lower)) return "reason";
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
  );

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
