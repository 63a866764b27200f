import { measureEntry } from "@longhaul/core/internal/measure";
import {
  copiedIds,
  hasOpenCalls,
  indexInConversation,
  previousSoundCut,
  replacesMessage,
  soundCuts,
} from "@longhaul/core/internal/messages";
import { ESTIMATORS } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { Notes } from "@longhaul/notes/internal/format";
import type { Session } from "../transcript/load.ts";
import { type SessionHistory, sessionHistory } from "./session-history.ts";

/** Part of a session that the notes cover. */
export type NotesCoverage =
  /**
   * The notes cover everything up to the message `upTo`. If no message is certain to be covered completely,
   * `upTo` is undefined.
   */
  | { readonly state: "known"; readonly upTo: Entry | undefined; readonly fresh: readonly Entry[] }
  /** The notes name a message that the session does not have. */
  | { readonly state: "not-found"; readonly uuid: string }
  /** The notes name no message: a person or another program wrote them. */
  | { readonly state: "unknown" };

/**
 * Returns entries that are not in the notes yet. Stops before a tool call that still waits for its result.
 */
export function entriesToNote(history: SessionHistory, from: number): readonly Entry[] {
  const fresh = history.entries.slice(from).filter((entry) => !history.isRepeated(entry));
  const sound = soundCuts(fresh);
  let end = fresh.length;
  while (end > 0 && hasOpenCalls(fresh.slice(0, end))) end = previousSoundCut(sound, end - 1);
  return fresh.slice(0, end);
}

export function coverageOf(
  { coveredUuid }: Pick<Notes, "coveredUuid">,
  history: SessionHistory,
): NotesCoverage {
  if (coveredUuid === undefined) return { state: "unknown" };
  if (coveredUuid === "") return { state: "known", upTo: undefined, fresh: entriesToNote(history, 0) };
  const place = history.placeOf(coveredUuid);
  if (place === undefined) return { state: "not-found", uuid: coveredUuid };
  return { state: "known", upTo: history.entries[place], fresh: entriesToNote(history, place + 1) };
}

/**
 * Returns the newest message of the conversation that the notes cover. It is the given message, a copy of it,
 * or an earlier message. The conversation may lack the given message, because an undo does not rewrite lines
 * that are never sent to the model.
 */
export function coveredIn(session: Session, coveredUuid: string): string {
  const { conversation } = session;
  const current = conversation[indexInConversation(conversation, session.entries, coveredUuid)]?.uuid;
  // An entry that replaces several messages may contain something that is not in the notes. In that case, the
  // given id is returned.
  if (current !== undefined || conversation.some((entry) => replacesMessage(entry, coveredUuid)))
    return current ?? coveredUuid;
  const uuids = new Map<string, string>();
  for (const entry of conversation) {
    const { uuid } = entry;
    if (uuid !== undefined) for (const id of [uuid, ...copiedIds(entry)]) uuids.set(id, uuid);
  }
  const history = sessionHistory(session);
  const noted = history.entries.slice(0, (history.placeOf(coveredUuid) ?? -1) + 1);
  for (const entry of noted.reverse()) {
    const id = [entry.uuid ?? "", ...copiedIds(entry)].find((one) => uuids.has(one));
    if (id !== undefined) return uuids.get(id) ?? coveredUuid;
  }
  return coveredUuid;
}

/** Splits entries into steps of about this many tokens. A call and its result are always in the same step. */
export function splitIntoSteps(entries: readonly Entry[], stepTokens: number): readonly (readonly Entry[])[] {
  const sound = soundCuts(entries);
  const steps: (readonly Entry[])[] = [];
  let start = 0;
  let tokens = 0;
  for (const [at, entry] of entries.entries()) {
    tokens += measureEntry(entry, ESTIMATORS.o200k);
    if (at + 1 < entries.length && (tokens < stepTokens || sound[at + 1] === false)) continue;
    steps.push(entries.slice(start, at + 1));
    start = at + 1;
    tokens = 0;
  }
  return steps;
}

/**
 * Returns the newest message that the notes cover after this step. If the entries after the step only repeat
 * noted entries, they are covered too. Right after a compaction, the context contains only such entries.
 */
export function coveredBy(step: readonly Entry[], history: SessionHistory): string | undefined {
  let covered = step.findLast(({ uuid }) => uuid !== undefined)?.uuid;
  const place = covered === undefined ? undefined : history.placeOf(covered);
  if (place === undefined) return covered;
  for (let at = place + 1; at < history.entries.length; at++) {
    const entry = history.entries[at];
    if (entry === undefined || !history.isRepeated(entry)) break;
    covered = entry.uuid ?? covered;
  }
  return covered;
}
