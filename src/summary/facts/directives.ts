import type { Entry } from "../../conversation/entry.ts";
import type { DirectiveStatus, Fact } from "../../conversation/fact-ledger.ts";
import type { SessionDigest } from "../readers/readers.ts";
import { type DraftFact, entryIdsAt } from "./draft.ts";
import { neededPieces, quotedForm } from "./forms.ts";
import { readSaid, type Said, Statuses } from "./statuses.ts";

export interface Directives {
  /** Of the entries, oldest first. */
  readonly fresh: readonly DraftFact[];
  /** Those of earlier compactions, brought up to date by what people said since; in the order they came. */
  readonly carried: readonly Fact[];
}

/** What people said. `before`: all that was known before the entries, oldest first. */
export function readDirectives(
  digest: SessionDigest,
  entries: readonly Entry[],
  before: readonly Fact[],
): Directives {
  const known = before
    .filter(({ kind }) => kind === "directive")
    .map((fact) => ({ fact, said: readSaid(fact.text, fact.status ?? "active") }));
  const active = known.map(({ said }) => said).filter(({ status }) => status === "active");
  const hasAsked = before.some(({ kind }) => kind === "question");
  const statuses = new Statuses(active, hasAsked);
  const spoken: { readonly said: Said; readonly at: number }[] = [];
  for (const exchange of digest.exchanges) {
    const said = statuses.read(exchange);
    if (said !== undefined && exchange.message !== undefined) spoken.push({ said, at: exchange.message.at });
  }
  const fresh = spoken.filter(({ at }) => at < entries.length);
  return {
    fresh: fresh.map(({ said, at }) => directive(said, entryIdsAt(entries, at))),
    carried: known.map(({ fact, said }) =>
      said.status === fact.status ? fact : withStatus(fact, said.status),
    ),
  };
}

function directive({ text, status }: Said, entryIds: readonly string[]): DraftFact {
  return withStatus({ kind: "directive", text, entryIds }, status);
}

/** What is over needs fewer words. */
function withStatus<T extends DraftFact>(fact: T, status: DirectiveStatus): T {
  const { needles: _before, ...rest } = fact;
  const text = quotedForm(fact.text, status === "active", fact.entryIds[0]);
  const needles = neededPieces(text, status === "active");
  return { ...rest, text, status, ...(needles === undefined ? {} : { needles }) } as T;
}
