import { headOf } from "../../../messages/text.ts";
import { bulleted, clip, clipMarkdown, indented, oneLine, quoted } from "../clip.ts";
import {
  AFTER_INTERRUPTION,
  answerInBetween,
  choiceText,
  claimsDone,
  closedBy,
  commandsIn,
  complains,
  condensed,
  coursesOf,
  type Exchange,
  earlierItems,
  earlierLastWords,
  earlierMessages,
  earlierWorkInBrief,
  editedNames,
  failedElsewhere,
  type HumanMessage,
  IN_PROGRESS,
  isCommandLine,
  isMessageItem,
  isRequest,
  joined,
  LABELS,
  lastLongerRequest,
  leavesWork,
  messageForms,
  messageKey,
  NEEDS_CONTEXT_CHARS,
  opensWithCorrection,
  type Plan,
  parseMessageItem,
  readReasonItem,
  replacedCommits,
  repliedTo,
  reportOnCommit,
  reportsFault,
  requestInFull,
  resultSentence,
  SEE_CURRENT_REQUEST,
  type SessionDigest,
  saysLittle,
  statedOutcome,
  withAgentReports,
  withoutFailures,
  withoutNotCommitted,
} from "../readers/readers.ts";
import { type Piece, piece, rising, WORTH_A_LINE } from "./budget.ts";
import { reasonPieces } from "./render-reasons.ts";

/**
 * Renders the sections about the past: requests, user messages and problem solving.
 */

const MAX_REQUEST_CHARS = 110;
const MAX_OUTCOME_CHARS = 200;
const MAX_EARLIER_CHARS = 700;

/** Returns the latest message that asks for something. */
export function currentRequest({ exchanges }: SessionDigest): HumanMessage | undefined {
  return exchanges.findLast(isRequest)?.message;
}

/** Returns the current request of the earlier summary, verbatim. */
export function currentRequestBefore({ earlier }: SessionDigest): string | undefined {
  const item = earlierItems(earlier, "Primary Request and Intent").find(isVerbatim);
  return item === undefined ? undefined : verbatimText(item);
}

/** Returns true if the agent was in the middle of its work at the earlier summary. */
const wasUnderWay = ({ earlier }: SessionDigest): boolean =>
  earlierItems(earlier, "Pending Tasks").includes(IN_PROGRESS) ||
  earlierItems(earlier, "Optional Next Step").some((item) => WORK_GOES_ON.test(item));

