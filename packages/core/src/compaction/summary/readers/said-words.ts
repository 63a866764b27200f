import { proseSentences } from "./prose.ts";

/** Patterns that recognize, in several languages, what users' words mean for their requests. */

/** Words of a rule that applies beyond the current request. */
const STANDING =
  /(?:^|[\s"'(])(?:always|never|from now on|going forward|in (?:the )?future|every time|whenever|at all times|as a rule|keep in mind|remember (?:to|that)|must(?: not|n'?t)?|immer|niemals|nie|ab jetzt|ab sofort|von nun an|in zukunft|künftig|grundsätzlich|toujours|jamais|désormais|dorénavant|à partir de maintenant|siempre|nunca|de ahora en adelante|a partir de ahora|sempre|daqui em diante|всегда|никогда|отныне|впредь|с этого момента)(?=$|[\s,.!?;:'")])|总是|始终|永远|从现在(?:起|开始)|以后|今后|必须|必ず|常に|これから|今後|決して|항상|절대|앞으로|반드시/iu;
const RULE_OPENING =
  /^(?:(?:and|but|also|please|note|important|then|so|ok(?:ay)?|bitte|por favor|пожалуйста)[,:]? )*(?:do not|don'?t|you (?:should|may|can)(?: ?not|n'?t)|(?:i|we) (?:do not|don'?t) want|only|use|prefer|avoid|make sure|ensure|keep|remember|stick (?:to|with)|nutze|verwende|benutze|vermeide|achte|(?:fass|änder|veränder|lösch|mach|push|committe|rühr|nimm|nehm|schreib|füg|entfern|bearbeit|start|führ)\p{L}* (?:[^,.;!?]{1,60} )?(?:nicht|kein\p{L}*)|utilise[rz]?|n'utilise[rz]?|ne \p{L}+ (?:pas|plus)|évite[rz]?|usa|utiliza|evita|no \p{L}+[aei]s|não|используй(?:те)?|не \p{L}+(?:й|йте))(?=$|[\s,.!?;:'")])/iu;
/**
 * A rule at the end of a request, as in "Add a menu, but don't touch the header". The first group is the
 * text before the rule.
 */
const RULE_INSIDE =
  /(?<!\b(?:can|could|will|would|may|might|to) ?)([,;:—–(]? ?(?:\b(?:and|but|just|please|also)\b[, ]*)+|[,;—–(] ?)(?:make sure|ensure|avoid|prefer|keep|never|always|only use|without (?:adding|changing|touching|using|breaking)|(?:do not|don'?t) (?!know|see|think|understand|get|care|remember|mind|worry|forget|have)\p{L})/iu;
/** A short ban without a verb, such as "No new dependencies, please". */
const BAN =
  /^(?:(?:and|but|also|please)[, ]+)*no (?!(?:problem|problems|worries|idea|need|one|way|thanks|longer|luck|change|changes|matter|doubt|errors?)\b)[\p{L}-]+(?: (?!\p{L}+ed\b)[\p{L}-]+){0,3}(?:,? please)?[.!]*$/iu;
/** Words that state how this user or this project works. */
const CUSTOM =
  /^(?:(?:and|but|also|note)[,:]? )*(?:for [^,]{1,60}, )?(?:(?:i|we)(?: would|'d)? (?:(?:actually |generally |personally |strongly |really |usually |normally )?prefer|rather|use|only use|never use)|our (?:convention|style|rule|policy|standard)s?) /iu;
/** Words of an idea that is not decided yet, as in "One way would be to always use the parent color". */
const UNDECIDED =
  /\b(?:would|could|might) be to\b|\btheoretically\b|\bone (?:option|way|idea) (?:is|would)\b/i;
const RULE_ANYWHERE =
  /^请?(?:使用|用|只用|避免)|不要|禁止|^别|を使って|ないで(?:ください|下さい|くれ|ね|よ|$|[。！、])|してはいけ|써 ?줘|사용해|지 ?마(?:세요|십시오|라|요|$|[.!,\s])/u;

/** A question that the user wrote without a question mark. */
const UNMARKED_QUESTION =
  /^(?:(?:and|but|so|ok(?:ay)?|also)[, ]+)*(?:(?:what|which|where|who|why|how) (?:is|are|was|were|do|does|did|many|much|come|far|long|often)|what'?s|where'?s|how'?s)\b/i;

/** Returns true if the sentence is a question, with or without a question mark. */
export const isQuestion = (sentence: string): boolean =>
  /[?？؟][\s)"'”’*_`]*$/.test(sentence) || UNMARKED_QUESTION.test(sentence);

/** Request in the form of a question. */
const POLITE =
  /^(?:and |so |also |please )*(?:can|could|will|would) (?:you|we) |^(?:kannst|könntest) du |^(?:peux|pourrais)-tu |^(?:puedes|podrías) /i;

/** Returns true if the sentence states a rule that applies beyond the current task. */
export function saysRule(sentence: string): boolean {
  if (isCallOffAlone(sentence) || UNDECIDED.test(sentence)) return false;
  if (/[?？]$/.test(sentence)) return POLITE.test(sentence) && STANDING.test(sentence);
  if (saysStrictRule(sentence) || BAN.test(sentence)) return true;
  return RULE_OPENING.test(sentence) || RULE_INSIDE.test(sentence);
}

/**
 * Returns the rule in a sentence, verbatim. If the sentence also says something else, returns only the clause
 * with the rule.
 */
export function ruleIn(sentence: string): string | undefined {
  if (!saysRule(sentence)) return undefined;
  const isRuleAlone =
    !asksForWork(sentence) &&
    (saysStrictRule(sentence) || BAN.test(sentence) || RULE_OPENING.test(sentence) || POLITE.test(sentence));
  const inside = isRuleAlone ? null : RULE_INSIDE.exec(sentence);
  return inside === null ? sentence : sentence.slice(inside.index + (inside[1]?.length ?? 0));
}

/**
 * Returns true if the words alone show that the rule applies beyond the current task. A word such as "use" is
 * not enough, because a long description of a task is full of it.
 */
export function saysStrictRule(sentence: string): boolean {
  if (isCallOffAlone(sentence) || UNDECIDED.test(sentence) || /[?？]$/.test(sentence)) return false;
  if (STANDING.test(sentence) || RULE_ANYWHERE.test(sentence) || CUSTOM.test(sentence)) return true;
  return STRICT_OPENING.test(sentence) && RULE_OPENING.test(sentence);
}

/** Returns true if the sentence says that it applies beyond the current task, as with "always" or "from now on". */
export const saysLasting = (sentence: string): boolean => STANDING.test(sentence) || CUSTOM.test(sentence);

const STRICT_OPENING =
  /^(?:(?:and|but|also|please|note|important)[,:]? )*(?:do not|don'?t|you (?:should|may|can)(?: ?not|n'?t)|(?:i|we) (?:do not|don'?t) want|only|prefer|avoid|keep|remember)/i;

/** A question word at the start asks for words, as in "How can we do it?". */
const ASKS_FOR_WORDS =
  /^(?:(?:and|but|so|ok(?:ay)?|also)[, ]+)*(?:what|why|how|when(?= (?:is|are|was|were|do|does|did|will|can|should)\b)|where|which|who|whose|is|are|was|were|do|does|did|has|have|warum|wieso|wie|was|wo|pourquoi|comment|quoi|por qué|cómo|qué|почему|как|что|где)(?=$|[\s,'])/iu;
const CAN_YOU = /(?:^|[\s,(])(?:can|could|will|would) (?:you|we) \p{L}/iu;
const PLEASE = /\b(?:please|pls|bitte|por favor|s'il te plaît)\b|пожалуйста|请|ください|주세요/iu;

/** Returns true for a request in the form of a question, such as "Can you add a test?". */
export const isPoliteRequest = (sentence: string): boolean =>
  POLITE.test(sentence) ||
  PLEASE.test(sentence) ||
  WORK.test(sentence) ||
  (CAN_YOU.test(sentence) && !ASKS_FOR_WORDS.test(sentence));

/** Verbs that ask for work at the start of a sentence. */
const WORK_VERBS =
  "add|adapt|adjust|amend|analy[sz]e|apply|build|bump|change|check|clean|commit|compare|configure|convert|create|debug|delete|deploy|design|document|do(?! not)|draft|explain|explore|extend|extract|find|finish|fix|generate|give|go|handle|help|implement|improve|inspect|install|integrate|investigate|list|look|make(?! sure)|merge|migrate|modify|move|open|optimi[sz]e|plan|port|post|publish|push|read|rebase|redesign|refactor|release|remove|rename|reorgani[sz]e|replace|research|restructure|revert|review|rewrite|rework|run|set|show|simplify|split|start|support|switch|tell|test|translate|try|update|upgrade|validate|verify|work|write";
/** The same in other languages. */
const OTHER_WORK_VERBS =
  "baue?|erstelle?|füge?|schreibe?|ändere?|entferne?|behebe?|prüfe?|ajoute[rz]?|crée[rz]?|corrige[rz]?|écris|añade|agrega|crea|arregla|escribe|добавь(?:те)?|создай(?:те)?|исправь(?:те)?|напиши(?:те)?";
const WORK = new RegExp(
  `^(?:(?:and|but|also|please|then|now|next|so|ok(?:ay)?|first|yes|yeah|great|bitte|cool|well|actually|lastly|finally)[,:.! ]+)*(?:(?:let'?s|let us|go ahead|(?:i|we)(?:'d| would)? (?:want|need|like)(?: you)? to|(?:i|we) need|you (?:should|need to|can)(?! not|n't)|it should|there should) |(?:${WORK_VERBS}|${OTHER_WORK_VERBS})(?=$|[\\s,.!?;:]))|添加|创建|实现|修复|编写|を(?:追加|作成|実装|修正)|(?:추가|작성|구현|수정)해`,
  "iu",
);
/** Work that a later clause asks for, as in "The third is better, implement it". */
const WORK_INSIDE = new RegExp(
  `[,;—–] (?:(?:and|then|so|also|please|now|but|just) )*(?:${WORK_VERBS}) (?:it|them|this|that|these|those|the|an?|all|my|our|your|its)\\b`,
  "i",
);

/** Returns true if the sentence asks for work that can be finished. */
export const asksForWork = (sentence: string): boolean =>
  WORK.test(sentence) || WORK_INSIDE.test(sentence) || (/[?？]$/.test(sentence) && isPoliteRequest(sentence));

/** Words of a sentence that tells something, as in "my account is …" or "there's no reason for …". */
const TELLS =
  /^(?:(?:and|but|so|also|well|ah+|oh|ok(?:ay)?|actually|btw|fyi|note(?: that)?|in that case|for the record)[,.:!]* )*(?:if [^,]{1,160}, (?:which [^,]{1,80}, )?)?(?:i|we|he|she|they|it|this|that|there|my|our|his|her|their|the|these|those|customers|users)(?:['’](?:s|m|re|ve))? \S/i;
/** Words of a sentence that reports a problem or an obligation, so that it asks for work. */
const WANTS =
  /n['’]t\b|\b(?:not|no longer|broke|broken|breaks|bugs?|issues?|problems?|errors?|fail\w*|crash\w*|wrong\w*|incorrect\w*|missing|slow\w*|stuck|hangs?|hung|still|same|weird|strange|ugly|confus\w*|duplicat\w*|twice|leaks?|warnings?|exceptions?|too|should|must|needs?|want\w*|wish|would (?:be|like|love|prefer)|ha(?:s|ve) to|cannot|lost|empty|instead|un(?:resolved|answered)|outstanding|pending|regress\w*|flaky)\b/i;

/** Returns true if the sentence only tells something: it asks for nothing and reports no problem. */
export const onlyTells = (sentence: string): boolean =>
  TELLS.test(sentence) && !WANTS.test(sentence) && !/[?？؟]/.test(sentence) && !asksForWork(sentence);

/** Returns true for lasting information about the user or the project, as in "my account is …" or "we use …". */
export const informs = (sentence: string): boolean =>
  /^(?:(?:and|but|also|btw|fyi|note)[,:]? )*(?:my|our|i(?:'m| am| use| have| work)|we(?:'re| are| use| have| work| run))\b/i.test(
    sentence,
  );

/** A command line that the user sends as a message, to run or test what the agent made. */
const COMMAND_LINE =
  /^[$>]? ?(?:(?:python3?|node|deno|bun|ruby|php|perl|java|bash|sh) (?:run )?[\w./-]+\.\w{1,5}|(?:npm|npx|pnpm|yarn|bun|cargo|mvn|gradle|dotnet) (?:run |exec )?[\w:@./-]+|\.\/[\w./-]+|pytest)(?: [^\s?]+){0,8}$/;

/** Returns true if the message is only a command line. It tests the work and asks for nothing new. */
export const isCommandLine = (text: string): boolean => COMMAND_LINE.test(text.trim());

const NEGATION =
  /(?:^|[\s"'(])(?:do not|don'?t|never|no longer|stop|not|without|avoid|nicht|niemals|nie|kein\p{L}*|pas|jamais|n'\p{L}+|nunca|no|не|никогда)(?=$|[\s,.!?;:'")])|不要|别|禁止|不用|しないで|使わない|決して|하지 ?마|쓰지 ?마|절대/iu;

/** Returns true if the sentence forbids something. Two negations, as in "never … without", require it. */
export const isNegative = (sentence: string): boolean =>
  [...sentence.matchAll(new RegExp(NEGATION, "giu"))].length % 2 === 1;

/** Returns true if the words limit themselves to the present task. */
export const isOnlyForNow = (sentence: string): boolean =>
  /\b(?:for now|this time|just (?:this )?once|this once|for (?:the )?moment|today|right now|diesmal|erst ?mal|pour l'instant|por ahora)\b|на этот раз|пока|这次|暂时|今回|이번/iu.test(
    sentence,
  );

const CONTINUATION =
  /^(?:(?:ok(?:ay)?|yes|please|great|good|cool|and|ja|oui|sí|да|好|はい)[,.! ]*)*(?:continue|go on|go ahead|proceed|carry on|keep (?:going|at it)|resume|try again|retry|again|weiter|mach weiter|fortfahren|nochmal|continue[rz]?|vas-y|reprends|sigue|continúa|adelante|продолжай(?:те)?|дальше|ещё раз|继续|接着|再试|続けて|続行|もう一度|계속|다시)(?:$|[\s,.!?;:'")。！])/iu;
const CONTINUATION_CHARS = 80;

/** Returns true if the message asks for nothing new and continues the previous request. */
export const isContinuation = (text: string): boolean =>
  text.length <= CONTINUATION_CHARS && CONTINUATION.test(`${text} `);

const COMPLAINT =
  /(?:^|[\s"'(])(?:still (?:not|no|broken|fail\p{L}*|the same|(?:does|is|ca)n'?t|get\p{L}*|see\p{L}*|happen\p{L}*|wrong|missing)|(?:does|did|do|is|are)(?:n'?t| not) (?:work|fix|show|appear|compil|help)\p{L}*|not (?:working|fixed)|(?:the )?same (?:error|issue|problem|result)|(?:is|are|it'?s) (?:broken|missing)|(?:funktionier|geht|klapp)\p{L}* (?:\p{L}+ )?nicht|immer noch|noch immer|(?:ne )?(?:marche|fonctionne)\p{L}* (?:toujours )?pas|même erreur|no funciona|sigue (?:sin|igual|fallando)|mismo error|не работает|вс[её] ещ[её]|по-прежнему|та же ошибка)(?=$|[\s,.!?;:'")])|还是(?:不|没|报错|一样)|仍然|没有?(?:用|效果|变化)|不起作用|不行|まだ(?:動|直|エラー)|動(?:かない|きません)|直って(?:い)?(?:ない|ません)|同じエラー|여전히|아직도|안 ?(?:돼|되|됩)/iu;
const COMPLAINT_CHARS = 160;

/** A question for a yes or a no asks about the words after it, as in "did you say that we don't show it?". */
const YES_NO_QUESTION =
  /^(?:(?:and|so|but|ok(?:ay)?|wait|hmm+)[, ]+)*(?:was|were|is|are|do|does|did|has|have|can|could|would|should) [^?？]*[?？]$/i;
const STILL = /\b(?:still|same|again|immer noch|toujours)\b/i;

/** Returns true for a question that only asks for a yes or a no. A complaint as a question says "still". */
export const isYesNoQuestion = (sentence: string): boolean =>
  YES_NO_QUESTION.test(sentence) && !STILL.test(sentence);

/** Returns true if the message starts with a complaint about the work. */
export const complains = (text: string): boolean => {
  const opening = text.slice(0, COMPLAINT_CHARS);
  return (
    COMPLAINT.test(opening) &&
    proseSentences(opening).some((sentence) => COMPLAINT.test(sentence) && !isYesNoQuestion(sentence))
  );
};

const FAULT =
  /^(?:\W|\[image\]|(?:but|hmm+|ok(?:ay)?|wait|now|and) )*(?:there(?:['’]s| is| are| seems to be)(?: still| now| also)? (?:an? |another |some |one )?(?:more )?(?:small |big |weird |strange )?(?:bugs?|problems?|issues?|errors?|glitch\w*|regressions?)\b|i(?:['’]m| am)? (?:still |now )?(?:get|see|found|getting|seeing) (?:an? |another |some )?(?:bugs?|problems?|issues?|errors?|exceptions?)\b)/i;

/** Words that say that nothing changed or that something is wrong, as in "all prices now look the same". */
const UNCHANGED =
  /\b(?:all|both|every\w*|still|now) (?:[^\s.,;!?]+ ){0,5}?(?:look|sound|seem|feel|read|behave|is|are|stay|come out)s? (?:(?:all|now|still|exactly|just|completely) )*(?:the same|identical|wrong|off|broken)(?=$|[\s]*[.,;!?\n])/i;

/** Returns true if the message opens with a fault, as in "There is a bug at the start of the line". */
export function reportsFault(text: string): boolean {
  const opening = text.slice(0, COMPLAINT_CHARS);
  const [first = ""] = proseSentences(opening);
  return FAULT.test(opening) || (UNCHANGED.test(first) && !/[?？]\s*$/.test(first));
}

/** Words of thanks that close a request. */
const THANKS = /^(?:(?:ok(?:ay)?|great|perfect|many)[,.! ]*)*(?:thanks?|thank you|thx)\b/i;

const APPROVAL =
  /^(?:(?:ok(?:ay)?|yes|ah|oh|cool|alright)[,.! ]+)*(?:perfect|great|awesome|excellent|nice|good job|well done|(?:it|this|that)(?: now)? (?:seems to )?works?|works(?: now| great| fine)?|lgtm|looks good|all good|super|perfekt|danke|passt|parfait|merci|perfecto|gracias|отлично|спасибо)(?=$|[\s,.!?;:'")])|^(?:谢谢|很好|完美|ありがとう|完璧|고마워|감사)/iu;

/** Returns true if the user is satisfied with the work so far. */
export const approves = (text: string): boolean =>
  (THANKS.test(text) || APPROVAL.test(text)) && !complains(text) && !isContinuation(text);

const ANSWER =
  /^(?:y|n|yes|yep|yeah|no|nope|ok(?:ay)?|sure|right|correct|exactly|do (?:it|that)|please do|sounds good|lgtm|agreed|approved|option|both|neither|all|none|either|(?:the )?(?:first|second|third|last|former|latter)|\d{1,2}|[a-e]|ja|nein|genau|beide|oui|non|d'accord|les deux|sí|si|vale|claro|да|нет|ладно|хорошо)(?=$|[\s,.!?;:'")])|^(?:是|好|可以|对|不|行|はい|いいえ|ええ|お願い|네|예|아니|좋아)/iu;
const ANSWER_CHARS = 60;

/**
 * Returns true if the message answers the question before it. The message does so if it is short, or if its
 * first words show an answer.
 */
export const isAnswer = (text: string): boolean => text.length <= ANSWER_CHARS || ANSWER.test(text);

/** Returns true if the user agrees with the agent. A word of thanks does not count. */
export const agrees = (text: string): boolean => ANSWER.test(text) && !THANKS.test(text);

const FILLERS =
  "(?:(?:please|ok(?:ay)?|actually|no|wait|hmm+|and|so|well|also|just|then|oh|sorry|bitte|nein|doch|ach|non|attends|espera|por favor|нет|стоп|погоди)[,!.…]* )*";
const after = (cues: string): RegExp => new RegExp(`^${FILLERS}(?:${cues})(?=$|[\\s,.!?;:'")…-])`, "iu");

/** Words that cancel the thing named after them. */
const CANCELS = after(
  "never ?mind|nvm|forget|cancel|scrap|skip|abandon|abort|drop (?:it|that|this|the (?:idea|plan))|stop(?: (?:it|that|this|doing|working on))?|(?:there(?:'s| is) )?no need (?:to|for)|(?:we|you|i) (?:don'?t|do not|no longer) (?:need|want|have to)(?: to)?|don'?t (?:bother|do)|let'?s not|leave (?:it|that)(?: out| be| alone)?|" +
    "vergiss|vergesst|lass(?:t)? (?:es|das|den|die)|streich\\p{L}*|brich|abbrechen|(?:wir|du) brauch\\p{L}+|oublie[rz]?|laisse[rz]? tomber|annule[rz]?|(?:on n'a )?plus besoin|olvid(?:a|ar|e)(?:te)?|olvídalo|cancel[ae](?:r)?|déjalo|deja|ya no (?:necesito|hace falta|quiero)|esquece|отмен(?:а|и|ить|яй)(?:те)?|забудь(?:те)?|(?:больше )?не (?:нужно|надо)|хватит",
);
/** Words that cancel an earlier directive, as in "Don't use yarn anymore". */
const NO_MORE = new RegExp(
  `^${FILLERS}(?:don'?t|do not) ([^,.;:!?]{1,80}?) any ?(?:more|longer)(?=$|[\\s,.!?;:])`,
  "iu",
);
const CANCELS_UNSPACED =
  /算了|取消|不用(?:了|做|再)|不做了|不需要了|忘了|別管|やっぱり(?:いい|やめ)|キャンセル|中止|取り消|取りやめ|もう(?:いい|不要)|취소|됐어|그만|필요 ?없|잊어/u;
/** Words that lift a rule. */
const LIFTS = after(
  "(?:you|we) (?:can|may) (?:now|again)|from now on (?:you|we) (?:can|may)|it(?:'s| is) (?:ok(?:ay)?|fine|allowed) (?:now )?to|ignore (?:the|my) (?:rule|instruction)s?(?: about| on)?|(?:you|we) no longer (?:need|have) to|(?:du|wir) (?:darfst|dürfen|kannst) (?:jetzt|wieder)|tu peux maintenant|vous pouvez maintenant|ya puedes|ahora puedes|теперь можно|можно снова",
);
const TURNS_ROUND = after(
  "scratch that|on second thoughts?|change of plans?|new plan|actually,? let'?s not|i changed my mind|planänderung|ich hab\\p{L}* es mir anders überlegt|changement de plan|finalement,? non|cambio de planes?|я передумал\\p{L}*|план меняется",
);
const TURNS_ROUND_UNSPACED = /改主意|计划(?:有)?变|予定変更|計画変更|계획 ?변경|마음(?:이)? 바꿨/u;
const IN_PLACE_OF =
  /(?:^|[\s,])(?:instead of|rather than|in place of|not using|anstelle von|anstatt|statt|au lieu d[eu']|plutôt que|en (?:vez|lugar) de(?:l)?|em vez d[eo]|вместо)\s+([^,.;!?]+)/iu;
/**
 * Matches at most one clause before the words that mean "instead of". Without this limit, a match could start
 * at every position in a long line.
 */
const IN_PLACE_OF_UNSPACED =
  /而不是([^，。；！]+)|([^、。]{1,60}?)(?:ではなく|じゃなくて|の代わりに)|(\S{1,30}(?: \S{1,30})?) ?(?:말고|대신)/u;

export interface Cancellation {
  /**
   * `cancelled`: the user cancels a directive. `lifted`: a rule no longer applies. `turned-round`: the user
   * has another plan and does not say what it replaces. `replaced`: the sentence names the thing that
   * something else replaces.
   */
  readonly how: "cancelled" | "lifted" | "turned-round" | "replaced";
  /** Words that name the cancelled thing, or "" for words such as "it" or "that". */
  readonly what: string;
}

/** Words such as "it" or "that", which refer to an earlier request without naming it. */
const POINTERS: ReadonlySet<string> = new Set(
  (
    "it that this those these them all everything of about the my last previous whole entire one part thing things request task idea plan work what i you said asked told for now anymore any more then completely entirely please " +
    "es das alles den die auftrag bitte mehr cela ça tout eso esto todo lo это всё все про о об 了 吧 です ます だ よ ね して ください 해 줘 해줘 요"
  ).split(" "),
);

export const pointsBack = (what: string): boolean =>
  what
    .toLowerCase()
    .split(/[\s,.!。！]+/)
    .every((word) => word === "" || POINTERS.has(word));

/** Reads what a user's sentence cancels. */
export function readCancellation(sentence: string): Cancellation | undefined {
  const turned = TURNS_ROUND.exec(sentence) ?? TURNS_ROUND_UNSPACED.exec(sentence);
  if (turned) return { how: "turned-round", what: "" };
  const lifted = LIFTS.exec(sentence);
  if (lifted) return { how: "lifted", what: clauseAfter(sentence, lifted[0]) };
  const cancelled = CANCELS.exec(sentence);
  if (cancelled) return { how: "cancelled", what: clauseAfter(sentence, cancelled[0]) };
  const noMore = NO_MORE.exec(sentence)?.[1];
  if (noMore !== undefined) return { how: "cancelled", what: noMore };
  const unspaced = CANCELS_UNSPACED.exec(sentence);
  if (unspaced) return { how: "cancelled", what: clauseAround(sentence, unspaced) };
  const replaced =
    IN_PLACE_OF.exec(sentence)?.[1] ?? IN_PLACE_OF_UNSPACED.exec(sentence)?.slice(1).find(Boolean);
  return replaced === undefined ? undefined : { how: "replaced", what: replaced };
}

const CLAUSE_END = /[,;:.!?。，；！？]|\s(?:and|then|but|instead|because|und|dann|et|puis|y|luego|и|а)\s/iu;

function clauseAfter(sentence: string, cue: string): string {
  return sentence.slice(cue.length).split(CLAUSE_END, 1)[0]?.trim() ?? "";
}

/**
 * Returns the clause around the cue. The cue is the word that cancels. In languages with the verb last, the
 * object precedes the cue.
 */
function clauseAround(sentence: string, cue: RegExpExecArray): string {
  const before =
    sentence
      .slice(0, cue.index)
      .split(/[，、。；,.;!？?！]/)
      .at(-1) ?? "";
  const following = sentence.slice(cue.index + cue[0].length).split(/[，、。；,.;!？?！]/, 1)[0] ?? "";
  return `${before} ${following}`.trim();
}

/** Returns true for "never mind", which contains a rule word but is not a rule. */
function isCallOffAlone(sentence: string): boolean {
  const off = readCancellation(sentence);
  return off?.how === "cancelled" && (pointsBack(off.what) || /never ?mind/i.test(sentence));
}
