import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import { checkText } from "../messages/text.ts";
import { recordsField } from "./readers.ts";

export function checkSystem(body: JsonRecord): void {
  const { system } = body;
  if (typeof system === "string") checkText({ text: system }, "system", () => "system");
  for (const [index, block] of recordsField(body, "system").entries()) {
    checkText(block, "system", () => `system.${index}`);
  }
}
