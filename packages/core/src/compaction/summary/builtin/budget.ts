/**
 * Chooses the content of a text of limited size. Each section has a share of the budget. If a share is not
 * used up, the rest goes to the most important pieces of other sections.
 */

export interface Piece {
  /** The same content in several lengths, longest first. The last form is the shortest that makes sense. */
  readonly forms: readonly string[];
  /**
   * Importance of the piece. More important pieces are kept first. This order applies within a section, and
   * across sections when unused budget is assigned.
   */
  readonly importance: number;
  /** Label above this piece and its neighbors of the same group. */
  readonly group?: string | undefined;
}

/** Creates a piece without duplicate forms. */
export const piece = (forms: readonly string[], importance: number, group?: string): Piece => ({
  forms: [...new Set(forms)],
  importance,
  group,
});

/** Pieces of at least this importance get tokens before the sections share the rest of the budget. */
export const ESSENTIAL = 1_000;
/**
 * Pieces of at least this importance are included in short form before any other piece gets a longer form.
 */
export const WORTH_A_LINE = 300;

/**
 * Returns the importance of the item at `index` among `count` items. The importance rises from the oldest
 * item to the newest.
 */
export const rising = (from: number, to: number, index: number, count: number): number =>
  from + ((to - from) * (index + 1)) / count;

export interface SectionDraft {
  readonly heading: string;
  /** Pieces in reading order. */
  readonly pieces: readonly Piece[];
  readonly share: number;
  /** Text of an empty section. */
  readonly whenEmpty: string;
  /** Number of pieces that earlier summaries left out. The remark in the text includes this number. */
  readonly alreadyLeftOut: number;
  /** Writes the remark about the pieces that did not fit. */
  readonly leftOut: (count: number) => string;
}

export interface FittedText {
  readonly text: string;
  readonly tokens: number;
  readonly leftOutPieces: number;
}

type CountTokens = (text: string) => number;

/** Tokens reserved for each line break between pieces, which no piece includes. */
const JOINT_TOKENS = 1;
/**
 * If at least this share of the budget is unused, another try is worthwhile. Tokens can stay unused, because
 * each try reserves tokens for the longest form of the remarks.
 */
const WORTHWHILE_SLACK = 0.04;
/**
 * Share of the budget for essential pieces in addition to their shortest form. They get these tokens before
 * all other pieces.
 */
const ESSENTIAL_SHARE = 0.3;
/**
 * Maximum number of tries. Token counts are not additive, so the packed text may exceed the budget. Each
 * further try has a lower target.
 */
const MAX_TRIES = 12;
/**
 * Maximum number of characters per token in almost all texts. If the full text has more characters per token
 * of the budget, it would hardly fit. In that case its tokens are not counted.
 */
const MAX_CHARS_PER_TOKEN = 4.5;

/** Up to this length a piece is counted exactly. */
const COUNTED_WHOLE_CHARS = 800;
/** Number of samples of a longer piece, from its beginning to its end. */
const SAMPLES = 4;
const SAMPLE_CHARS = 120;

interface Slot {
  readonly section: number;
  readonly order: number;
  readonly piece: Piece;
  readonly costs: (number | undefined)[];
  chosen: number | undefined;
}

/** Fits the sections into the budget. The `opening` is above the first section and counts too. */
export function fitSections(
  drafts: readonly SectionDraft[],
  budgetTokens: number,
  countTokens: CountTokens,
  opening = "",
): FittedText {
  const slots = drafts.flatMap((draft, section) =>
    draft.pieces.map((piece, order): Slot => ({ section, order, piece, costs: [], chosen: 0 })),
  );
  const written = (): FittedText => {
    const text = opening + assemble(drafts, slots);
    return { text, tokens: countTokens(text), leftOutPieces: slots.filter(isLeftOut).length };
  };
  if (charsInFull(slots) <= budgetTokens * MAX_CHARS_PER_TOKEN) {
    const inFull = written();
    if (inFull.tokens <= budgetTokens) return inFull;
  }
  const fixedTokens = countTokens(opening + skeleton(drafts));
  const byImportance = slots.toSorted((a, b) => b.piece.importance - a.piece.importance || b.order - a.order);
  const bySamples: CountTokens = (text) => likelyTokens(text, countTokens);
  let measure = bySamples;
  let fits: FittedText | undefined;
  let target = budgetTokens;
  for (let attempt = 0; attempt < MAX_TRIES && target > 0; attempt++) {
    choose(drafts, byImportance, target - fixedTokens, measure);
    const fitted = written();
    const slack = budgetTokens - fitted.tokens;
    if (slack < 0 && fits) return fits;
    if (slack >= 0 && (fits || slack < budgetTokens * WORTHWHILE_SLACK || slots.every(isInFull)))
      return fitted;
    if (slack >= 0) fits = fitted;
    else if (measure === bySamples) {
      // Samples can be wrong by any amount, so a lower target could leave nothing. Count exactly instead.
      measure = countTokens;
      for (const slot of slots) slot.costs.length = 0;
      continue;
    }
    target = Math.floor(target + slack - Math.max(1, Math.abs(slack) / 10));
  }
  return fits ?? headingsAlone(drafts, opening, countTokens);
}

