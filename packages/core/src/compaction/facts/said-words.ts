/** Patterns that recognize, in several languages, what users' words mean for their requests. */

/** Words of a rule that applies beyond the current request. */
const STANDING =
  /(?:^|[\s"'(])(?:always|never|from now on|going forward|in (?:the )?future|every time|whenever|at all times|as a rule|keep in mind|remember (?:to|that)|must(?: not|n'?t)?|immer|niemals|nie|ab jetzt|ab sofort|von nun an|in zukunft|künftig|grundsätzlich|toujours|jamais|désormais|dorénavant|à partir de maintenant|siempre|nunca|de ahora en adelante|a partir de ahora|sempre|daqui em diante|всегда|никогда|отныне|впредь|с этого момента)(?=$|[\s,.!?;:'")])|总是|始终|永远|从现在(?:起|开始)|以后|今后|必须|必ず|常に|これから|今後|決して|항상|절대|앞으로|반드시/iu;
const RULE_OPENING =
  /^(?:(?:and|but|also|please|note|important|then|so|ok(?:ay)?|bitte|por favor|пожалуйста)[,:]? )*(?:do not|don'?t|you (?:should|may|can)(?: ?not|n'?t)|(?:i|we) (?:do not|don'?t) want|only|use|prefer|avoid|make sure|ensure|keep|remember|stick (?:to|with)|nutze|verwende|benutze|vermeide|achte|(?:fass|änder|veränder|lösch|mach|push|committe|rühr|nimm|nehm|schreib|füg|entfern|bearbeit|start|führ)\p{L}* (?:[^,.;!?]{1,60} )?(?:nicht|kein\p{L}*)|utilise[rz]?|n'utilise[rz]?|ne \p{L}+ (?:pas|plus)|évite[rz]?|usa|utiliza|evita|no \p{L}+[aei]s|não|используй(?:те)?|не \p{L}+(?:й|йте))(?=$|[\s,.!?;:'")])/iu;
const RULE_ANYWHERE =
  /^请?(?:使用|用|只用|避免)|不要|禁止|^别|を使って|ないで(?:ください|下さい|くれ|ね|よ|$|[。！、])|してはいけ|써 ?줘|사용해|지 ?마(?:세요|십시오|라|요|$|[.!,\s])/u;

/** Request in the form of a question. */
const POLITE =
  /^(?:and |so |also |please )*(?:can|could|will|would) (?:you|we) |^(?:kannst|könntest) du |^(?:peux|pourrais)-tu |^(?:puedes|podrías) /i;

/** Returns true if the sentence states a rule that applies beyond the current task. */
export function saysRule(sentence: string): boolean {
  if (isCallOffAlone(sentence)) return false;
  if (/[?？]$/.test(sentence)) return POLITE.test(sentence) && STANDING.test(sentence);
  return STANDING.test(sentence) || RULE_OPENING.test(sentence) || RULE_ANYWHERE.test(sentence);
}

const NEGATION =
  /(?:^|[\s"'(])(?:do not|don'?t|never|no longer|stop|not|without|avoid|nicht|niemals|nie|kein\p{L}*|pas|jamais|n'\p{L}+|nunca|no|не|никогда)(?=$|[\s,.!?;:'")])|不要|别|禁止|不用|しないで|使わない|決して|하지 ?마|쓰지 ?마|절대/iu;

export const isNegative = (sentence: string): boolean => NEGATION.test(sentence);

const CONTINUATION =
  /^(?:(?:ok(?:ay)?|yes|please|great|good|cool|and|ja|oui|sí|да|好|はい)[,.! ]*)*(?:continue|go on|go ahead|proceed|carry on|keep (?:going|at it)|resume|try again|retry|again|weiter|mach weiter|fortfahren|nochmal|continue[rz]?|vas-y|reprends|sigue|continúa|adelante|продолжай(?:те)?|дальше|ещё раз|继续|接着|再试|続けて|続行|もう一度|계속|다시)(?:$|[\s,.!?;:'")。！])/iu;
const CONTINUATION_CHARS = 80;

/** Returns true if the message asks for nothing new and continues the previous request. */
export const isContinuation = (text: string): boolean =>
  text.length <= CONTINUATION_CHARS && CONTINUATION.test(`${text} `);

const COMPLAINT =
  /(?:^|[\s"'(])(?:still (?:not|no|broken|fail\p{L}*|the same|(?:does|is|ca)n'?t|get\p{L}*|see\p{L}*|happen\p{L}*|wrong|missing)|(?:does|did|do|is|are)(?:n'?t| not) (?:work|fix|show|appear|compil|help)\p{L}*|not (?:working|fixed)|(?:the )?same (?:error|issue|problem|result)|(?:is|are|it'?s) (?:broken|missing)|(?:funktionier|geht|klapp)\p{L}* (?:\p{L}+ )?nicht|immer noch|noch immer|(?:ne )?(?:marche|fonctionne)\p{L}* (?:toujours )?pas|même erreur|no funciona|sigue (?:sin|igual|fallando)|mismo error|не работает|вс[её] ещ[её]|по-прежнему|та же ошибка)(?=$|[\s,.!?;:'")])|还是(?:不|没|报错|一样)|仍然|没有?(?:用|效果|变化)|不起作用|不行|まだ(?:動|直|エラー)|動(?:かない|きません)|直って(?:い)?(?:ない|ません)|同じエラー|여전히|아직도|안 ?(?:돼|되|됩)/iu;
const COMPLAINT_CHARS = 160;

/** Returns true if the message starts with a complaint about the work. */
export const complains = (text: string): boolean => COMPLAINT.test(text.slice(0, COMPLAINT_CHARS));

/** Words of thanks that close a request. */
const THANKS = /^(?:(?:ok(?:ay)?|great|perfect|many)[,.! ]*)*(?:thanks?|thank you|thx)\b/i;

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

// Topic words of a sentence. In scripts without spaces they are pairs of characters.

const LATIN_OR_CYRILLIC = /[\p{L}\p{N}_]+/gu;
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+/g;
const MIN_CHARS = 3;
/** Number of first characters that two forms of one word usually share. */
const STEM_CHARS = 5;

const EMPTY: ReadonlySet<string> = new Set(
  (
    "about above actually add again all already also always and another any anymore are asked at back be been before below but by can change create do does doing done don earlier else ever every everything fix for from future going had has have her here him his how idea implement instead into its just last let ll longer make maybe mean mind more must need never nevermind new not now of off okay on one only or other our out over part plan please previous rather re request run said same shall should so some stop sure task than thanks that the their them then there these they thing things this those told too up update use used using ve very want was way we well were what whatever when where which while who why will with work working would write wrote yes yet you your " +
    "aber alle als auch auf aus bei bitte das dass dem den der des die doch dort ein eine einen einer eines für hat ich immer ist jetzt kein keine mehr mit nicht nie noch nur oder schon sie sind statt und uns von was wenn wie wir zum zur " +
    "avec ces cette dans des dont elle est les leur mais mon nous par pas plus pour que qui sans ses son sur toujours tous tout une vous " +
    "con como del esa ese eso esta este las los más nunca para pero por que siempre sin son sus todo una uno ya " +
    "без все всё для его если еще ещё или как мне над него них она они про так там тем что это этот уже нам нас вместо используй"
  ).split(" "),
);

/** Particles and request words of scripts without spaces. They name no topic. */
const EMPTY_UNSPACED =
  /请|請|使用|用|不要|不用|不是|而|以后|总是|必须|添加|增加|把|了|的|都|吧|を|は|が|に|の|と|も|で|して|しないで|ください|使って|使わない|追加|추가|해줘|해 줘|하지|마|을|를|은|는|이|가/gu;

export function contentWords(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  const lower = text.toLowerCase().replace(EMPTY_UNSPACED, " ");
  for (const [run] of lower.matchAll(UNSPACED)) {
    for (let at = 0; at + 1 < run.length; at++) words.add(run.slice(at, at + 2));
  }
  for (const [word] of lower.replace(UNSPACED, " ").matchAll(LATIN_OR_CYRILLIC)) {
    if (word.length >= MIN_CHARS && !EMPTY.has(word)) words.add(word.slice(0, STEM_CHARS));
  }
  return words;
}

/** Returns the share of `words` that `others` contains, or 0 if there are no words. */
export function shareIn(words: ReadonlySet<string>, others: ReadonlySet<string>): number {
  if (words.size === 0) return 0;
  const [fewer, more] = words.size < others.size ? [words, others] : [others, words];
  let shared = 0;
  for (const word of fewer) if (more.has(word)) shared++;
  return shared / words.size;
}
