import type { DirectiveStatus, DirectiveType, Fact } from "../../messages/fact-ledger.ts";
import { Statuses, type TrackedDirective, trackDirective } from "./directive-status.ts";
import type { DraftFact, ReadEntries } from "./fact-source.ts";
import { neededPieces, quotedForm } from "./quote-facts.ts";

interface Directives {
  /** New directives in the entries, oldest first. */
  readonly fresh: readonly DraftFact[];
  /** Directives of earlier compactions in their order, updated by later messages. */
  readonly carried: readonly Fact[];
}

/** Reads directives from user messages. `before`: all earlier directives, oldest first. */
export function readDirectives({ digest, has, idsAt }: ReadEntries, before: readonly Fact[]): Directives {
  const known = before
    .filter(({ kind }) => kind === "directive")
    .map((fact) => ({ fact, said: knownDirective(fact) }));
  const hasAsked = before.some(({ kind }) => kind === "question");
  const statuses = new Statuses(
    known.map(({ said }) => said),
    hasAsked,
  );
  const said = digest.exchanges.flatMap((exchange) => {
    const directive = statuses.read(exchange);
    const at = exchange.message?.at;
    return directive === undefined || at === undefined || !has(at)
      ? []
      : [{ said: directive, entryIds: idsAt(at) }];
  });
  const recorded = new Set(known.map(({ fact }) => subjectOf(fact)));
  // Read the status last, because a later message may have cancelled the directive.
  return {
    fresh: [
      ...known.flatMap(({ fact, said: directive }) => {
        // The rules inside an older request became directives when it was closed.
        const isNews = fact.status === "active" || fact.type === undefined;
        return isNews ? rulesOf(directive, fact.entryIds, recorded) : [];
      }),
      ...said.flatMap(({ said: directive, entryIds }) => [
        draftOf(directive, entryIds),
        ...rulesOf(directive, entryIds, recorded),
      ]),
    ],
    // A compaction without messages changes nothing.
    carried: digest.exchanges.length === 0 ? known.map(({ fact }) => fact) : known.map(updated),
  };
}

/**
 * Reads a directive of the ledger. Ledgers of earlier versions have no types, and may have marked a rule as
 * done. Such a rule is active again, because only the user can end a rule.
 */
function knownDirective(fact: Fact): TrackedDirective {
  const { text, status = "active", type } = fact;
  const said = trackDirective(text, status, type);
  if (type === undefined && said.type === "rule" && status === "done") said.status = "active";
  said.isLeftOpen = fact.unmentioned !== undefined && said.status === "active";
  return said;
}

/**
 * Returns the rules inside a request as directives of their own. While the request is active, its text states
 * them. `recorded`: directives that the ledger already has.
 */
function rulesOf(
  { rules, status }: TrackedDirective,
  entryIds: readonly string[],
  recorded: ReadonlySet<string>,
): readonly DraftFact[] {
  return rules.flatMap((rule) => {
    const isStated = status === "active" && rule.status === "active";
    const draft = draftOf(rule, entryIds);
    return isStated || recorded.has(subjectOf(draft)) ? [] : [draft];
  });
}

const subjectOf = ({ text, entryIds }: DraftFact): string => `${entryIds[0] ?? ""}\n${text}`;

function draftOf(said: TrackedDirective, entryIds: readonly string[]): DraftFact {
  const draft = withStatus({ kind: "directive", text: said.text, entryIds }, said.status, said.type);
  return said.isLeftOpen && said.status === "active" ? { ...draft, unmentioned: 0 } : draft;
}

function updated({ fact, said }: { readonly fact: Fact; readonly said: TrackedDirective }): Fact {
  const isSame = said.status === fact.status && said.type === fact.type;
  const { unmentioned, ...rest } = isSame ? fact : withStatus(fact, said.status, said.type);
  if (!said.isLeftOpen || said.status !== "active") return rest;
  return { ...rest, unmentioned: said.isMentioned ? 0 : (unmentioned ?? 0) + 1 };
}

/** Sets the status of a directive. A directive that is no longer active is shortened more. */
function withStatus<T extends DraftFact>(fact: T, status: DirectiveStatus, type: DirectiveType): T {
  const { needles: _before, ...rest } = fact;
  const text = quotedForm(fact.text, status === "active", fact.entryIds[0]);
  const needles = neededPieces(text, status === "active");
  return { ...rest, text, status, type, ...(needles === undefined ? {} : { needles }) } as T;
}
