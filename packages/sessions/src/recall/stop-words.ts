/**
 * Function words of questions, by language. They occur everywhere, so they tell nothing about the subject.
 * The lists have no words with another meaning in English or in code, such as the German `die` and `was`.
 */
const ENGLISH = `a about according actually after again all also always am an and any anybody anyone anything are aren as at
be because been before being both but by can cannot could couldn did didn do does doesn doing don done during each
either else end ever every exactly for from further get gets getting give given go goes going got had has hasn have haven
having he her happen happened happens here hers him his how i if in instead into involved is isn it its itself just ll may me might more most much my
no nor not of off often on once one only or originally other our ours out over own please quite rather re really regarding concerning said s t d same say saying
says shall she should so some somebody someone something such tell than that the their them then there these they
thing things this those though through to too under until up upon us use used uses using ve very via was wasn way we
were weren what whatever when where whether which while who whom whose why will with within without won would you
your yours`;
const GERMAN = `aber als am auch auf aus bei beim bin bis das dass dem den denn der deren des dessen dich dir doch du
durch ein eine einem einen einer eines er es für haben hatte hatten ich ihm ihn ihr ihre im ist ja kann kein keine mein
mich mir mit muss nach nicht noch nun nur ob oder ohne sein seine sich sie sind soll über um und uns unser vom von vor
wann waren warum welche welchem welchen welcher welches wem wen wenn wer werden wie wieso wir wird wo wurde wurden zu
zum zur`;
const FRENCH = `alors au aussi aux avec avez avons ça car ce cela ces cette comment dans des du elle elles est et était
eux il ils je la le les leur lequel laquelle lui mais même mes mon ne nos notre nous où ou par pas pourquoi pour quand
que quel quelle quelles quels qui sa se ses sommes sont sur ta tes toi ton très tu un une vos votre vous`;
const SPANISH = `al ante aquel como cómo cual cuál cuáles cuando cuándo de del desde donde dónde el ella ellas ellos en
era es esa ese eso esta está este esto estos fue ha han hay la las lo los más mi mis muy nada nos nosotros para pero por
porque qué que quien quién se ser si sobre su sus también tiene tu tus un una unas uno unos y ya yo`;

const asSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));
const STOP_WORDS: readonly ReadonlySet<string>[] = [ENGLISH, GERMAN, FRENCH, SPANISH].map(asSet);

/** Minimum number of function words that identify the language of a query. One may be a name. */
const ENOUGH = 2;

/**
 * Returns the function words of the query's language. A query in an unknown language, or in few words, counts
 * as English.
 */
export function stopWordsFor(words: readonly string[]): ReadonlySet<string> {
  const [english = new Set<string>(), ...others] = STOP_WORDS;
  const count = (list: ReadonlySet<string>): number => words.filter((word) => list.has(word)).length;
  let [found, most] = [english, Math.max(ENOUGH - 1, count(english))];
  for (const list of others) if (count(list) > most) [found, most] = [list, count(list)];
  return found;
}
