import type { Fact, FactAuthor } from "../../messages/fact-ledger.ts";
import { formsOf, type Reason, settleReasons, shortText } from "../summary/readers/readers.ts";
import type { DraftFact, ReadEntries } from "./fact-source.ts";
import { plainText } from "./find-facts.ts";

/** Facts about causes, decisions and corrected beliefs. */

interface ReasonFacts {
  /** Facts of earlier compactions that are still true. */
  readonly carried: readonly Fact[];
  readonly fresh: readonly DraftFact[];
}

/** Returns true for a cause, and for a decision with its author. An answered question has no author. */
export const isReasonFact = ({
  kind,
  by,
}: Pick<Fact, "kind"> & { readonly by?: FactAuthor | undefined }): boolean =>
  kind === "cause" || (kind === "decision" && by !== undefined);

/** Extracts statements with their reasons. `before`: all earlier facts, oldest first. */
export function reasonFacts({ digest, has, idsAt }: ReadEntries, before: readonly Fact[]): ReasonFacts {
  const known = before.filter(isReasonFact).map((fact): Listed => ({ ...reasonOf(fact), fact }));
  const stated = digest.reasons.filter(({ at }) => has(at));
  const settled = settleReasons<Listed>(
    [...known, ...stated],
    digest.reasons.filter(({ at }) => !has(at)),
  );
  return {
    carried: settled.flatMap(({ fact }) => fact ?? []),
    fresh: settled.flatMap((reason): readonly DraftFact[] =>
      reason.at === undefined ? [] : [draftOf(reason, idsAt(reason.at))],
    ),
  };
}

type Listed = Reason & { readonly at?: number; readonly fact?: Fact };

const reasonOf = ({ kind, by = "assistant", causeType = "reason", text, needles }: DraftFact): Reason => ({
  type: kind === "decision" ? "decision" : causeType,
  by,
  text,
  needed: needles ?? [text],
});

/** Writes facts of one group, each whole or short. */
export const reasonLines = <F extends DraftFact>(
  facts: readonly F[],
  isShort: (fact: F) => boolean,
): string =>
  facts
    .map((fact) => [reasonOf(fact), isShort(fact)] as const)
    .map(([reason, short]) => reasonLine(reason.by, short ? shortText(reason) : reason.text))
    .join("\n");

/** The mark `>` shows that a line has the user's words. */
const reasonLine = (by: FactAuthor, text: string): string =>
  `- ${by === "user" ? "> " : ""}${plainText(text)}`;

function draftOf({ type, by, text }: Reason, entryIds: readonly string[]): DraftFact {
  const said = { text, needles: formsOf([text]).needed, by, entryIds };
  return type === "decision" ? { kind: "decision", ...said } : { kind: "cause", causeType: type, ...said };
}
