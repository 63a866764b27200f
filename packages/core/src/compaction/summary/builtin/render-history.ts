import { headOf } from "../../../messages/text.ts";
import { bulleted, clip, clipMarkdown, indented, oneLine, quoted } from "../clip.ts";
import {
  AFTER_INTERRUPTION,
  answerToAside,
  choiceText,
  commandsIn,
  complains,
  condensed,
  type Exchange,
  earlierItems,
  earlierLastWords,
  earlierMessages,
  earlierWorkInBrief,
  editedNames,
  endsWithReport,
  failedElsewhere,
  type HumanMessage,
  IN_PROGRESS,
  isCommandLine,
  isReportOf,
  isRequest,
  LABELS,
  lastLongerRequest,
  messageForms,
  messageKey,
  NEEDS_CONTEXT_CHARS,
  opensWithCorrection,
  outcomeText,
  type Plan,
  parseMessageItem,
  readReasonItem,
  repliedTo,
  reportsFault,
  requestInFull,
  resultSentence,
  SEE_CURRENT_REQUEST,
  type SessionDigest,
  saysLittle,
  statedOutcome,
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

export function renderRequests(digest: SessionDigest, instructions: string | undefined): Piece[] {
  const requests = digest.exchanges.flatMap((exchange, at) => (isRequest(exchange) ? [at] : []));
  const current = requests.at(-1);
  const past = requests.slice(0, -1);
  const course = past.map((at, index) =>
    piece(requestForms(digest.exchanges, at), rising(220, 340, index, past.length), LABELS.pastRequests),
  );
  return [
    ...(current === undefined ? [] : currentPieces(digest.exchanges, current)),
    ...earlierRequests(digest, current !== undefined),
    ...course,
    ...settingPieces(digest, instructions),
  ];
}

function currentPieces(exchanges: readonly Exchange[], at: number): Piece[] {
  const text = exchanges[at]?.message?.text ?? "";
  const pieces = [piece(messageForms(text), 1_100, LABELS.currentRequest)];
  const context = text.length <= NEEDS_CONTEXT_CHARS ? repliedTo(exchanges[at - 1], 500) : undefined;
  if (context) pieces.push(piece([`  (in reply to: ${context})`], 600, LABELS.currentRequest));
  const longer = saysLittle(text) ? lastLongerRequest(exchanges) : undefined;
  if (longer) pieces.push(piece(messageForms(longer), 700, LABELS.longerRequest));
  return pieces;
}

function requestForms(exchanges: readonly Exchange[], at: number): string[] {
  const exchange = exchanges[at] as Exchange;
  const text = oneLine(headOf(exchange.message?.text ?? "", 4 * MAX_REQUEST_CHARS));
  const context = text.length <= NEEDS_CONTEXT_CHARS / 2 ? repliedTo(exchanges[at - 1], 120) : undefined;
  const asked = quoted(clip(text, MAX_REQUEST_CHARS)) + (context ? ` (in reply to: ${context})` : "");
  const said = outcomeOf(exchanges, at);
  const proofs = proofsOf(exchange).join("; ");
  const reaction = reactionTo(exchanges.slice(at + 1).find(isRequest)?.message);
  return [
    `- ${asked} → ${said}${reaction}${proofs === "" ? "" : ` [${proofs}]`}`,
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

function outcomeOf(exchanges: readonly Exchange[], at: number): string {
  const exchange = exchanges[at] as Exchange;
  const answer = answerToAside(exchanges[at - 1], exchange);
  if (answer !== undefined) return asOutcome(answer);
  const next = exchanges[at + 1];
  const isInterrupted = next !== undefined && answerToAside(exchange, next) !== undefined;
  const lead = statedOutcome(isInterrupted ? next : exchange);
  if (isInterrupted && lead !== undefined) return asOutcome(lead);
  if (lead !== undefined) return endsWithReport(exchange) ? asOutcome(lead) : asLastWords(lead);
  return exchange.actions.length > 0 ? NO_CLOSING_MESSAGE : "no answer before the next message";
}

const NO_CLOSING_MESSAGE = "the assistant worked on it but wrote no closing message";

/** Returns words that the agent said in the middle of its work. They are no result. */
const asLastWords = (lead: string): string =>
  `no closing message about it, last words: ${quoted(asOutcome(lead))}`;

/** Returns the outcome without a mark such as "🎉" before it. */
const asOutcome = (lead: string): string =>
  clip(lead.replace(/^[^\p{L}\p{N}`"'“([]+/u, "").replace(/[:：]$/, "") || lead, MAX_OUTCOME_CHARS);

/** Returns evidence that can be verified: commits, test results and changed files. */
function proofsOf(exchange: Exchange): readonly string[] {
  const proofs = exchange.commits.map((commit) => `commit ${commit.id}`);
  const tests = commandsIn(exchange).findLast((run) => run.kind === "test" && !failedElsewhere(run));
  if (tests) {
    const outcome = tests.outcome ? `: ${clip(tests.outcome, 60)}` : "";
    if (tests.failed) proofs.push(`last test run FAILED${outcome}`);
    else if (tests.state === "passed") proofs.push(`last test run passed${outcome}`);
    else proofs.push(`last test run: ${clip(outcomeText(tests).replace(" → ", ""), 80)}`);
  }
  const names = editedNames(exchange);
  const more = names.length > 4 ? ` +${names.length - 4}` : "";
  return names.length === 0 ? proofs : [...proofs, `edited ${names.slice(0, 4).join(", ")}${more}`];
}

/**
 * Renders the requests of an earlier summary. If the user has asked for nothing since, its current request is
 * still current. Otherwise that request is the last past request.
 */
function earlierRequests(digest: SessionDigest, hasNewer: boolean): Piece[] {
  const { earlier } = digest;
  const items = earlierItems(earlier, "Primary Request and Intent").filter((item) => !SETTING.test(item));
  const verbatim = items.filter(isVerbatim);
  const [current] = verbatim;
  const isPast = hasNewer || current !== undefined;
  const past = pastItems(items, digest);
  const pieces = past.map((item, index) => {
    const bullet = bulleted(item);
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
  const outcome = earlierOutcome(digest, text, past.at(-1));
  const reaction = reactionTo(digest.exchanges.find(isRequest)?.message);
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
 * Returns the outcome of the earlier summary's current request. The first messages after the summary continue
 * the work on it.
 */
function earlierOutcome(
  { earlier, exchanges }: SessionDigest,
  request: string,
  before: string | undefined,
): string {
  const [first] = exchanges;
  const words = earlierLastWords(earlier);
  const continued = first?.message === undefined ? first : undefined;
  const lead = continued === undefined ? undefined : statedOutcome(continued);
  if (continued !== undefined && lead !== undefined && !endsWithReport(continued)) return asLastWords(lead);
  const said = lead ?? (words === undefined ? undefined : resultSentence(words));
  if (said === undefined) return NO_CLOSING_MESSAGE;
  if (lead === undefined && earlierItems(earlier, "Pending Tasks").includes(IN_PROGRESS))
    return asLastWords(said);
  const unfinished = before?.includes(`→ ${NO_CLOSING_MESSAGE}`) ? (quotedRequest(before) ?? "") : "";
  return isReportOf(unfinished, request, said) ? asLastWords(said) : asOutcome(said);
}

/** Text that an earlier summary adds to a short request, on a line of its own. */
const IN_REPLY = /\n {2}\(in reply to: [\s\S]*$/;

/**
 * Returns true if the item is a verbatim request. In a built-in summary, only the current request is
 * verbatim, because an outcome follows every other request. Items that a model wrote are prose.
 */
function isVerbatim(item: string): boolean {
  return /^- (?:"|\(\d+ lines\)\n)/.test(item) && !item.replace(IN_REPLY, "").includes(" → ");
}

const verbatimText = (item: string): string => parseMessageItem(item.replace(IN_REPLY, ""));

/** Matches lines of {@link settingPieces}. */
const SETTING = /^- (?:Working directory|Instructions for this summary:|For this summary was asked:)/;

function settingPieces({ cwd, root, branch }: SessionDigest, instructions: string | undefined): Piece[] {
  const pieces: Piece[] = [];
  if (cwd !== undefined) {
    const paths = root === undefined || root === cwd ? "" : ` Paths are relative to \`${root}\`.`;
    const line = `- Working directory \`${cwd}\`${branch ? `, git branch \`${branch}\`` : ""}.${paths}`;
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

function findingPieces({ findings }: SessionDigest): Piece[] {
  const kept = findings.filter((finding) => finding.text.length > 20).slice(-MAX_FINDINGS);
  return kept.map((finding, index) => {
    const title = clip(oneLine(finding.title), 100);
    const report = condensed(finding.text);
    const forms = [700, 320, 140].map((chars) => `- ${title}: ${clip(report, chars)}`);
    return piece(forms, rising(130, 220, index, kept.length), LABELS.findings);
  });
}

const WORK_ITEM = "- Work at the last summary: ";
/** Number of items about the work at earlier summaries to keep. The causes in older ones are listed anyway. */
const MAX_EARLIER_WORKS = 3;

/**
 * Renders the section "Current Work" of the earlier summary as one item of history, so that summaries do not
 * nest.
 */
function earlierSolutions({ earlier, exchanges }: SessionDigest): Piece[] {
  const all = earlierItems(earlier, "Problem Solving").filter((item) => readReasonItem(item) === undefined);
  const works = all.filter((item) => item.startsWith(WORK_ITEM)).slice(0, -MAX_EARLIER_WORKS);
  const items = all.filter((item) => !works.includes(item));
  const pieces = items.map((item, index) => {
    const bullet = bulleted(item);
    return piece(
      [clipMarkdown(bullet, MAX_EARLIER_SOLUTION_CHARS), clip(oneLine(bullet), 160)],
      // Answers of the user stay as important as they were when they were new.
      rising(0, 16, index, items.length) + (ANSWER_ITEM.test(bullet) ? 312 : 110),
      LABELS.earlierSolutions,
    );
  });
  const work = earlierWorkInBrief(earlier);
  if (work === "" || exchanges.length === 0) return pieces;
  const forms = [MAX_EARLIER_WORK_CHARS, 360].map((chars) => `${WORK_ITEM}${clip(work, chars)}`);
  return [...pieces, piece(forms, 200, LABELS.earlierSolutions)];
}
