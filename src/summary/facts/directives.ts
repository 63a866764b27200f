import type { Entry } from "../../conversation/entry.ts";
import type { DirectiveStatus, Fact } from "../../conversation/facts.ts";
import { stringField } from "../../conversation/fields.ts";
import type { SessionDigest } from "../builtin/digest.ts";
import { isRequest } from "../builtin/exchange.ts";
import { soundsLikeCorrection } from "../builtin/read/human.ts";
import { proseSentences } from "../builtin/sentences.ts";
import type { DraftFact } from "./draft.ts";
import { neededPieces, quotedForm } from "./forms.ts";
import { saysRule } from "./words.ts";

/** Coarse: the newest request and standing rules are active, what came before is done. */
export function directiveFacts(
  digest: SessionDigest,
  entries: readonly Entry[],
  _carried: readonly Fact[],
): readonly DraftFact[] {
  const newest = digest.exchanges.findLast(isRequest);
  return digest.exchanges.flatMap((exchange, index): DraftFact[] => {
    const { message } = exchange;
    if (message === undefined || message.at >= entries.length) return [];
    const next = digest.exchanges[index + 1]?.message;
    const isOpen = exchange === newest || (next !== undefined && soundsLikeCorrection(next));
    const isRule = proseSentences(message.text).some(saysRule);
    const status: DirectiveStatus = isRequest(exchange) && (isOpen || isRule) ? "active" : "done";
    const uuid = stringField(entries[message.at], "uuid");
    const text = quotedForm(message.text, uuid);
    const needles = neededPieces(text, status === "active");
    return [
      {
        kind: "directive",
        text,
        status,
        ...(needles === undefined ? {} : { needles }),
        entryIds: uuid === undefined ? [] : [uuid],
      },
    ];
  });
}
