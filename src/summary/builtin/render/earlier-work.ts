import { oneLine } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { earlierItems } from "../read/earlier.ts";

const KEPT_STEPS = 5;

/** What the agent had said last when the earlier summary was written, where that is one of ours. */
export function earlierLastWords(digest: SessionDigest): string | undefined {
  const quotation = earlierItems(digest.earlier, "Current Work").findLast((item) => item.startsWith(">"));
  return quotation?.replace(/^> ?/gm, "");
}

/** The work of then in brief: the last steps and the agent's words, or all that a model wrote about it. */
export function earlierWorkInBrief(digest: SessionDigest): string {
  const items = earlierItems(digest.earlier, "Current Work");
  const words = earlierLastWords(digest);
  const steps = items
    .filter((item) => item.startsWith("- ") && !item.includes("```"))
    .map((item) => item.slice(2));
  const told = words === undefined ? items.join(" ") : `${steps.slice(-KEPT_STEPS).join("; ")} — ${words}`;
  return oneLine(told.replace(/```\w*/g, " ").replace(/\|(?:\s*:?-+:?\s*\|)+/g, "|"));
}
