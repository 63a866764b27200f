import { LonghaulError, type LonghaulErrorCode } from "@longhaul/core/errors";
import { copiedIds, indexInConversation } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";

const WHERE_TO_LOOK = "`longhaul inspect SESSION --prompts` lists what can be chosen.";
/** More candidates would be a list to search, not an answer. */
const SHOWN_CANDIDATES = 3;

/**
 * Finds the uuid of a message by the uuid or the beginning of it. If the conversation has no such id, ids
 * that messages had before they were rewritten count too.
 *
 * @param lines all lines of the session.
 */
export function chooseMessage(
  conversation: readonly Entry[],
  wanted: string,
  lines: readonly Entry[] = [],
): string {
  const own = conversation.flatMap(({ uuid }) => (uuid?.startsWith(wanted) ? [uuid] : []));
  if (own.includes(wanted)) return wanted;
  const exact = conversation[indexInConversation(conversation, lines, wanted)]?.uuid;
  if (exact !== undefined) return exact;
  const uuids = own.length > 0 ? own : earlierIds(conversation, wanted, lines);
  const [only, ...others] = uuids;
  if (only === undefined || wanted === "") {
    throw notChosen(`No message of the conversation begins like ${wanted}.`, wanted, COMPACTED);
  }
  if (others.length === 0) return only;
  const shown = uuids.slice(0, SHOWN_CANDIDATES).join(", ");
  const more = uuids.length > SHOWN_CANDIDATES ? " and others" : "";
  throw notChosen(
    `${uuids.length} messages begin like ${wanted}: ${shown}${more}.`,
    wanted,
    "Give more of the uuid.",
  );
}

interface IdWords {
  readonly code?: LonghaulErrorCode;
  /** Subject of the sentence that says that there is none. */
  readonly none: string;
  /** Plural of the thing. */
  readonly many: string;
  readonly remedy: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** Finds one of these ids by the id or the beginning of it. */
export function chooseId(ids: readonly string[], wanted: string, words: IdWords): string {
  const { code = "message-not-found", none, many, remedy, facts } = words;
  const found = ids.includes(wanted) ? [wanted] : ids.filter((id) => id.startsWith(wanted));
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const message =
    only === undefined ? `${none} begins like ${wanted}.` : `${found.length} ${many} begin like ${wanted}.`;
  throw new LonghaulError(code, message, { remedy, facts });
}

/** Messages of the conversation that had such an id before. */
function earlierIds(
  conversation: readonly Entry[],
  wanted: string,
  lines: readonly Entry[],
): readonly string[] {
  const ids = new Set<string>();
  for (const line of [...conversation, ...lines]) {
    for (const id of [line.uuid, ...copiedIds(line)]) if (id?.startsWith(wanted)) ids.add(id);
  }
  const found = [...ids].flatMap(
    (id) => conversation[indexInConversation(conversation, lines, id)]?.uuid ?? [],
  );
  return [...new Set(found)];
}

const COMPACTED = "What an earlier compaction summarized can no longer be chosen.";

function notChosen(message: string, wanted: string, remedy: string): LonghaulError {
  return new LonghaulError("message-not-found", message, {
    remedy: `${remedy} ${WHERE_TO_LOOK}`,
    facts: { message: wanted },
  });
}
