import type { Attachment } from "../conversation/entry.ts";
import { attachmentContent } from "../conversation/flatten/attachment-content.ts";
import { headThatFits, mayFit } from "../restore/head.ts";
import type { SkippedItem } from "../restore/restored.ts";
import { type CountText, measureContent } from "../tokens/measure.ts";

/** What SessionStart hooks have to say to the agent, as far as there is room for it. */
export interface HookOutput {
  /** Undefined where they said nothing, or nothing of it fits. */
  readonly attachment: Attachment | undefined;
  /** Of the attachment as it is sent, with the words around it. */
  readonly tokens: number;
  /** What was left out of it, for the report. */
  readonly skipped: readonly SkippedItem[];
}

const CUT_NOTE = "[The rest was left out: there was no room for it.]";

/** Hooks limit what they say, but a host's own runner may not, and a window may be small. */
export function fitHookOutput(output: string, roomTokens: number, countTokens: CountText): HookOutput {
  if (output === "") return { attachment: undefined, tokens: 0, skipped: [] };
  if (mayFit(output, roomTokens)) {
    const whole = attached(output, countTokens);
    if (whole.tokens <= roomTokens) return { ...whole, skipped: [] };
  }
  const cut = (head: string) => attached(`${head.trimEnd()}\n\n${CUT_NOTE}`, countTokens);
  const head = headThatFits(output, roomTokens, (text) => cut(text).tokens <= roomTokens);
  const shown = head === "" ? { attachment: undefined, tokens: 0 } : cut(head);
  return { ...shown, skipped: [{ kind: "hook-output", name: "SessionStart", reason: "over-budget" }] };
}

/** As Claude Code writes what a hook has to say to the agent. */
function attached(text: string, countTokens: CountText): Pick<HookOutput, "attachment" | "tokens"> {
  const attachment = {
    type: "hook_additional_context",
    content: [text],
    hookName: "SessionStart:compact",
    hookEvent: "SessionStart",
  };
  return { attachment, tokens: measureContent(attachmentContent(attachment), countTokens) };
}
