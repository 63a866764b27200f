import { sum } from "@longhaul/core/internal/compaction";
import { digestSession, type SessionDigest } from "@longhaul/core/internal/summary";
import type { CountText } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import {
  isItalicLine,
  isOnlyTemplate,
  type Notes,
  type NotesLimits,
  type NotesSection,
  nameKey,
  withBodies,
} from "../notes-format.ts";
import type { StateBefore, UpdateInput } from "./news.ts";
import { codebase, rootIn } from "./note-codebase.ts";
import { workflow } from "./note-commands.ts";
import { errorsAndCorrections } from "./note-errors.ts";
import { filesAndFunctions } from "./note-files.ts";
import { contained, fitSection, type NoteItem, readBody, type SectionDraft } from "./note-items.ts";
import { learnings } from "./note-learnings.ts";
import { sessionTitle, taskSpecification } from "./note-requests.ts";
import { keyResults } from "./note-results.ts";
import { currentState, openBefore } from "./note-state.ts";
import { worklog } from "./note-worklog.ts";

interface UpdateNotesOptions {
  readonly limits: NotesLimits;
  readonly countTokens: CountText;
}

interface SectionRule {
  /**
   * Share of the total limit. The section gets this share if not all sections fit. Tokens that this section
   * does not use are given to the other sections.
   */
  readonly share: number;
  readonly isReplaced?: boolean;
  readonly update: (before: readonly string[], news: UpdateInput) => readonly NoteItem[];
}

const CURRENT_STATE = "Current State";
const CODEBASE = "Codebase and System Documentation";

const RULES: ReadonlyMap<string, SectionRule> = new Map(
  Object.entries({
    "Session Title": { share: 0.04, update: sessionTitle },
    [CURRENT_STATE]: { share: 0.15, isReplaced: true, update: (_before, news) => currentState(news) },
    "Task Specification": { share: 0.17, update: taskSpecification },
    "Files and Functions": { share: 0.16, update: filesAndFunctions },
    Workflow: { share: 0.08, update: (before, { digest }) => workflow(before, digest) },
    "Errors & Corrections": { share: 0.11, update: errorsAndCorrections },
    [CODEBASE]: { share: 0.05, update: codebase },
    Learnings: { share: 0.09, update: learnings },
    "Key Results": { share: 0.1, update: keyResults },
    Worklog: { share: 0.08, update: worklog },
  } satisfies Record<string, SectionRule>).map(([name, rule]): [string, SectionRule] => [
    nameKey(name),
    rule,
  ]),
);

/**
 * Updates the notes from the structure of the new entries, without a model. The same notes and entries always
 * lead to the same result. The cost depends on the new entries and the notes. It does not depend on the
 * earlier conversation.
 */
export function updateNotes(notes: Notes, fresh: readonly Entry[], options: UpdateNotesOptions): Notes {
  const before = stateBefore(notes);
  const digest = withoutNotes(digestSession(fresh, before), notes);
  if (!hasNews(digest, before)) return notes;
  const news: UpdateInput = {
    digest,
    before,
    root: rootIn(itemsOf(notes, CODEBASE)) ?? digest.cwd,
    longestItemChars: Math.max(80, options.limits.sectionTokens),
  };
  const headings = new Set(notes.sections.map(({ heading }) => heading));
  const drafts = notes.sections.map((section) => draftOf(section, news, headings));
  return fitNotes(notes, drafts, options);
}

function itemsOf({ sections }: Notes, name: string): readonly string[] {
  const section = sections.find(({ heading }) => nameKey(heading) === nameKey(name));
  return section === undefined ? [] : bodyOf(section).items;
}

/**
 * Reads the items of a section. Ignores a section that contains only an italic line, because this line comes
 * from another template.
 */
function bodyOf({ body }: NotesSection): ReturnType<typeof readBody> {
  return readBody(isItalicLine(body) ? "" : body);
}

function stateBefore(notes: Notes): StateBefore {
  const items = itemsOf(notes, CURRENT_STATE);
  return { items, ...openBefore(items), isBegun: !isOnlyTemplate(notes) };
}

/**
 * Removes an earlier summary from the digest if the summary was made from these notes, because it contains
 * nothing new. Keeps the summary if the notes are empty.
 */
