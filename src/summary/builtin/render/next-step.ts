import { headOf } from "../../../conversation/text.ts";
import { ESSENTIAL, type Piece, WORTH_A_LINE } from "../budget.ts";
import { clip, oneLine, quoted } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { earlierItems } from "../read/earlier.ts";
import { endsWithQuestion, lastSentence, lastSentences } from "../sentences.ts";
import { currentRequest } from "./requests.ts";

const MAX_QUOTE_CHARS = 300;
const MAX_EARLIER_CHARS = 800;
const NEXT_TODO = "- Next on the to-do list: ";

/** Only what the record supports: who has the next move, with the words that show it. */
export function renderNextStep(digest: SessionDigest): Piece[] {
  const pieces = isEarlierStepCurrent(digest) ? earlierSteps(digest) : ownStep(digest);
  const todo =
    digest.todos.find((item) => item.status === "in_progress") ??
    digest.todos.find((item) => item.status === "pending");
  if (todo === undefined || pieces.length === 0) return pieces;
  const line = `${NEXT_TODO}${quoted(clip(oneLine(todo.content), 200))}`;
  return [...pieces, { forms: [line], importance: 420 }];
}

/** Nothing was done since the earlier summary, so all of its steps hold. */
function earlierSteps({ earlier, todos }: SessionDigest): Piece[] {
  return earlierItems(earlier, "Optional Next Step")
    .filter((item) => todos.length === 0 || !item.startsWith(NEXT_TODO))
    .map((item, index): Piece => {
      const line = oneLine(/^[-*•]\s/.test(item) ? item : `- ${item}`);
      const importance = index === 0 ? ESSENTIAL : WORTH_A_LINE;
      return { forms: [clip(line, MAX_EARLIER_CHARS), clip(line, 160)], importance };
    });
}

function ownStep(digest: SessionDigest): Piece[] {
  const line = nextStep(digest);
  return line === undefined ? [] : [{ forms: [line, clip(line, 160)], importance: ESSENTIAL }];
}

function nextStep(digest: SessionDigest): string | undefined {
  const request = currentRequest(digest)?.message;
  const lastText = digest.exchanges.findLast((exchange) => exchange.texts.length > 0)?.texts.at(-1)?.text;
  const asked = request && quoted(clip(oneLine(headOf(request.text, 4 * MAX_QUOTE_CHARS)), MAX_QUOTE_CHARS));
  const question = digest.openQuestions.at(-1);
  if (question !== undefined)
    return `- Wait for the user's answer to: ${quoted(clip(oneLine(question), MAX_QUOTE_CHARS))}`;
  if (digest.lastActor === "person")
    return `- Answer the user's latest message, to which nothing has been done yet: ${asked}`;
  if (digest.lastActor === "tool") return goOn(asked, lastText);
  if (digest.lastActor === "agent" && lastText !== undefined) return afterLastWords(asked, lastText, digest);
  return undefined;
}

/** Nothing happened since the earlier summary. */
export const isEarlierStepCurrent = ({ openQuestions, lastActor }: SessionDigest): boolean =>
  openQuestions.length === 0 && lastActor === "nobody";

/** A step that {@link renderNextStep} wrote: it says where things stood at that moment, and holds no longer. */
export function isOwnNextStep(item: string): boolean {
  return /^- (?:Wait for the (?:user's answer to|background agents named)|Answer the user's latest message, to|Go on with (?:the user's request|the work described|the open items)|The assistant has answered and asked:|The latest request looks answered;)/.test(
    item,
  );
}

function goOn(asked: string | undefined, lastText: string | undefined): string {
  const said = lastText === undefined ? undefined : lastSentence(lastText);
  const doing =
    said === undefined
      ? ""
      : ` The assistant was in the middle of it; it had last said: ${quoted(clip(said, MAX_QUOTE_CHARS))}`;
  return `- Go on with ${asked ? `the user's request ${asked}` : "the work described above"}.${doing}`;
}

function afterLastWords(asked: string | undefined, lastText: string, digest: SessionDigest): string {
  const closing = lastSentences(lastText, 3);
  const question = closing.findLast(endsWithQuestion);
  const about = asked ? ` The request was: ${asked}` : "";
  if (question !== undefined) {
    return `- The assistant has answered and asked: ${quoted(clip(question, MAX_QUOTE_CHARS))} Wait for the reply, then act on it.${about}`;
  }
  const last = closing.at(-1);
  const words = last === undefined ? "" : ` Its last words: ${quoted(clip(last, MAX_QUOTE_CHARS))}`;
  if (digest.todos.some((todo) => todo.status !== "completed"))
    return `- Go on with the open items under 7.${words}${about}`;
  if (digest.runningTasks.length > 0)
    return `- Wait for the background agents named under 7 and use what they report.${words}${about}`;
  return `- The latest request looks answered; nothing further was asked. Wait for the user.${words}${about}`;
}
