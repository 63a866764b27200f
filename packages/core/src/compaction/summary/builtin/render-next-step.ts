import { headOf } from "../../../messages/text.ts";
import { bulleted, clip, oneLine, quoted } from "../clip.ts";
import {
  type AgentText,
  commandsIn,
  type Exchange,
  earlierItems,
  isCommandLine,
  isOnlyCheer,
  isRequest,
  leftWork,
  nextMove,
  remainingWork,
  type SessionDigest,
} from "../readers/readers.ts";
import { ESSENTIAL, type Piece, piece, WORTH_A_LINE } from "./budget.ts";
import { currentRequest, currentRequestBefore } from "./render-history.ts";

/**
 * Renders the section "Optional Next Step". Newer messages may follow the summary, so its lines describe the
 * moment at which it was written.
 */

const MAX_QUOTE_CHARS = 300;
/** Section 8 has the whole text. */
const MAX_SAID_CHARS = 160;
/** The first section has the whole request. */
const MAX_REQUEST_CHARS = 160;
const MAX_EARLIER_STEP_CHARS = 800;
const NEXT_TODO = "- Next on the to-do list: ";

/**
 * Renders the next step only as far as the record supports it. The text says whose turn it is, and quotes the
 * words that show this.
 */
export function renderNextStep(digest: SessionDigest): Piece[] {
  const pieces = isEarlierStepCurrent(digest) ? earlierSteps(digest) : ownStep(digest);
  const todo =
    digest.todos.find((item) => item.status === "in_progress") ??
    digest.todos.find((item) => item.status === "pending");
  if (todo === undefined || pieces.length === 0) return pieces;
  return [...pieces, piece([`${NEXT_TODO}${quoted(clip(oneLine(todo.content), 200))}`], 420)];
}

/** Returns true if nothing happened since the earlier summary. */
export function isEarlierStepCurrent({ openQuestions, lastActor }: SessionDigest): boolean {
  return openQuestions.length === 0 && lastActor === "nobody";
}

/** Renders the next steps of the earlier summary. All of them still apply. */
function earlierSteps({ earlier, todos }: SessionDigest): Piece[] {
  return earlierItems(earlier, "Optional Next Step")
    .filter((item) => todos.length === 0 || !item.startsWith(NEXT_TODO))
    .map((item, index) => {
      const line = oneLine(bulleted(item));
      const importance = index === 0 ? ESSENTIAL : WORTH_A_LINE;
      return piece([clip(line, MAX_EARLIER_STEP_CHARS), clip(line, 160)], importance);
    });
}

function ownStep(digest: SessionDigest): Piece[] {
  const line = nextStep(digest);
  return line === undefined ? [] : [piece([line, clip(line, 160)], ESSENTIAL)];
}

function nextStep(digest: SessionDigest): string | undefined {
  const request = currentRequest(digest)?.text ?? currentRequestBefore(digest);
  const asked = request && quoted(clip(oneLine(headOf(request, 4 * MAX_REQUEST_CHARS)), MAX_REQUEST_CHARS));
  const about = asked ? ` The request was: ${asked}` : "";
  const lastText = wordsSinceRequest(digest).findLast(({ text }) => !isOnlyCheer(text))?.text;
  const move = nextMove(digest, lastText);
  const saying = (introduction: string): string =>
    move && "said" in move && move.said !== undefined
      ? ` ${introduction}: ${quoted(clip(move.said, MAX_SAID_CHARS))}`
      : "";
  switch (move?.kind) {
    case "answer-awaited":
      return `- Wait for the user's answer to: ${quoteOf(move.question)}`;
    case "message-unanswered":
      return `- Answer the user's latest message, unless newer messages do: ${asked}`;
    case "work-under-way": {
      const doing = saying("When this summary was written, the assistant was at work and had last said");
      if (isCommandDone(digest))
        return `- The command that the user sent was run: ${asked}. Continue with the work after it, unless newer messages show that it is done.${doing}`;
      const what = asked ? `the user's request ${asked}` : "the work described above";
      return `- Continue with ${what}, unless newer messages show that it is done.${answerNote(digest)}${doing}`;
    }
    case "reply-awaited":
      return `- The assistant has answered and asked: ${quoted(clip(move.question, MAX_QUOTE_CHARS))} Wait for the reply, then act on it.${about}`;
    case "todos-open":
      return `- Continue with the open items in section 7.${saying("The assistant last said")}${about}`;
    case "agents-running":
      return `- Wait for the background agents named in section 7 and use their reports.${saying("The assistant last said")}${about}`;
    case "all-done": {
      const open = hasLeftWork(digest) ? " Section 7 lists what may still be open." : "";
      return `- The assistant gave a final report on the latest request.${open} Wait for the user.${saying("The assistant last said")}`;
    }
    default:
      return undefined;
  }
}