function headingsAlone(
  drafts: readonly SectionDraft[],
  opening: string,
  countTokens: CountTokens,
): FittedText {
  const text = opening + drafts.map((draft) => draft.heading).join("\n");
  const leftOutPieces = drafts.reduce((sum, draft) => sum + draft.pieces.length, 0);
  return { text, tokens: countTokens(text), leftOutPieces };
}

function charsInFull(slots: readonly Slot[]): number {
  return slots.reduce((sum, slot) => sum + (slot.piece.forms[0]?.length ?? 0), 0);
}

const isLeftOut = (slot: Slot): boolean => slot.chosen === undefined;
const isInFull = (slot: Slot): boolean => slot.chosen === 0;

function choose(
  drafts: readonly SectionDraft[],
  byImportance: readonly Slot[],
  budget: number,
  countTokens: CountTokens,
): void {
  for (const slot of byImportance) slot.chosen = undefined;
  let spare = budget;
  const grow = (slot: Slot, allowance: number): number => {
    const before = slot.chosen === undefined ? 0 : costOf(slot, slot.chosen, countTokens);
    const growth = take(slot, Math.min(allowance, spare) + before, countTokens) - before;
    spare -= growth;
    return growth;
  };
  /** Includes a piece in its shortest form and returns the cost, or 0 if the piece does not fit. */
  const begin = (slot: Slot, allowance: number): number => {
    const shortest = slot.piece.forms.length - 1;
    const cost = costOf(slot, shortest, countTokens);
    if (slot.chosen !== undefined || cost > Math.min(allowance, spare)) return 0;
    slot.chosen = shortest;
    spare -= cost;
    return cost;
  };
  for (const slot of byImportance) {
    if (slot.piece.importance >= ESSENTIAL) begin(slot, spare);
  }
  let essential = spare * ESSENTIAL_SHARE;
  for (const slot of byImportance) {
    if (slot.piece.importance >= ESSENTIAL) essential -= grow(slot, essential);
  }
  const total = spare;
  drafts.forEach((draft, section) => {
    const own = byImportance.filter((slot) => slot.section === section);
    let allowance = total * draft.share;
    for (const slot of own) allowance -= begin(slot, allowance);
    for (const slot of own) allowance -= grow(slot, allowance);
  });
  for (const slot of byImportance) if (slot.piece.importance >= WORTH_A_LINE) begin(slot, spare);
  for (const slot of byImportance) grow(slot, spare);
}

/**
 * Chooses the longest form within the allowance and returns its cost. Never chooses a shorter form than
 * before.
 */
function take(slot: Slot, allowance: number, countTokens: CountTokens): number {
  const last = slot.chosen ?? slot.piece.forms.length - 1;
  for (let form = 0; form <= last; form++) {
    const cost = costOf(slot, form, countTokens);
    if (cost > allowance) continue;
    slot.chosen = form;
    return cost;
  }
  return slot.chosen === undefined ? 0 : costOf(slot, slot.chosen, countTokens);
}

function costOf(slot: Slot, form: number, countTokens: CountTokens): number {
  const known = slot.costs[form];
  if (known !== undefined) return known;
  const cost = countTokens(slot.piece.forms[form] ?? "") + JOINT_TOKENS;
  slot.costs[form] = cost;
  return cost;
}

/** Estimates a long text from samples. The packed text is counted as a whole before it is accepted. */
function likelyTokens(text: string, countTokens: CountTokens): number {
  if (text.length <= COUNTED_WHOLE_CHARS) return countTokens(text);
  const distance = (text.length - SAMPLE_CHARS) / (SAMPLES - 1);
  let tokens = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = Math.floor(sample * distance);
    tokens += countTokens(text.slice(from, from + SAMPLE_CHARS));
  }
  return Math.ceil((tokens * text.length) / (SAMPLES * SAMPLE_CHARS));
}

/** Returns the text around the pieces, with labels and remarks at their longest. */
function skeleton(drafts: readonly SectionDraft[]): string {
  return drafts
    .map((draft) => {
      const labels = new Set(draft.pieces.map((piece) => piece.group ?? ""));
      const isEmpty = draft.pieces.length === 0 && draft.alreadyLeftOut === 0;
      const remark = !isEmpty ? draft.leftOut(draft.pieces.length + draft.alreadyLeftOut) : draft.whenEmpty;
      return [draft.heading, ...labels, remark].join("\n");
    })
    .join("\n\n");
}

function assemble(drafts: readonly SectionDraft[], slots: readonly Slot[]): string {
  return drafts
    .map((draft, section) => {
      const chosen = slots.filter((slot) => slot.section === section && slot.chosen !== undefined);
      const lines = withLabels(chosen.toSorted((a, b) => a.order - b.order));
      const missing = draft.pieces.length - chosen.length + draft.alreadyLeftOut;
      if (draft.pieces.length === 0 && missing === 0) lines.push(draft.whenEmpty);
      else if (missing > 0) lines.push(draft.leftOut(missing));
      return [draft.heading, ...lines].join("\n");
    })
    .join("\n\n");
}

function withLabels(slots: readonly Slot[]): string[] {
  const lines: string[] = [];
  let current: string | undefined;
  for (const { piece, chosen } of slots) {
    if (piece.group !== undefined && piece.group !== current) lines.push(piece.group);
    current = piece.group;
    lines.push(piece.forms[chosen ?? 0] ?? "");
  }
  return lines;
}
