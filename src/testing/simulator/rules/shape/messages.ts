import { MAX_MESSAGES } from "../../../../conversation/check/limits.ts";
import { isRecord } from "../../../../conversation/untrusted.ts";
import { BETAS } from "../../wording/betas.ts";
import { refuse } from "../../wording/refuse.ts";
import { contentBlock } from "./blocks.ts";
import {
  type Check,
  gated,
  list,
  nullable,
  object,
  oneOf,
  required,
  string,
  stringOr,
  withBeta,
} from "./checks.ts";
import { isPlainBlock, isPlainMessage } from "./plain-blocks.ts";

export const effort: Check = nullable(oneOf("low", "medium", "high", "xhigh", "max"));

const content: Check = stringOr(
  list((block, inspection) => {
    if (!isPlainBlock(block)) contentBlock(block, inspection);
  }),
);

const spokenMessage = object({ role: string, content: required(content) });

/** Content may be missing: a message may do nothing but set the effort. */
const systemMessage = object({
  role: string,
  content,
  clear_at: gated(nullable(oneOf("next_user_message", "never")), withBeta(BETAS.systemClearAt)),
  output_config: gated(
    nullable(object({ effort })),
    withBeta(BETAS.systemOutputConfig, BETAS.perTurnControl),
  ),
});

const message: Check = (value, inspection) => {
  if (!isRecord(value)) return refuse("notObject", { path: inspection.path });
  const { role } = value;
  if (role === "user" || role === "assistant") {
    if (!isPlainMessage(value)) return spokenMessage(value, inspection);
    inspection.enter("content");
    content(value.content, inspection);
    return inspection.leave();
  }
  if (role === "system") return systemMessage(value, inspection);
  inspection.enter("role");
  refuse(role === undefined ? "fieldRequired" : "badRole", { path: inspection.path });
};

const everyMessage = list(message);

export const messages: Check = (value, inspection) => {
  if (Array.isArray(value) && value.length > MAX_MESSAGES) {
    refuse("tooManyMessages", { maximum: MAX_MESSAGES });
  }
  everyMessage(value, inspection);
};
