import type { Entry } from "../../conversation/entry.ts";
import { clip } from "../clip.ts";
import type { SessionDigest } from "../readers/readers.ts";
import { type DraftFact, entryIdsAt, type OutcomeIds } from "./draft.ts";
import { mentionsIn } from "./mentions.ts";

const SUBJECT_CHARS = 70;

/** Names and numbers in people's words, and the commits that were made. */
export function mentionFacts(
  digest: SessionDigest,
  entries: readonly Entry[],
  outcomeIds: OutcomeIds,
): readonly DraftFact[] {
  const lastOf = new Map(
    digest.exchanges.flatMap(({ commits }) => commits.map((made) => [made.subject, made])),
  );
  return digest.exchanges.flatMap(({ message, commits }): readonly DraftFact[] => {
    // Of those that were made over again only the last is there.
    const made = commits.filter(
      (commit) => commit.at < entries.length && lastOf.get(commit.subject) === commit,
    );
    const facts = made.map(({ at, id, subject }): DraftFact => {
      const text = `commit ${id} "${clip(subject, SUBJECT_CHARS)}"`;
      return { kind: "reference", text, needles: [id], entryIds: outcomeIds(at) };
    });
    if (message === undefined || message.at >= entries.length) return facts;
    const entryIds = entryIdsAt(entries, message.at);
    const { references, quantities } = mentionsIn(message.text);
    return [
      ...references.map((text): DraftFact => ({ kind: "reference", text, entryIds })),
      ...quantities.map((text): DraftFact => ({ kind: "quantity", text, entryIds })),
      ...facts,
    ];
  });
}
