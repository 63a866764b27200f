import { stemOf } from "./stem.ts";

/**
 * Groups of words that people exchange when they ask about work on software. A related word counts less than
 * the word itself. The list is short and general: a session has its own words, and most of them have no
 * synonym.
 */
const GROUPS = `
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
`;

/** Words related to a word, by the stem of the word. */
export type RelatedWords = ReadonlyMap<string, readonly string[]>;

/** Builds the table. It is small, and only a search by words needs it. */
export function relatedWords(): RelatedWords {
  const related = new Map<string, string[]>();
  for (const group of GROUPS.trim().split("\n")) {
    const words = group.split(" ");
    for (const word of words) {
      const others = words.filter((other) => stemOf(other) !== stemOf(word));
      related.set(stemOf(word), [...(related.get(stemOf(word)) ?? []), ...others]);
    }
  }
  return related;
}
