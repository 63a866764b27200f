import { stemOf } from "./stem.ts";

/**
 * Groups of words that people exchange when they ask about work on software. A related word counts less than
 * the word itself. A word may be in several groups. The list is general: it has everyday words of English and of
 * software, British and American spellings, and no names. A session has its own words, and most of them have no
 * synonym.
 */
const GROUPS: readonly (readonly string[])[] = `
fail failure error break broken crash exception die abort
red fail failure
pass succeed success green ok
fix solve resolve repair correct solution remedy patch
bug issue problem defect fault wrong mistake flaw trouble
remove delete drop discard erase strip eliminate
cut shorten truncate trim
add create introduce insert append
make create build produce generate
write create generate emit output
change modify edit update alter adjust tweak revise
change switch convert
replace swap substitute exchange instead
choose pick select choice option
decide decision agree chose conclude settle
prefer preference like want favorite rather
ask request want demand
need require necessary must mandatory
folder directory dir
file document
start begin launch boot startup init
stop end halt quit exit terminate kill cancel
pause wait sleep delay
reason cause because root why
test spec check
cost price expensive fee charge pay cheap
slow performance speed fast latency quick
image picture screenshot photo png
icon glyph symbol logo
repository repo codebase
config configuration setting option preference
configure setup install
doc documentation readme guide manual
describe explain document clarify
package dependency library module
skip ignore omit exclude leave
miss overlook forget
missing absent lack gone
lost gone vanish disappear missing
forbid never avoid prohibit disallow block
prevent block stop avoid
allow permit accept enable
allow permission
deny reject refuse decline
disable off deactivate
enable on activate
database db sql
query sql select
url link address
password credential secret token key
complain complaint dislike unhappy
branch fork
merge rebase combine join consolidate unify
split separate divide
function method routine
parameter argument option
verify check validate confirm ensure
prove confirm demonstrate evidence
suggest propose recommend proposal suggestion recommendation advise advice
idea suggestion proposal
plan strategy approach
rename name
move relocate transfer migrate
migrate migration upgrade port
show display print render
hide conceal collapse
draw paint render
view page screen
stylesheet css style
color colour
javascript js
typescript ts
markdown md
python py
authentication authenticate auth login signin
authorization permission access
environment env
variable env
button click
press click tap
user person human people customer
duplicate duplication twice repeated redundant copy
same identical equal alike
similar alike resemble
different differ distinct vary
difference diff
compare comparison versus
deploy deployment release publish ship
production prod live
version release
limit maximum max cap ceiling
least minimum min
number count total amount
percentage percent share ratio
size length long
big large huge
small little tiny minor
increase raise grow more
decrease reduce lower less shrink
warning warn lint
linter lint
complete finish done ready
incomplete partial unfinished
unknown unrecognized unexpected invalid
empty blank nothing null
null nil undefined
wrong incorrect invalid bad
right correct proper
important critical essential severe
severity priority level
medium middle moderate
serious critical severe high
minor low trivial
risk danger dangerous safe
safety security secure
vulnerability security attack
get fetch retrieve obtain
download fetch pull
upload push send
send submit post
receive get
load read open
save store persist keep
keep retain preserve remain
restore recover revert undo
undo revert rollback reset
backup bak copy
cache store
find discover detect locate search
notice detect observe
recognize detect identify
look search inspect examine
investigate debug examine explore analyze
analysis analyze examine
learn discover
know aware
understand comprehend
think believe consider
guess assume assumption estimate
expect expectation assume
intend intention intent purpose
goal aim objective purpose
work run function
run execute invoke start
execute carry perform implement
task job work ticket todo
subtask task
ticket issue task
implement implementation build develop
rewrite rework refactor redo
cleanup clean tidy
improve enhance better optimize
worse regress regression degrade
old previous former earlier stale outdated obsolete
outdated stale obsolete deprecated drift
new fresh recent latest
existing current present already
original initial first
later afterwards follow
finally last end
step phase stage
order sequence
list table index
row line
column field
cell field
field property attribute
type kind category
class type
interface api
endpoint route api url
server backend host
client frontend browser
website site web page
browser chrome firefox
network connection http
connect connection link
request call
response answer reply
answer reply respond
message text
comment remark note annotation
review feedback remark comment
reviewer review
approve approval accept permission sign
pull merge pr
commit checkin
hash sha
history log
log trace output
output result print
result outcome consequence
return yield give
input argument
string text
integer number int
boolean flag bool
flag option switch
array list
map dictionary object
loop iterate repeat cycle
retry attempt try
try attempt
again retry repeat
time duration second minute
timeout deadline expire
date time day
schedule cron plan
async asynchronous parallel concurrent background
concurrent race parallel simultaneous
lock mutex block
memory ram heap
disk storage
machine computer host laptop
terminal console shell cli
command cli
script command
tool utility
pipeline ci workflow
ci workflow actions pipeline
build compile compilation
container docker image
cloud aws azure
hook callback
event handler
handle handler process
process handle
thread worker
worker agent
subagent agent
agent model assistant
model llm
prompt instruction
instruction rule guideline
rule policy guideline
convention standard style
format layout
reformat format
whitespace space indent
parse parser read
serialize json
encode escape
decode parse
convert transform translate
encrypt hash
random seed
sort order
filter select
group cluster
unique distinct
default standard
fallback default
override overwrite
overwrite replace clobber
conflict collision clash
depend dependency need
import require include
export expose
include contain
consist contain
cover coverage
measure metric benchmark
benchmark performance measure
assert assertion expect check
mock stub fake
fixture sample
example sample demo
demo prototype
flaky intermittent unstable
stable reliable robust
strict stronger rigorous
strengthen strict
simple easy simplify
complex complicated difficult
hard difficult
weakness limitation drawback disadvantage
limitation constraint restriction
advantage benefit
disadvantage drawback downside
tradeoff compromise drawback
alternative option instead
possible can able
impossible cannot unsupported
support supported handle
unsupported limitation
private internal hidden
public external exported
personal identity private
anonymous anonymize sanitize
sanitize clean scrub
secret private confidential
owner author maintainer
author wrote owner
team colleague
boss manager
company organization
license licence legal
location place path where
path location
live locate located
position place
top above
bottom below
nested inside
parent base
child nested
separator divider
header heading title
heading title
title name
footer bottom
menu navigation
tab panel
panel pane
sidebar panel
dialog modal popup
dark theme mode
theme palette color
palette color theme
gradient color
font typeface
width wide
height tall
align alignment
responsive mobile
sound audio noise
music song audio
song music piece
voice audio
video clip
speed tempo rate
frequency rate
often frequent
sometimes occasionally
always every
temporary temp tmp scratch
permanent persistent
manual manually hand
automatic automatically auto
hand manual
wait pending
pending waiting queued
ready prepared
share common
common shared
isolated separate
whole entire full
part piece portion
half part
reach hit exceed
exceed over
quota limit
budget limit
balance compromise
stick keep stay
stay remain
leave keep
touch edit modify
leave skip
alone untouched
remaining left rest
claim say state
promise guarantee
guarantee ensure promise
trust believe
surprise unexpected
strange odd weird unusual
confuse unclear misleading
unclear ambiguous vague
ambiguous ambiguity unclear
hope want`
  .trim()
  .split("\n")
  .map((group) => group.split(" "));

/** Returns the words that are related to a word with this stem. */
export function relatedTo(stem: string): readonly string[] {
  const found = new Set<string>();
  const start = stem.slice(0, 2);
  // Most words differ in their first letters, and those are cheaper to compare than stems.
  const isMeant = (word: string): boolean => word.startsWith(start) && stemOf(word) === stem;
  for (const group of GROUPS) {
    if (group.some(isMeant)) for (const word of group) if (!isMeant(word)) found.add(word);
  }
  return [...found];
}
