import type { Entry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";

const WHERE_TO_LOOK = "`longhaul inspect SESSION --prompts` lists what can be chosen.";
/** More would be a list to search in, not an answer. */
const SHOWN_CANDIDATES = 3;

/** The uuid of the message that a person means by it or by its beginning. */
export function chooseMessage(conversation: readonly Entry[], wanted: string): string {
  const uuids = conversation.flatMap(({ uuid }) => (uuid?.startsWith(wanted) ? [uuid] : []));
  if (uuids.includes(wanted)) return wanted;
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

const COMPACTED = "What an earlier compaction summarised can no longer be chosen.";

function notChosen(message: string, wanted: string, remedy: string): LonghaulError {
  return new LonghaulError("message-not-found", message, {
    remedy: `${remedy} ${WHERE_TO_LOOK}`,
    facts: { message: wanted },
  });
}
