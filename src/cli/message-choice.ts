import { messageNotFound } from "../compact/locate.ts";
import type { Entry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";

/** The uuid of the message that a person means by it or by its beginning. */
export function chooseMessage(conversation: readonly Entry[], wanted: string): string {
  const uuids = conversation.flatMap(({ uuid }) => (uuid?.startsWith(wanted) ? [uuid] : []));
  const [first] = uuids;
  if (wanted === "" || first === undefined) throw messageNotFound(wanted);
  if (uuids.includes(wanted)) return wanted;
  if (uuids.length === 1) return first;
  throw new LonghaulError("message-not-found", `${uuids.length} messages begin like ${wanted}.`, {
    remedy: "Give more of the uuid. `longhaul inspect SESSION --prompts` lists the messages.",
    facts: { message: wanted },
  });
}
