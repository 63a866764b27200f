import { headOf } from "../../../conversation/text.ts";
import { type Piece, rising } from "../budget.ts";
import { clip, oneLine, quoted } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { type Exchange, isRequest } from "../exchange.ts";
import { LABELS } from "../labels.ts";
import { lastSentences, leadSentence } from "../sentences.ts";
import { earlierRequestPieces } from "./earlier-requests.ts";
import { messageForms } from "./message-item.ts";
import { fileName } from "./paths.ts";

const MAX_REQUEST_CHARS = 110;
const MAX_OUTCOME_CHARS = 200;
/** An answer this short means nothing without the question. */
const NEEDS_CONTEXT_CHARS = 60;
/** A message this short asks for nothing by itself. */
const SAYS_LITTLE_CHARS = 24;

/** The latest message that asks for something. */
export function currentRequest(digest: SessionDigest): Exchange | undefined {
  return digest.exchanges.findLast(isRequest);
}

export function renderRequests(digest: SessionDigest, instructions: string | undefined): Piece[] {
  const current = currentRequest(digest);
  const earlier = earlierRequestPieces(digest, current !== undefined);
  const places = [...digest.exchanges.keys()].filter((at) => isPast(digest.exchanges[at], current));
  const course = places.map((at, index): Piece => {
    const importance = rising(220, 340, index, places.length);
    const [before, exchange] = [digest.exchanges[at - 1], digest.exchanges[at] as Exchange];
    return { forms: requestForms(exchange, before), importance, group: LABELS.pastRequests };
  });
  return [...currentPieces(digest, current), ...earlier, ...course, ...settingPieces(digest, instructions)];
}

const isPast = (exchange: Exchange | undefined, current: Exchange | undefined): boolean =>
  exchange !== undefined && isRequest(exchange) && exchange !== current;

function currentPieces(digest: SessionDigest, current: Exchange | undefined): Piece[] {
  if (!current?.message) return [];
  const pieces: Piece[] = [
    { forms: messageForms(current.message.text), importance: 1_100, group: LABELS.currentRequest },
  ];
  const before = digest.exchanges[digest.exchanges.indexOf(current) - 1];
  const context = current.message.text.length <= NEEDS_CONTEXT_CHARS ? repliedTo(before, 500) : undefined;
  if (context)
    pieces.push({ forms: [`  (in reply to: ${context})`], importance: 600, group: LABELS.currentRequest });
  const goesOnWith =
    current.message.text.length <= SAYS_LITTLE_CHARS ? lastLongerRequest(digest, current) : undefined;
  if (goesOnWith)
    pieces.push({ forms: messageForms(goesOnWith), importance: 700, group: LABELS.longerRequest });
  return pieces;
}

/** "Continue" or "yes" carries on with what was asked before it. */
function lastLongerRequest(digest: SessionDigest, current: Exchange): string | undefined {
  const before = digest.exchanges.slice(0, digest.exchanges.indexOf(current));
  const longer = before.findLast(
    (exchange) => isRequest(exchange) && (exchange.message?.text.length ?? 0) > NEEDS_CONTEXT_CHARS,
  );
  return longer?.message?.text;
}

/** The end of what the agent had said: there stands the question or the offer. */
export function repliedTo(before: Exchange | undefined, maxChars: number): string | undefined {
  const said = before?.texts.at(-1)?.text;
  if (said === undefined) return undefined;
  const closing = lastSentences(said, 3).join(" ");
  const fromEnd = closing.length > maxChars ? `…${closing.slice(-maxChars).replace(/^\S*\s/, "")}` : closing;
  return closing === "" ? undefined : quoted(fromEnd);
}

function requestForms(exchange: Exchange, before: Exchange | undefined): string[] {
  const text = oneLine(headOf(exchange.message?.text ?? "", 4 * MAX_REQUEST_CHARS));
  const proofs = proofsOf(exchange);
  const context = text.length <= NEEDS_CONTEXT_CHARS / 2 ? repliedTo(before, 120) : undefined;
  const asked = quoted(clip(text, MAX_REQUEST_CHARS)) + (context ? ` (in reply to: ${context})` : "");
  const said = outcomeText(exchange);
  const detail = proofs === "" ? "" : ` [${proofs}]`;
  return [`- ${asked} → ${said}${detail}`, `- ${quoted(clip(text, 70))} → ${clip(said, 90)}`];
}

function outcomeText(exchange: Exchange): string {
  const last = exchange.texts.at(-1)?.text;
  const lead = last === undefined ? undefined : leadSentence(last);
  if (lead !== undefined) return clip(lead.replace(/[:：]$/, ""), MAX_OUTCOME_CHARS);
  return exchange.actions.length > 0 ? "worked on; no closing word" : "no answer before the next message";
}

/** Commits, test results and changed files: what can be looked up. */
function proofsOf(exchange: Exchange): string {
  const commits = exchange.commits.map((commit) => `commit ${commit.id}`);
  const tests = exchange.actions.findLast(
    (action) => action.kind === "command" && action.run.kind === "test",
  );
  const files = new Set(
    exchange.actions.flatMap((action) => (action.kind === "edit" ? [fileName(action.path)] : [])),
  );
  const proofs = [...commits];
  if (tests?.kind === "command") {
    proofs.push(
      `last test run ${tests.run.failed ? "FAILED" : "passed"}${tests.run.outcome ? `: ${clip(tests.run.outcome, 60)}` : ""}`,
    );
  }
  const names = [...files];
  if (names.length > 0)
    proofs.push(`edited ${names.slice(0, 4).join(", ")}${names.length > 4 ? ` +${names.length - 4}` : ""}`);
  return proofs.join("; ");
}

function settingPieces(digest: SessionDigest, instructions: string | undefined): Piece[] {
  const pieces: Piece[] = [];
  if (digest.cwd !== undefined) {
    const branch = digest.branch ? `, git branch \`${digest.branch}\`` : "";
    pieces.push({
      forms: [`- Working directory \`${digest.cwd}\`${branch}.`],
      importance: 400,
      group: LABELS.setting,
    });
  }
  if (instructions?.trim()) {
    const asked = clip(oneLine(instructions), 600);
    pieces.push({
      forms: [`- For this summary was asked: ${quoted(asked)}`],
      importance: 410,
      group: LABELS.setting,
    });
  }
  return pieces;
}
