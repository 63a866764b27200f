import { field } from "../untrusted.ts";
import type { DraftMessage } from "./draft.ts";

/** A system message that does nothing but set the effort: it has no content, and may come before the user. */
export function isEffortOnly({ role, parts, source }: DraftMessage): boolean {
  if (role !== "system" || parts.length > 0) return false;
  return typeof field(field(source, "output_config"), "effort") === "string";
}
