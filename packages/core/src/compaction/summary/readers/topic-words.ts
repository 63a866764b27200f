/** Compares the topics of sentences by their words. In scripts without spaces the words are pairs of characters. */

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

/** Returns the words that name the topic of a text, each reduced to its first characters. */
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
