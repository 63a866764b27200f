import { findFalseStatements } from "./false-statements.ts";
import { indexStatements, indexText, type PassageIndex, shareOf } from "./passage-index.ts";
import type { Passage } from "./read-context.ts";
import type { Answer, Exam, Grade, GradedContext, Probe, Stance } from "./types.ts";
import { lastVerdict } from "./verdicts.ts";
import { normalForm } from "./words.ts";

/** A false statement costs as much as a true one earns. */
const FALSE_STATEMENT_COST = 1;
/**
 * Raw text says nothing about what is pending or in force. It answers such a probe if it repeats the source,
 * that is, if it has nearly all of its words.
 */
const RAW_SHARE = 0.8;

/** Grades a context: which probes it holds, and which false statements its summary makes. */
export function gradeText(exam: Exam, context: GradedContext): Grade {
  const { summary, rest } = typeof context === "string" ? { summary: context, rest: "" } : context;
  const read = indexText(summary);
  const stated = indexStatements(read);
  const raw = indexText(rest);
  const isHeld = (probe: Probe): boolean => holds(stated, probe.answer) || holdsRaw(raw, probe.answer);
  const held = exam.probes.filter(isHeld).map(({ id }) => id);
  const known = new Set(held);
  const falseStatements = findFalseStatements(exam, read);
  const points = held.length - falseStatements.length * FALSE_STATEMENT_COST;
  return {
    held,
    missing: exam.probes.filter(({ id }) => !known.has(id)).map(({ id }) => id),
    falseStatements,
    score: exam.probes.length === 0 ? 0 : points / exam.probes.length,
  };
}

/** Returns true if raw text, such as a page of recall, answers a probe. */
export function answersProbe(probe: Probe, rawText: string): boolean {
  return holdsRaw(indexText(rawText), probe.answer);
}

/** Like {@link holds}, for text whose headings and marks make no claims. */
function holdsRaw(index: PassageIndex, answer: Answer): boolean {
  const { stances, notStances: _, rawEvidence = [], ...claim } = answer;
  const rest = { ...claim, denies: true, opposites: [], isReasoned: false, isChange: false };
  if (stances === undefined && rawEvidence.length === 0) return holds(index, rest);
  if (rawEvidence.some((form) => index.withLiteral(form).length > 0)) {
    if (rest.section !== undefined) return true;
    return rest.needles.every((forms) => forms.some((form) => index.withLiteral(form).length > 0));
  }
  if (stances === undefined) return holds(index, rest);
  const groups = rest.groups.map((group) => ({ ...group, share: Math.max(group.share, RAW_SHARE) }));
  return groups.length === 0 ? holds(index, { ...rest, stances }) : holds(index, { ...rest, groups });
}

function holds(index: PassageIndex, answer: Answer): boolean {
  if (answer.verbatim !== undefined) {
    const found = index.withLiteral(answer.verbatim).map((at) => index.passages[at]);
    if (found.some((passage) => passage !== undefined && agrees(passage, answer))) return true;
  }
  return answer.groups.length === 0 ? holdsNeedles(index, answer) : holdsWords(index, answer);
}

/** A passage with a denial or with the opposite does not state what the source affirms. */
const agrees = (passage: Passage, { denies, opposites = [], isChange, needles }: Answer): boolean =>
  !passage.isFalsified &&
  (denies === true || !passage.isDenied) &&
  !(isChange === true && deniesChange(passage, needles.flat())) &&
  !opposites.some(([stem, opposite]) => passage.stems.includes(opposite) && !passage.stems.includes(stem));

/** Each needle must stand on a line with a fitting stance. */
function holdsNeedles(index: PassageIndex, answer: Answer): boolean {
  if (answer.needles.length === 0) return false;
  return answer.needles.every((forms) =>
    forms.some((form) =>
      index.withLiteral(form).some((at) => {
        const passage = index.passages[at];
        return passage !== undefined && statesNeedle(index, answer, passage, at, forms);
      }),
    ),
  );
}

