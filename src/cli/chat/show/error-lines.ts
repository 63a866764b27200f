import type { LonghaulError } from "../../../errors.ts";
import { foldText, shownText } from "../../view/text-width.ts";
import type { LineStyle } from "./call-line.ts";

/** What happened, and what to do about it. */
export function errorLines(
  { message, remedy }: Pick<LonghaulError, "message" | "remedy">,
  { width, colours }: LineStyle,
): string {
  const fold = (text: string, lead: string, indent: string): string =>
    shownText(text)
      .split("\n")
      .map((line, at) => foldText(`${at === 0 ? lead : "  "}${line}`, width, indent))
      .join("\n");
  const words = colours.red(fold(message, "✗ ", "  "));
  return remedy === undefined ? words : `${words}\n${fold(remedy, "  ", "    ")}`;
}
