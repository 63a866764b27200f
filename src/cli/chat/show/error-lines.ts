import { withoutControls } from "../../../conversation/text.ts";
import type { LonghaulError } from "../../../errors.ts";
import { foldText } from "../../view/text-width.ts";
import type { LineStyle } from "./call-line.ts";

/** What happened, and what to do about it. */
export function errorLines(
  { message, remedy }: Pick<LonghaulError, "message" | "remedy">,
  { width, colours }: LineStyle,
): string {
  const fold = (text: string): string =>
    withoutControls(text)
      .split("\n")
      .map((line) => foldText(line, width, "  "))
      .join("\n");
  return [colours.red(fold(`✗ ${message}`)), ...(remedy === undefined ? [] : [fold(`  ${remedy}`)])].join(
    "\n",
  );
}
