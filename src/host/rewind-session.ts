import { type CompactionPorts, newLink } from "../compaction/apply/new-entries.ts";
import { withClearedResults } from "../conversation/cleared.ts";
import { indexOfMessage, timeOf } from "../conversation/copies.ts";
import { type Entry, entryBlocks, type RewindMark } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import { contextTokens } from "../tokens/context-meter.ts";
import { indexEntries } from "../transcript/entry-index.ts";
import { loadSession } from "../transcript/load.ts";
import { indexedBefore } from "../transcript/relink.ts";
import { linesOfPast } from "../transcript/rewind.ts";
import type { Session } from "../transcript/session.ts";
import { promptIn } from "./prompt-text.ts";
import { SYSTEM_PORTS } from "./write-lines.ts";

/** Something that a person said, to which a session can be taken back. */
export interface RewindPoint {
  readonly uuid: string;
  readonly text: string;
  readonly timestamp: string;
  /** How many of the compactions that led to the conversation came after it. */
  readonly compactionsSince: number;
}

/** A session as it was before a prompt; nothing of it has been written anywhere. */
export interface SessionRewind {
  /** As it was sent then: boundary, summary, kept messages, attachments, emptied results. Without the mark. */
  readonly conversation: readonly Entry[];
  /** What the mark hangs on; undefined where there was nothing before the prompt. */
  readonly leafUuid: string | undefined;
  /**
   * To be appended to the transcript before anything else: from then on the session is the one from before the
   * prompt. The next entry hangs on it, so it is also the last of what is gone on with. Never sent.
   */
  readonly mark: Entry;
}

/**
 * What people said on the way to the current conversation, newest first, also before its compactions. What they said
 * in a conversation that they left by an earlier rewind is not among it.
 */
export async function rewindPoints(path: string): Promise<readonly RewindPoint[]> {
  const { entries } = await loadSession(path);
  return linesOfPast(indexEntries(entries)).flatMap(({ line, compactionsSince }) => {
    const text = spokenIn(line);
    const timestamp = timeOf(line);
    if (text === undefined || line.uuid === undefined || timestamp === undefined) return [];
    return [{ uuid: line.uuid, text, timestamp, compactionsSince }];
  });
}

/**
 * The conversation exactly as it was right before a prompt was said, and a mark that takes the session back there.
 * The prompt may be any that stands in the file, also in a conversation that was left.
 */
export async function rewindSession(
  path: string,
  promptUuid: string,
  ports: CompactionPorts = SYSTEM_PORTS,
): Promise<SessionRewind> {
  return rewindLoaded(await loadSession(path), promptUuid, ports);
}

/** The same of a session that has been read whole. */
export function rewindLoaded(
  session: Pick<Session, "path" | "entries" | "conversation" | "leafUuid">,
  promptUuid: string,
  ports: CompactionPorts,
): SessionRewind {
  const index = indexEntries(session.entries);
  const prompt =
    index.entries[index.positions.get(promptUuid) ?? -1] ??
    session.conversation[indexOfMessage(session.conversation, promptUuid)] ??
    index.entries[indexOfMessage(index.entries, promptUuid)];
  if (prompt === undefined || spokenIn(prompt) === undefined) throw promptNotFound(session.path, promptUuid);
  const { entries, clearedToolUseIds, leafUuid } = indexedBefore(index, prompt);
  const conversation = withClearedResults(entries, clearedToolUseIds);
  const mark: RewindMark = {
    ...newLink(session.conversation, leafUuid ?? null, ports),
    type: "system",
    subtype: "longhaul_rewind",
    content: "Conversation taken back by longhaul",
    isMeta: false,
    level: "info",
    rewind: {
      before: prompt.uuid ?? promptUuid,
      leftUuid: session.leafUuid ?? null,
      tokens: conversation.length === 0 ? 0 : contextTokens(conversation),
    },
  };
  return { conversation, leafUuid, mark };
}

/** What a person said in an entry. Pictures without a word are said too. */
export function spokenIn(entry: Entry): string | undefined {
  if (entry.type !== "user") return undefined;
  const text = promptIn(entry);
  if (text !== undefined || entry.isMeta === true || entry.isCompactSummary === true) return text;
  const blocks = entryBlocks(entry);
  const isShown = blocks.length > 0 && blocks.every(({ type }) => type === "image" || type === "document");
  return isShown ? blocks.map(({ type }) => `[${type}]`).join(" ") : undefined;
}

function promptNotFound(path: string, uuid: string): LonghaulError {
  return new LonghaulError("message-not-found", `Nothing that a person said in this session is ${uuid}.`, {
    remedy: "Take a uuid from `rewindPoints`.",
    facts: { path, uuid },
  });
}