/** Returns true if there is open work that neither a to-do list nor a failed command shows. */
const hasLeftWork = ({ exchanges, droppedTodos, runningTasks }: SessionDigest): boolean =>
  [droppedTodos, runningTasks, leftWork(exchanges), remainingWork(exchanges)].some(
    ({ length }) => length > 0,
  );

const quoteOf = (text: string): string => quoted(clip(oneLine(text), MAX_QUOTE_CHARS));

/** Returns the exchanges from the current request on. */
const sinceRequest = ({ exchanges }: SessionDigest): readonly Exchange[] =>
  exchanges.slice(Math.max(0, exchanges.findLastIndex(isRequest)));

/** Returns the agent's texts about the current request. An older text is about another request. */
const wordsSinceRequest = (digest: SessionDigest): readonly AgentText[] =>
  sinceRequest(digest).flatMap(({ texts }) => texts);

/** Item about the work that follows a command which the user sent. */
export const AFTER_COMMAND = "- In progress: the work after the user's command (see section 8)";

/** Returns true if the current request is only a command line, and the agent ran it without a failure. */
export function isCommandDone(digest: SessionDigest): boolean {
  const request = currentRequest(digest)?.text;
  const asked = (request ?? currentRequestBefore(digest))?.trim().replace(/^[$>] ?/, "");
  if (asked === undefined || !isCommandLine(asked)) return false;
  const isRun = sinceRequest(digest)
    .flatMap(commandsIn)
    .some(({ command, failed, state }) => command === asked && !failed && state !== "no-result");
  if (isRun || request !== undefined) return isRun;
  const { earlier } = digest;
  if (earlierItems(earlier, "Pending Tasks").includes(AFTER_COMMAND)) return true;
  const ran = `- ran \`${asked}\``;
  return earlierItems(earlier, "Current Work").some(
    (item) => item.startsWith(ran) && !/^ → (?:FAILED|no result)/.test(item.slice(ran.length)),
  );
}

/**
 * Returns the user's newest answers to questions of the agent, if no newer request followed them. They are the
 * newest instruction.
 */
export function newestAnswers(digest: SessionDigest): string | undefined {
  const since = digest.exchanges.findLast(isRequest)?.message?.at ?? -1;
  const last = digest.answers.at(-1);
  if (last !== undefined && last.at > since) {
    const given = digest.answers.filter(({ at }) => at === last.at);
    return given.map(({ answer }) => quoted(clip(oneLine(answer), MAX_ANSWER_CHARS))).join("; ");
  }
  const before = earlierItems(digest.earlier, "Pending Tasks").find((item) => item.startsWith(NEWEST_ANSWER));
  return since === -1 ? before?.slice(NEWEST_ANSWER.length) : undefined;
}

/** Start of an item about the user's newest answer, which stays the newest instruction until the next request. */
export const NEWEST_ANSWER = "- The user's newest instruction, in answer to a question: ";
const MAX_ANSWER_CHARS = 160;

function answerNote(digest: SessionDigest): string {
  const given = newestAnswers(digest);
  return given === undefined ? "" : ` The user's newest instruction, in answer to a question: ${given}.`;
}
