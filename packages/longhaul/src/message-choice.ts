import { LonghaulError } from "@longhaul/core/errors";
import { copiedIds, indexInConversation } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";

const WHERE_TO_LOOK = "`longhaul inspect SESSION --prompts` lists the messages that you can choose.";
/**
 * Maximum number of ids in an error message. With more ids, the message would be a long list that the reader
 * has to search.
 */
const SHOWN_CANDIDATES = 3;

/**
 * Finds the uuid of a message. The user gives the uuid or its beginning. If no message of the conversation
 * has this id, searches the ids that messages had before they were rewritten.
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
    throw new LonghaulError(
      "message-not-found",
      `No message found: no message of the current conversation has an id that starts with ${wanted}.`,
      {
        remedy: `You cannot choose messages that an earlier compaction summarized. ${WHERE_TO_LOOK}`,
        facts: { message: wanted },
      },
    );
  }
  if (others.length === 0) return only;
  const shown = uuids.slice(0, SHOWN_CANDIDATES).join(", ");
  const more = uuids.length > SHOWN_CANDIDATES ? " and others" : "";
  throw new LonghaulError(
    "id-ambiguous",
    `Ambiguous id: ${uuids.length} messages have an id that starts with ${wanted}: ${shown}${more}.`,
    { remedy: `Pass more of the id. ${WHERE_TO_LOOK}`, facts: { message: wanted } },
  );
}

interface IdWords {
  /** Plural of the items that have the ids, such as `spans`. */
  readonly many: string;
  /** Sentence about the command that lists the ids. */
  readonly whereToLook: string;
  readonly facts: Readonly<Record<string, string>>;
  notFound(): LonghaulError;
}

/** Finds one of these ids. The user gives the id or its beginning. */
export function chooseId(ids: readonly string[], wanted: string, words: IdWords): string {
  const { many, whereToLook, facts } = words;
  const found = ids.includes(wanted) ? [wanted] : ids.filter((id) => id.startsWith(wanted));
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) throw words.notFound();
  throw new LonghaulError(
    "id-ambiguous",
    `Ambiguous id: ${found.length} ${many} have an id that starts with ${wanted}.`,
    { remedy: `Pass more of the id. ${whereToLook}`, facts },
  );
}

/**
 * Searches the ids that messages had before they were rewritten. Returns the current uuids of the messages
 * that had an id with this beginning.
 */
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