function statesNeedle(
  index: PassageIndex,
  answer: Answer,
  passage: Passage,
  at: number,
  forms: readonly string[],
): boolean {
  const { outcome, section } = answer;
  if (section !== undefined)
    return (
      !passage.isFalsified &&
      passage.sectionStances.includes(section) &&
      forms.some((form) => saysNothingOpen(passage, form))
    );
  if (outcome === undefined) return agrees(passage, answer) && fits(index.lineStances(at), answer);
  if (passage.isFalsified) return false;
  const verdict =
    lastVerdict([passage], forms, outcome.rivals) ?? lastVerdict(index.lineOf(at), forms, outcome.rivals);
  return verdict === outcome.verdict || (verdict === "open" && outcome.verdict === "failed");
}

/** Inside a sentence, a single word such as "nothing" tells of something else. */
function saysNothingOpen({ form, isDenied }: Passage, words: string): boolean {
  if (words.includes(" ")) return ` ${form} `.includes(` ${words} `);
  if (form === words || form.startsWith(`${words} `)) return true;
  return form.endsWith(` ${words}`) && !isDenied;
}

/** Words after a path that say that the file is not changed, or gone. */
const NOT_CHANGED =
  /^(?:[-—–:(]+ )?(?:(?:was|is|has been|stays|remains) )?(?:left |kept |only )?(?:deleted|removed|unchanged|untouched|unmodified|read|read only)(?:[,.;)]|$)/i;

/** Returns true if a passage says of a changed file that it is unchanged or gone. */
function deniesChange({ text }: Passage, forms: readonly string[]): boolean {
  const pieces = text.split(" ");
  return pieces.some((piece, at) => {
    const name = normalForm(piece);
    if (!forms.some((form) => name === form || name.endsWith(` ${form}`))) return false;
    return NOT_CHANGED.test(pieces.slice(at + 1).join(" "));
  });
}

function holdsWords(index: PassageIndex, answer: Answer): boolean {
  return index.unitsWith(answer.groups).some(({ start, end }) =>
    // Shorter units are tried too: the stance of a later passage may not fit.
    [...new Set([start, Math.min(start + 1, end), end])].some((last) =>
      unitHolds(index, answer, start, last),
    ),
  );
}

function unitHolds(index: PassageIndex, answer: Answer, start: number, end: number): boolean {
  const near = index.passages.slice(start, end + 1).filter((passage) => agrees(passage, answer));
  const unit = answer.isReasoned === true ? near.filter((passage) => !hasOtherReason(passage, answer)) : near;
  const stems = new Set(unit.flatMap((passage) => passage.stems));
  if (!answer.groups.every((group) => shareOf(group, stems) >= group.share)) return false;
  if (answer.negated === true && !unit.some(({ isNegated }) => isNegated)) return false;
  if (!answer.needles.every((forms) => forms.some((form) => isIn(index, form, unit)))) return false;
  return fits(new Set(unit.flatMap(({ stances }) => [...stances])), answer);
}

const REASON = /\b(?:because|since|so that|due to|in order to)\b/;

/** Returns true if a passage gives another reason for the choice, or gives the reason for another choice. */
function hasOtherReason({ text, stems }: Passage, { groups }: Answer): boolean {
  if (!REASON.test(text)) return false;
  const own = new Set(stems);
  return !groups.every((group) => shareOf(group, own) >= group.share);
}

/** A passage that denies the source lends no literal to its neighbors. */
const isIn = (index: PassageIndex, form: string, unit: readonly Passage[]): boolean =>
  index.withLiteral(form).some((at) => unit.some((passage) => passage === index.passages[at]));

function fits(stances: ReadonlySet<Stance>, { stances: wanted, notStances }: Answer): boolean {
  if (notStances?.some((stance) => stances.has(stance)) === true) return false;
  return wanted === undefined || wanted.some((stance) => stances.has(stance));
}
