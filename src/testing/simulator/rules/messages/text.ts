import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import { refuse } from "../../wording/refuse.ts";

const VISIBLE = /\S/;

/** Text says something. The path is asked for only when it does not and carries a mark. */
export function checkText(block: JsonRecord, root: "messages" | "system", pathOf: () => string): void {
  const text = block.text as string;
  if (VISIBLE.test(text)) return;
  if (text !== "") refuse("blankText", { root });
  if (block.cache_control !== undefined && block.cache_control !== null) {
    refuse("markOnEmptyText", { path: pathOf() });
  }
  refuse("emptyText", { root });
}