const WORK_GOES_ON = /^- Continue with the (?:user's request|work described)/;

export function renderRequests(digest: SessionDigest, instructions: string | undefined): Piece[] {
  const courses = coursesOf(digest.exchanges);
  const reported = coursesOf(withAgentReports(digest.exchanges));
  const current = courses.findLastIndex(isRequest);
  const steps = digest.exchanges.flatMap(commandsIn);
  const replaced = replacedCommits(commitsBefore(digest), steps, digest.covered);
  const earlier = earlierRequests(digest, reported, replaced);
  return [
    ...(current === -1 ? [] : currentPieces(courses, current)),
    ...earlier,
    ...pastRequests(courses, reported, unfinishedIn(earlier), replaced),
    ...settingPieces(digest, instructions),
  ];
}

/**
 * Renders the requests before the current one. `reported`: the same courses with the reports of their
 * subagents. `before`: number of earlier requests that were under way.
 */
function pastRequests(
  courses: readonly Exchange[],
  reported: readonly Exchange[],
  before: number,
  replaced: ReadonlySet<string>,
): Piece[] {
  const past = courses.flatMap((course, at) => (isRequest(course) ? [at] : [])).slice(0, -1);
  let earlier = before;
  let underWay: readonly Exchange[] = [];
  return past.map((at, index) => {
    const course = reported[at] as Exchange;
    const isOpen = course.isUnfinished && reportOnCommit(course) === undefined;
    const closed = isOpen ? [...underWay, course] : closedBy(course, underWay);
    const isFollowed = isOpen && index < past.length - 1;
    const proofs = isFollowed ? "" : proofsOf(joined(closed), replaced);
    const count = closed.length > underWay.length ? earlier + closed.length : closed.length;
    const forms = requestForms(course, [courses[at - 1], courses[at + 1]], count, proofs);
    if (!isOpen) earlier = 0;
    underWay = isOpen ? closed : [];
    return piece(forms, rising(220, 340, index, past.length), LABELS.pastRequests);
  });
}

function currentPieces(courses: readonly Exchange[], at: number): Piece[] {
  const text = courses[at]?.message?.text ?? "";
  const pieces = [piece(messageForms(text), 1_100, LABELS.currentRequest)];
  const context = text.length <= NEEDS_CONTEXT_CHARS ? repliedTo(courses[at - 1], 500) : undefined;
  if (context) pieces.push(piece([`  (in reply to: ${context})`], 600, LABELS.currentRequest));
  const longer = saysLittle(text) ? lastLongerRequest(courses) : undefined;
  if (longer) pieces.push(piece(messageForms(longer), 700, LABELS.longerRequest));
  return pieces;
}

/** `count`: number of requests up to this one that one report closes. */
function requestForms(
  course: Exchange,
  [before, next]: readonly (Exchange | undefined)[],
  count: number,
  proofs: string,
): string[] {
  const text = oneLine(headOf(course.message?.text ?? "", 4 * MAX_REQUEST_CHARS));
  const context = text.length <= NEEDS_CONTEXT_CHARS / 2 ? repliedTo(before, 120) : undefined;
  const asked = quoted(clip(text, MAX_REQUEST_CHARS)) + (context ? ` (in reply to: ${context})` : "");
  const said = outcomeOf(course, count);
  const answer = count > 1 ? answerInBetween(course) : undefined;
  const aside = answer === undefined ? "" : ` (answer: ${quoted(asOutcome(answer))})`;
  const rest = !course.isUnfinished && leavesWork(course) ? " (it also lists remaining work)" : "";
  const isKnown = !course.isUnfinished && course.isReportedLater !== true;
  const reaction = rest + (isKnown ? reactionTo(next?.message) : "");
  return [
    `- ${asked} → ${said}${aside}${reaction}${proofs === "" ? "" : ` [${proofs}]`}`,
    `- ${quoted(clip(text, 70))} → ${clip(said, 90)}${reaction}`,
  ];
}

/** Returns how the user's next message reacts to an outcome that only the assistant stated, or "". */
function reactionTo(next: HumanMessage | undefined): string {
  if (next === undefined || next.afterInterruption || next.kind === "remark") return "";
  if (complains(next.text) || opensWithCorrection(next) || reportsFault(next.text))
    return " (the user objected or reported a fault next)";
  return isCommandLine(next.text) ? " (the user tested this next)" : "";
}

/** Returns what the agent said last about a request. `count`: number of requests that its words are about. */
function outcomeOf(course: Exchange, count: number): string {
  const lead = statedOutcome(course);
  if (course.actions.length === 0 && lead === undefined) return NO_ANSWER;
  const report = course.isUnfinished ? reportOnCommit(course) : undefined;
  const about = count > 1 ? `for the last ${count} requests: ` : "";
  if (report !== undefined) return `${about}${asOutcome(report, MAX_REPORT_CHARS)} (${FURTHER_WORK})`;
  if (course.isUnfinished) {
    // Words in the middle of the work are a belief, which later work may have disproved.
    const isReport = lead !== undefined && claimsDone(lead);
    return isReport ? `${asOutcome(lead, MAX_REPORT_CHARS)} (${UNDER_WAY})` : UNDER_WAY;
  }
  if (lead === undefined) return NO_CLOSING_MESSAGE;
  return `${about}${asOutcome(lead)}`;
}

const NO_ANSWER = "no answer before the next message";
const NO_CLOSING_MESSAGE = "the assistant worked on it but wrote no closing message";
const UNDER_WAY = "still under way at the next message";
const FURTHER_WORK = "further work was under way at the next message";
const MAX_REPORT_CHARS = 120;

/** Returns the number of requests at the end of a list on which the work was still under way. */
function unfinishedIn(pieces: readonly Piece[]): number {
  const isFinished = ({ forms: [form = ""] }: Piece): boolean =>
    !form.includes(` → ${NO_ANSWER}`) && !form.includes(UNDER_WAY);
  const past = pieces.filter(({ group }) => group === LABELS.pastRequests);
  return past.length - 1 - past.findLastIndex(isFinished);
}

/** Returns the outcome without a mark such as "🎉" before it. */
const asOutcome = (lead: string, maxChars = MAX_OUTCOME_CHARS): string =>
  clip(lead.replace(/^[^\p{L}\p{N}`"'“([]+/u, "").replace(/[:：]$/, "") || lead, maxChars);

const PROOFS = / \[((?:\d+ more commits; )?commit [0-9a-f]{7,40}(?:; [^\]\n]*)?)\]$/;

/** Returns the commits in the rows of the earlier summary whose messages do not follow it again. */
const commitsBefore = (digest: SessionDigest): readonly string[] =>
  pastItems(earlierItems(digest.earlier, "Primary Request and Intent"), digest).flatMap((item) =>
    [...(PROOFS.exec(item)?.[1] ?? "").matchAll(/(?:^|; )commit (\w+)/g)].map(([, id = ""]) => id),
  );

/** Removes the commits from a row that exist no longer. */
function withoutCommits(item: string, replaced: ReadonlySet<string>): string {
  const parts = PROOFS.exec(item)?.[1]?.split("; ");
  const kept = parts?.filter((part) => !replaced.has(part.replace(/^commit /, ""))) ?? [];
  if (kept.length === parts?.length) return item;
  return item.replace(PROOFS, kept.length === 0 ? "" : ` [${kept.join("; ")}]`);
}

const MAX_COMMITS = 6;

/** Returns evidence that can be verified: commits, test results and changed files. */
function proofsOf(exchange: Exchange, replaced: ReadonlySet<string>): string {
  const commits = exchange.commits.filter(({ id }) => !replaced.has(id));
  const proofs = commits.slice(-MAX_COMMITS).map(({ id }) => `commit ${id}`);
  if (commits.length > MAX_COMMITS) proofs.unshift(`${commits.length - MAX_COMMITS} more commits`);
  const tests = commandsIn(exchange).findLast((run) => run.kind === "test" && !failedElsewhere(run));
  if (tests) {
    const outcome = tests.outcome ? `: ${clip(tests.outcome, 60)}` : "";
    if (tests.failed) proofs.push(`last test run FAILED${outcome}`);
    else if (tests.state === "passed") proofs.push(`last test run passed${outcome}`);
  }
  const names = editedNames(exchange);
  const more = names.length > 4 ? ` +${names.length - 4}` : "";
  if (names.length > 0) proofs.push(`edited ${names.slice(0, 4).join(", ")}${more}`);
  return proofs.join("; ");
}

/**
 * Renders the requests of an earlier summary. If the user has asked for nothing since, its current request is
 * still current. Otherwise that request is the last past request.
 */
function earlierRequests(
  digest: SessionDigest,
  courses: readonly Exchange[],
  replaced: ReadonlySet<string>,
): Piece[] {
  const { earlier } = digest;
  const hasNewer = courses.some(isRequest);
  const items = earlierItems(earlier, "Primary Request and Intent").filter((item) => !SETTING.test(item));
  const verbatim = items.filter(isVerbatim);
  const [current] = verbatim;
  const isPast = hasNewer || current !== undefined;
  const past = pastItems(items, digest);
  const pieces = past.map((item, index) => {
    const bullet = withoutCommits(bulleted(item), replaced);
    return piece(
      [clipMarkdown(bullet, MAX_EARLIER_CHARS), clipMarkdown(bullet, 300), clip(oneLine(bullet), 140)],
      rising(0, 4, index, past.length) + (isPast ? 200 : 600),
      isPast ? LABELS.pastRequests : LABELS.intent,
    );
  });
  if (current === undefined) return pieces;
  const text = verbatimText(current);
  if (!hasNewer) return [piece(messageForms(text), 1_100, LABELS.currentRequest), ...pieces];
  const isRepeated = digest.exchanges.some(
    ({ message }) => message !== undefined && digest.covered.has(message.at) && message.text.trim() === text,
  );
  if (isRepeated) return pieces;
  const asked = quoted(clip(oneLine(text), MAX_REQUEST_CHARS));
  const count = unfinishedIn(pieces) + 1;
  const outcome = earlierOutcome(digest, courses[0], count);
  const reaction = outcome.includes(UNDER_WAY) ? "" : reactionTo(courses.find(isRequest)?.message);
  return [...pieces, piece([`- ${asked} → ${outcome}${reaction}`], 240, LABELS.pastRequests)];
}

/** Number of first characters that identify a request. */
const KEY_CHARS = 60;

const requestKey = (text: string): string => messageKey(text).slice(0, KEY_CHARS);

/**
 * Returns the past requests of an earlier summary. Leaves out the requests that the messages contain again,
 * and verbatim requests that the list of messages contains.
 */
function pastItems(
  items: readonly string[],
  { earlier, exchanges, covered }: SessionDigest,
): readonly string[] {
  const listed = new Set(earlierMessages(earlier).map(requestKey));
  const repeated = exchanges.flatMap(({ message }) =>
    message !== undefined && covered.has(message.at) ? [requestKey(message.text)] : [],
  );
  const past: string[] = [];
  for (const item of items.toReversed()) {
    const key = requestKey(isVerbatim(item) ? verbatimText(item) : (quotedRequest(item) ?? ""));
    if (isVerbatim(item) && (item === items.find(isVerbatim) || listed.has(key))) continue;
    const at = key === "" ? -1 : repeated.lastIndexOf(key);
    if (at !== -1) repeated.splice(at, 1);
    else past.unshift(item);
  }
  return past;
}

/** Returns the request in an item with an outcome, without the mark of a cut. */
const quotedRequest = (item: string): string | undefined =>
  /^- "(.*?)…?"(?: \(in reply to: .*?\))? → /s.exec(item)?.[1];

/**
 * Returns the outcome of the earlier summary's current request. The messages before the next request continue
 * the work on it.
 */
function earlierOutcome(digest: SessionDigest, first: Exchange | undefined, count: number): string {
  if (first !== undefined && first.message === undefined && first.actions.length + first.texts.length > 0)
    return outcomeOf(first, count);
  if (wasUnderWay(digest)) return UNDER_WAY;
  const words = earlierLastWords(digest.earlier);
  const lead = words === undefined ? undefined : resultSentence(words);
  if (lead === undefined) return NO_CLOSING_MESSAGE;
  return count > 1 ? `for the last ${count} requests: ${asOutcome(lead)}` : asOutcome(lead);
}

/** Text that an earlier summary adds to a short request, on a line of its own. */
const IN_REPLY = /\n {2}\(in reply to: [\s\S]*$/;

/**
 * Returns true if the item is a verbatim request. In a built-in summary, only the current request is
 * verbatim, because an outcome follows every other request. Items that a model wrote are prose.
 */
function isVerbatim(item: string): boolean {
  return isMessageItem(item) && !item.replace(IN_REPLY, "").includes(" → ");
}

const verbatimText = (item: string): string => parseMessageItem(item.replace(IN_REPLY, ""));

/** Matches lines of {@link settingPieces}. */
const SETTING = /^- (?:Working directory|Instructions for this summary:|For this summary was asked:)/;

function settingPieces(
  { cwd, root, branch, notedBranch }: SessionDigest,
  instructions: string | undefined,
): Piece[] {
  const pieces: Piece[] = [];
  if (cwd !== undefined) {
    const paths = root === undefined || root === cwd ? "" : ` Paths are relative to \`${root}\`.`;
    const noted = notedBranch === undefined ? "" : ` (noted as \`${notedBranch}\`)`;
    const onBranch = branch ? `, git branch \`${branch}\`${noted}` : "";
    const line = `- Working directory \`${cwd}\`${onBranch}.${paths}`;
    pieces.push(piece([line], 400, LABELS.setting));
  }
  if (instructions?.trim()) {
    const line = `- Instructions for this summary: ${quoted(clip(oneLine(instructions), 600))}`;
    pieces.push(piece([line], 410, LABELS.setting));
  }
  return pieces;
}

/** Up to this length, repeating the current request is cheaper than a reference to it. */
const REPEATED_UP_TO_CHARS = 500;
const NEWEST_IMPORTANCE = 500;
const OLDEST_IMPORTANCE = WORTH_A_LINE;
/** Importance of the first message, which states the subject of the session however old it is. */
const FIRST_IMPORTANCE = 490;

/** Renders every user message, oldest first, including those of earlier summaries. */
export function renderMessages(digest: SessionDigest): Piece[] {
  const current = currentRequest(digest);
  const stillCurrent = current === undefined ? requestInFull(digest.earlier) : undefined;
  const now = digest.exchanges.flatMap((exchange) => exchange.message ?? []);
  const messages = [
    ...earlierMessages(digest.earlier, now, digest.covered).map((text) => ({
      text,
      prefix: "",
      isCurrent: text === stillCurrent,
    })),
    ...now.map((message) => ({
      text: message.text,
      prefix: message.afterInterruption ? AFTER_INTERRUPTION : "",
      isCurrent: message === current,
    })),
  ];
  return messages.map(({ text, prefix, isCurrent }, index) => {
    const isShownAbove = isCurrent && text.length > REPEATED_UP_TO_CHARS;
    const importance = rising(OLDEST_IMPORTANCE, NEWEST_IMPORTANCE, index, messages.length);
    return piece(
      isShownAbove ? [SEE_CURRENT_REQUEST] : messageForms(text, prefix),
      index === 0 ? FIRST_IMPORTANCE : importance,
    );
  });
}

// Section "Problem Solving".

const MAX_FINDINGS = 12;
const MAX_EARLIER_SOLUTION_CHARS = 420;
const MAX_EARLIER_WORK_CHARS = 900;

export function renderProblemSolving(digest: SessionDigest): Piece[] {
  return [
    ...earlierSolutions(digest),
    ...answerPieces(digest),
    ...digest.plans.slice(-2).map(planPiece),
    ...findingPieces(digest),
    ...reasonPieces(digest),
  ];
}

function answerPieces({ answers }: SessionDigest): Piece[] {
  return answers.map((given, index) => {
    const asked = oneLine(given.question);
    const said = quoted(oneLine(given.answer));
    return piece(
      [
        `- ${clip(asked, 220)} → ${clip(said, 400)}${choiceText(given)}`,
        `- ${clip(asked, 90)} → ${clip(said, 120)}`,
      ],
      330 + index,
      LABELS.answers,
    );
  });
}

/** Answer of the user in the form of {@link answerPieces}. */
const ANSWER_ITEM = /^- [^\n]{1,240} → ["“]/;

function planPiece(plan: Plan, index: number): Piece {
  const status = plan.approved ? "approved by the user" : "no approval by the user on record";
  const forms = [3_000, 1_200, 400].map(
    (chars) => `- Plan (${status}):\n${indented(clipMarkdown(plan.text.trim(), chars))}`,
  );
  return piece(forms, 300 + index, LABELS.plans);
}

function findingPieces({ findings, exchanges }: SessionDigest): Piece[] {
  const lastCommit = exchanges.flatMap(({ commits }) => commits).at(-1)?.at ?? -1;
  const kept = findings.filter((finding) => finding.text.length > 20).slice(-MAX_FINDINGS);
  return kept.map((finding, index) => {
    const title = clip(oneLine(finding.title), 100);
    const report = condensed(lastCommit > finding.at ? withoutNotCommitted(finding.text) : finding.text);
    const forms = [700, 320, 140].map((chars) => `- ${title}: ${clip(report, chars)}`);
    return piece(forms, rising(130, 220, index, kept.length), LABELS.findings);
  });
}

const LAST_WORK = "- Work at the last summary: ";
const EARLIER_WORK = "- Work at an earlier summary: ";
/** Number of items about the work at earlier summaries to keep. The causes in older ones are listed anyway. */
const MAX_EARLIER_WORKS = 3;
const isWork = (item: string): boolean => item.startsWith(LAST_WORK) || item.startsWith(EARLIER_WORK);
/** Relabels the work at what is now an earlier summary. Every summary called its own the last one once. */
const asEarlierWork = (item: string): string =>
  isWork(item) ? withoutFailures(item.replace(LAST_WORK, EARLIER_WORK)) : item;

/**
 * Renders the section "Current Work" of the earlier summary as one item of history, so that summaries do not
 * nest.
 */
function earlierSolutions({ earlier, exchanges }: SessionDigest): Piece[] {
  const all = earlierItems(earlier, "Problem Solving").filter((item) => readReasonItem(item) === undefined);
  const works = all.filter(isWork).slice(0, -MAX_EARLIER_WORKS);
  const work = exchanges.length === 0 ? "" : earlierWorkInBrief(earlier);
  const hasCommitted = exchanges.some(({ commits }) => commits.length > 0);
  const items = all
    .filter((item) => !works.includes(item))
    .map((item) => (exchanges.length === 0 ? item : asEarlierWork(item)));
  const pieces = items.map((item, index) => {
    const bullet = bulleted(hasCommitted && !ANSWER_ITEM.test(item) ? withoutNotCommitted(item) : item);
    return piece(
      [clipMarkdown(bullet, MAX_EARLIER_SOLUTION_CHARS), clip(oneLine(bullet), 160)],
      // Answers of the user stay as important as they were when they were new.
      rising(0, 16, index, items.length) + (ANSWER_ITEM.test(bullet) ? 312 : 110),
      LABELS.earlierSolutions,
    );
  });
  if (work === "") return pieces;
  const forms = [MAX_EARLIER_WORK_CHARS, 360].map((chars) => `${LAST_WORK}${clip(work, chars)}`);
  return [...pieces, piece(forms, 200, LABELS.earlierSolutions)];
}
