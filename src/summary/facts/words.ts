/** What people's words say about what they asked for, in the languages that the readers know. */

/** Holds for more than the request at hand. */
const STANDING =
  /(?:^|[\s"'(])(?:always|never|from now on|going forward|in (?:the )?future|every time|whenever|at all times|as a rule|keep in mind|remember (?:to|that)|must(?: not|n'?t)?|immer|niemals|nie|ab jetzt|ab sofort|von nun an|in zukunft|künftig|grundsätzlich|toujours|jamais|désormais|dorénavant|à partir de maintenant|siempre|nunca|de ahora en adelante|a partir de ahora|sempre|daqui em diante|всегда|никогда|отныне|впредь|с этого момента)(?=$|[\s,.!?;:'")])|总是|始终|永远|从现在(?:起|开始)|以后|今后|必须|必ず|常に|これから|今後|決して|항상|절대|앞으로|반드시/iu;
const RULE_OPENING =
  /^(?:(?:and|but|also|please|note|important|then|so|ok(?:ay)?|bitte|por favor|пожалуйста)[,:]? )*(?:do not|don'?t|only|use|prefer|avoid|make sure|ensure|keep|remember|stick (?:to|with)|nutze|verwende|benutze|vermeide|achte|utilise[rz]?|n'utilise[rz]?|évite[rz]?|usa|utiliza|evita|no uses|no hagas|no toques|используй(?:те)?|не \p{L}+(?:й|йте))(?=$|[\s,.!?;:'")])/iu;
const RULE_ANYWHERE =
  /^请?(?:使用|用|只用|避免)|不要|禁止|^别|を使って|使わないで|しないで|してはいけ|써 ?줘|사용해|쓰지 ?마|하지 ?마/u;

/** Is the sentence a rule that holds on after the work at hand? */
export function saysRule(sentence: string): boolean {
  return STANDING.test(sentence) || RULE_OPENING.test(sentence) || RULE_ANYWHERE.test(sentence);
}
