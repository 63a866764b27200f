import type { DirectiveStatus, Fact, FactKind } from "../../conversation/facts.ts";
import { field, stringField, stringListField } from "../../conversation/fields.ts";
import type { Ledger } from "../../conversation/ledger.ts";

const KINDS: ReadonlySet<string> = new Set<FactKind>([
  "directive",
  "file",
  "command",
  "error",
  "reference",
  "quantity",
  "decision",
  "question",
  "todo",
  "plan",
]);
const STATUSES: ReadonlySet<string> = new Set<DirectiveStatus>(["active", "done", "cancelled", "superseded"]);

/** The facts that a ledger holds, oldest first: it has the newest first. It comes from a file, which may hold anything. */
export function factsIn(ledger: Ledger | undefined): readonly Fact[] {
  const listed: unknown = field(ledger, "facts");
  const seen = new Set<string>();
  const facts = (Array.isArray(listed) ? listed : []).flatMap((item: unknown) => readFact(item) ?? []);
  return facts.filter(({ id }) => !seen.has(id) && Boolean(seen.add(id))).reverse();
}

function readFact(item: unknown): Fact | undefined {
  const [id, kind, text] = [stringField(item, "id"), stringField(item, "kind"), stringField(item, "text")];
  if (!id || !text || kind === undefined || !KINDS.has(kind)) return undefined;
  const needles = stringListField(item, "needles").filter((needle) => needle !== "");
  const status = stringField(item, "status") ?? "";
  return {
    id,
    kind: kind as FactKind,
    text,
    ...(needles.length === 0 ? {} : { needles }),
    ...(kind === "directive"
      ? { status: STATUSES.has(status) ? (status as DirectiveStatus) : "active" }
      : {}),
    entryIds: stringListField(item, "entryIds"),
  };
}
