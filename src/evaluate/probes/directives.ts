import { extractFacts } from "../../compaction/facts/extract-facts.ts";
import type { Entry } from "../../conversation/entry.ts";
import { stringField } from "../../conversation/untrusted.ts";
import { isRequest, type SessionDigest } from "../../summary/readers/readers.ts";
import { phrasesOf, shown } from "./phrases.ts";
import type { DraftProbe } from "./probe.ts";

/** Everything that a person asked for or said to the agent; what they typed to the shell or the program is no wish. */
export function directiveProbes(digest: SessionDigest, entries: readonly Entry[]): readonly DraftProbe[] {
  const active = activeIds(entries);
  return digest.exchanges.flatMap((exchange): DraftProbe[] => {
    const { message } = exchange;
    if (message === undefined || !isRequest(exchange)) return [];
    const isActive = active.has(stringField(entries[message.at], "uuid") ?? "");
    const words = wordsOf(message.text);
    return [{ kind: "directive", text: shown(message.text), needles: phrasesOf(words), isActive }];
  });
}

/** What a person typed: without the name of a command that goes before it, and without pictures. */
function wordsOf(text: string): string {
  const words = text.replace(/\[(?:image|document)\]/g, "");
  return words.replace(/^\/[\w:-]+\s+(?=\S)/, "");
}

/** What is active is a definition, and has one home. */
function activeIds(entries: readonly Entry[]): ReadonlySet<string> {
  const { facts } = extractFacts(entries);
  const active = facts.filter(({ kind, status }) => kind === "directive" && status === "active");
  return new Set(active.flatMap(({ entryIds }) => entryIds));
}
