import { editedFiles } from "./files.ts";
import { type CallTurn, commandOf, type Turn, textField } from "./read-session.ts";
import type { SessionView } from "./session-view.ts";
import { userSentences } from "./user-words.ts";
import { sentencesOf } from "./words.ts";

/** Work that is open at the end of a session, with the turns that show it. */
export interface OpenEnd {
  readonly text: string;
  readonly entryIds: readonly string[];
}

const LEAD_SENTENCES = 2;
const MAX_LEAD_CHARS = 600;
const MAX_NAME_CHARS = 200;

/** The first sentences of a text state what it is about. */
export const leadOf = (text: string): string => sentencesOf(text).slice(0, LEAD_SENTENCES).join(" ");

/** A longer message may be a paste. */
const MAX_WHOLE_CHARS = 300;

/** Returns the last message of the user. Of a long one, only the user's own sentences count. */
function lastRequest(view: SessionView): { readonly text: string; readonly entryId: string } | undefined {
  const last = lastOf(view, "user");
  if (last !== undefined && last.text.length <= MAX_WHOLE_CHARS) return last;
  const sentences = userSentences(view);
  const turn = sentences.at(-1)?.turn;
  if (turn === undefined) return undefined;
  const own = sentences.filter((sentence) => sentence.turn === turn).map(({ text }) => text);
  const ends = [...own.slice(0, LEAD_SENTENCES), ...own.slice(LEAD_SENTENCES).slice(-LEAD_SENTENCES)];
  return { text: ends.join(" ").slice(0, MAX_LEAD_CHARS), entryId: turn.entryId };
}

const DESCRIPTIONS = ["description", "subject", "file_path", "path"];

const nameOf = (call: CallTurn): string =>
  [...DESCRIPTIONS.map((name) => textField(call.input, name)), commandOf(call) ?? ""]
    .join(" ")
    .slice(0, MAX_NAME_CHARS);

const lastOf = <T extends Turn["type"]>(view: SessionView, type: T): Extract<Turn, { type: T }> | undefined =>
  view.turns.findLast((turn): turn is Extract<Turn, { type: T }> => turn.type === type);

/** Returns the last request, the last text of the agent and its last call: what a next step can refer to. */
export function endOfSession(view: SessionView): OpenEnd {
  const [user, assistant, call] = [lastRequest(view), lastOf(view, "assistant"), lastOf(view, "call")];
  const isCallLast = call !== undefined && call.at > (assistant?.at ?? -1);
  const parts = [
    ...(user === undefined ? [] : [user]),
    ...(assistant === undefined ? [] : [{ text: leadOf(assistant.text), entryId: assistant.entryId }]),
    ...(isCallLast ? [{ text: nameOf(call), entryId: call.entryId }] : []),
  ];
  return { text: parts.map(({ text }) => text).join(" "), entryIds: parts.map(({ entryId }) => entryId) };
}

/** Returns the last request or call that the agent has not answered in a text. */
export function unansweredEnd(view: SessionView): OpenEnd | undefined {
  return view.turns.at(-1)?.type === "assistant" || view.turns.length === 0 ? undefined : endOfSession(view);
}

/** Returns the files that the agent changed after its last commit. */
export function uncommittedFiles(view: SessionView): { readonly path: string; readonly call: CallTurn }[] {
  const commits = view.runs.filter(
    ({ call, result }) => /\bgit commit\b/.test(commandOf(call) ?? "") && result?.isError === false,
  );
  const last = commits.at(-1)?.call.at;
  return last === undefined ? [] : editedFiles(view).filter(({ call }) => call.at > last);
}
