/** Kinds of probes. Each kind asks for one sort of fact that a compacted context must still state. */
export const PROBE_KINDS = [
  "user-words",
  "constraint",
  "request",
  "decision",
  "error",
  "outcome",
  "remaining",
  "current-work",
  "next-step",
  "number",
  "name",
  "file",
] as const;

export type ProbeKind = (typeof PROBE_KINDS)[number];

/** The role that a passage gives to its content, read from its heading and from marks and words in its line. */
export type Stance =
  | "goal"
  | "rule"
  | "quote"
  | "history"
  | "pending"
  | "next"
  | "current"
  | "done"
  | "cancelled"
  | "passed"
  | "failed"
  | "fixed";

/** Content words of one part of an answer. A passage states this part if it has `share` of their weight. */
export interface WordGroup {
  /** Stems with their weights. A stem that is rare in the session weighs more. */
  readonly words: readonly (readonly [stem: string, weight: number])[];
  readonly share: number;
}

/**
 * The expected answer of a probe. A passage holds it if the passage contains the `verbatim` sentence, or if it
 * contains one form of every needle and enough words of every group.
 */
export interface Answer {
  /** A sentence in normal form. A context that repeats it word for word holds the probe. */
  readonly verbatim?: string;
  /** Literals in normal form. Each item lists the accepted forms of one literal. */
  readonly needles: readonly (readonly string[])[];
  readonly groups: readonly WordGroup[];
  /** The passage must have at least one of these stances. Absent if any stance fits. */
  readonly stances?: readonly Stance[];
  /** The passage must have none of these stances. */
  readonly notStances?: readonly Stance[];
  /** The passage must be under a heading with this stance. */
  readonly section?: Stance;
  /**
   * Sentences of the source in normal form. Raw text that repeats one of them, and that contains the needles,
   * holds a probe that needs a stance.
   */
  readonly rawEvidence?: readonly string[];
  /** True if the passage must contain a negation, as in "never push to main". */
  readonly negated?: boolean;
  /** True if the source denies something. Otherwise, a passage with a denial does not hold the probe. */
  readonly denies?: boolean;
  /** Pairs of a stem of the source and its opposite. A passage with the opposite alone contradicts the source. */
  readonly opposites?: readonly (readonly [stem: string, opposite: string])[];
  /** True if the groups are a choice and its reason. A choice with another reason does not hold the probe. */
  readonly isReasoned?: boolean;
  /** True if the needles name a changed file. A passage that calls it unchanged or gone does not hold the probe. */
  readonly isChange?: boolean;
  /** The last verdict that the line must give to the check that the needles name. */
  readonly outcome?: { readonly verdict: "passed" | "failed"; readonly rivals: readonly string[] };
}

export interface Probe {
  /** Unique in its exam, as "decision-3". */
  readonly id: string;
  readonly kind: ProbeKind;
  /** A question that a person would ask. It does not contain the needles of the answer. */
  readonly question: string;
  /** The passage of the session that answers the question, shortened. */
  readonly text: string;
  readonly answer: Answer;
  /** Ids of the entries that state the answer. */
  readonly entryIds: readonly string[];
}

export const FALSE_STATEMENT_KINDS = [
  "cancelled-as-active",
  "failed-as-passed",
  "passed-as-failed",
  "done-as-pending",
  "invented-path",
  "invented-figure",
  "invented-quote",
] as const;

export type FalseStatementKind = (typeof FALSE_STATEMENT_KINDS)[number];

/** A false statement that a summary must not make, with the evidence from the session. */
export interface Trap {
  readonly id: string;
  readonly kind: Exclude<FalseStatementKind, `invented-${string}`>;
  /** The sentence of the session that proves the statement false, shortened. */
  readonly evidence: string;
  readonly needles: readonly (readonly string[])[];
  readonly groups: readonly WordGroup[];
  /** The passage makes the false statement if it has one of these stances ... */
  readonly stances: readonly Stance[];
  /** ... none of these ... */
  readonly notStances: readonly Stance[];
  /** ... and contains none of these literals. */
  readonly unless: readonly string[];
  /** A passage with more content words tells more than the false statement, and makes none. */
  readonly maxStems?: number;
  /** The verdict that the check of the needles had last. Its opposite is false, whatever the stances are. */
  readonly verdict?: "passed" | "failed";
  readonly entryIds: readonly string[];
}

/** Literals of a session. A path or figure that is in no entry of the session is invented. */
export interface SourceLiterals {
  readonly numbers: ReadonlySet<string>;
  /** Words and segments of paths, in lower case. */
  readonly segments: ReadonlySet<string>;
  /** Names of files, in lower case. */
  readonly files: ReadonlySet<string>;
  /** Ends of paths with at least one folder, in lower case. */
  readonly pathEnds: ReadonlySet<string>;
  /** Numbers with the first letter of their unit, and numbers that are the value of a setting. */
  readonly measures: ReadonlySet<string>;
  /** Everything that the user typed or pasted. */
  readonly userText: string;
}

export interface Exam {
  readonly probes: readonly Probe[];
  readonly traps: readonly Trap[];
  readonly source: SourceLiterals;
}

export interface FalseStatement {
  readonly kind: FalseStatementKind;
  /** The passage of the summary that makes the statement. */
  readonly passage: string;
  /** The reason why the statement is false. */
  readonly why: string;
  /** Id of the trap. Absent for invented paths and figures. */
  readonly trapId?: string;
}

/** A context to grade. A string is a summary without further context. */
export type GradedContext =
  | string
  | {
      /** Text that makes claims. False statements are searched in this text only. */
      readonly summary: string;
      /** Raw text that makes no claims: kept messages, restored files, pages of recall. */
      readonly rest: string;
    };

export interface Grade {
  readonly held: readonly string[];
  readonly missing: readonly string[];
  readonly falseStatements: readonly FalseStatement[];
  /** (held - false statements) / probes. Negative if a text states more false things than true ones. */
  readonly score: number;
}