function withoutNotes(digest: SessionDigest, notes: Notes): SessionDigest {
  if (isOnlyTemplate(notes)) return digest;
  const { earlier } = digest;
  if (earlier?.isNotes) return { ...digest, earlier: earlier.besidesNotes };
  const told = [...(earlier?.items.values() ?? [])].flat().join("\n").split("\n");
  const isOfNotes = notes.sections.some(({ heading }) => told.includes(heading));
  return isOfNotes ? { ...digest, earlier: undefined } : digest;
}

function hasNews(digest: SessionDigest, before: StateBefore): boolean {
  const { exchanges, files, answers, plans, findings, openQuestions, todos, runningTasks } = digest;
  const lists = [exchanges, files, answers, plans, findings, openQuestions];
  if (digest.earlier !== undefined || lists.some(({ length }) => length > 0)) return true;
  return JSON.stringify([todos, runningTasks]) !== JSON.stringify([before.todos, before.runningTasks]);
}

interface Draft extends SectionDraft {
  readonly section: NotesSection;
  /** Share of the total limit. Undefined for a section that the built-in writer does not know. */
  readonly share: number | undefined;
  /** True if the items are the same as before. */
  readonly isUnchanged: boolean;
}

function draftOf(section: NotesSection, news: UpdateInput, headings: ReadonlySet<string>): Draft {
  const rule = RULES.get(nameKey(section.heading));
  if (rule === undefined) return { section, share: undefined, items: [], leftOut: 0, isUnchanged: true };
  const before = bodyOf(section);
  const items = rule.update(before.items, news);
  const isUnchanged =
    items.length === before.items.length && items.every(({ forms }, at) => forms[0] === before.items[at]);
  // If each update replaces all items of the section, the items that earlier updates dropped do not count.
  const leftOut = rule.isReplaced === true ? 0 : before.leftOut;
  const inside = items.map((item) => contained(item, headings));
  return { section, share: rule.share, items: inside, leftOut, isUnchanged };
}

function fitNotes(
  notes: Notes,
  drafts: readonly Draft[],
  { limits, countTokens }: UpdateNotesOptions,
): Notes {
  const count = countedOnce(countTokens);
  const fitted = (draft: Draft, budgetTokens: number): string => {
    if (draft.isUnchanged && count(draft.section.body) <= budgetTokens) return draft.section.body;
    return fitSection(draft, budgetTokens, count);
  };
  const bodies = drafts.map((draft) =>
    draft.share === undefined ? draft.section.body : fitted(draft, limits.sectionTokens),
  );
  const sizes = bodies.map(count);
  const ours = drafts.map(({ share = 0 }, at) => ({ share, tokens: share > 0 ? (sizes[at] ?? 0) : 0 }));
  const others = sum(sizes) - sum(ours.map(({ tokens }) => tokens));
  if (sum(sizes) > limits.totalTokens) {
    // The known sections get at least half of the total, because the user's own sections could take all
    // tokens.
    const given = allot(ours, Math.max(limits.totalTokens - others, limits.totalTokens / 2));
    for (const [at, draft] of drafts.entries()) {
      if (draft.share !== undefined && (sizes[at] ?? 0) > (given[at] ?? 0))
        bodies[at] = fitted(draft, given[at] ?? 0);
    }
  }
  // Returns a new object even if the text is the same as before. The new object tells the caller that there
  // was new information. It is possible that no section had room for it.
  return { ...withBodies(notes, (at) => bodies[at]) };
}

/** Counts each text only once and caches the count, because counting takes most of the time of an update. */
function countedOnce(countTokens: CountText): CountText {
  const known = new Map<string, number>([["", 0]]);
  return (text) => {
    const tokens = known.get(text) ?? countTokens(text);
    known.set(text, tokens);
    return tokens;
  };
}

/**
 * Gives each section the tokens that it needs, up to its share of the budget. Divides unused tokens among the
 * other sections by their shares.
 */
export function allot(
  needs: readonly { readonly tokens: number; readonly share: number }[],
  budgetTokens: number,
): readonly number[] {
  const all = needs.map((need) => ({ ...need, given: 0 }));
  let spare = Math.max(0, budgetTokens);
  let wanting = all.filter(({ tokens }) => tokens > 0);
  while (wanting.length > 0 && spare >= 1) {
    const shares = sum(wanting.map(({ share }) => share));
    const round = spare;
    for (const need of wanting) {
      const part = Math.min(need.tokens - need.given, (round * need.share) / shares);
      need.given += part;
      spare -= part;
    }
    const still = wanting.filter(({ tokens, given }) => tokens - given >= 1);
    if (still.length === wanting.length) break;
    wanting = still;
  }
  return all.map(({ given }) => Math.floor(given));
}
