import type { PromptReport } from "../prompts-report.ts";
import type { Terminal } from "../terminal.ts";
import { table } from "./table.ts";
import { fitText, textWidth } from "./text-width.ts";

/** As much of a uuid as tells messages apart in practice. */
const SHOWN_UUID = 8;
const TEXT_INDENT = 30;

export function promptsView(prompts: readonly PromptReport[], { colours, width }: Terminal): string {
  if (prompts.length === 0) return "The user has written nothing in what is in the context.";
  const rows = prompts.map(({ uuid, timestamp, text }) => [
    fitText(uuid.slice(0, SHOWN_UUID), SHOWN_UUID),
    fitText(timestamp.replace("T", " ").slice(0, 16), 16),
    fitText(text, width - TEXT_INDENT),
  ]);
  const columns = [{ title: "message" }, { title: "time" }, { title: "what was asked" }];
  return table(columns, rows, colours.dim, textWidth);
}
