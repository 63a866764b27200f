import { stemOf } from "./stem.ts";

/**
 * Groups of words that people exchange when they ask about work on software. A related word counts less than
 * the word itself. The list is short and general: a session has its own words, and most of them have no
 * synonym.
 */
const GROUPS: readonly (readonly string[])[] = `
fail error red broken break crash exception
fix solve resolve repair correct solution
bug issue problem defect fault wrong
remove delete drop discard
add create introduce
change modify edit update alter adjust
choose pick select choice
decide decision agree chose
prefer preference like want favorite rather
ask request want demand
folder directory dir
start begin launch
reason cause because root
test spec
cost price expensive
slow performance speed fast latency
image picture screenshot
repository repo
config configuration setting option
doc documentation readme guide
package dependency library module
skip ignore omit exclude leave
miss overlook forget
forbid never avoid prohibit
database db
url link
password credential secret
complain dislike unhappy
branch fork
merge rebase
function method
verify check validate confirm
suggest propose recommend proposal suggestion recommendation
plan strategy approach
rename name
move relocate
show display print
stylesheet css style
javascript js
typescript ts
markdown md
authentication auth login
environment env
button click
duplicate duplication twice repeated
deploy deployment release publish
limit maximum
number count total amount
warning warn lint
finish complete done
unknown unrecognized unexpected invalid`
  .trim()
  .split("\n")
  .map((group) => group.split(" "));

/** Returns the words that are related to a word with this stem. */
export function relatedTo(stem: string): readonly string[] {
  const found = new Set<string>();
  for (const group of GROUPS) {
    // Most words differ in their first letters, and those are cheaper to compare than stems.
    const isMeant = (word: string): boolean => word.startsWith(stem.slice(0, 2)) && stemOf(word) === stem;
    if (group.some(isMeant)) for (const word of group) if (!isMeant(word)) found.add(word);
  }
  return [...found];
}
