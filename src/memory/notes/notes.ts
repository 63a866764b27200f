/** What belongs into a section, fixed by the template: neither line is ever altered by the model. */
export interface NotesHeading {
  /** The whole line, such as `# Current State`. */
  readonly heading: string;
  /** The italic line below it, whole. */
  readonly guide: string;
}

/** The sections that notes have, in their order. At least one. */
export interface NotesTemplate {
  readonly sections: readonly NotesHeading[];
}

export interface NotesSection extends NotesHeading {
  /** Without blank lines around it; empty where nothing has been noted. */
  readonly body: string;
}

/** A session's notes. */
export interface Notes {
  /** What a person wrote above the first heading; kept as it is. */
  readonly preface: string;
  readonly sections: readonly NotesSection[];
  /**
   * The newest message that is in the notes, by its uuid. It stands in the same file, so that the two can never
   * part: a process that dies between them would otherwise drop messages that nobody noted. Undefined where the file
   * has none; empty, which is no message's, where it has one that cannot be read: then nothing may count as noted.
   */
  readonly coveredUuid: string | undefined;
}

/** Where a session's notes are kept. */
export interface NotesFile {
  readonly path: string;
  /** Undefined where there is no such file. */
  read(): Promise<string | undefined>;
  /**
   * Puts the text in the place of what was read: whole or not at all. False, and nothing written, where the file is
   * no longer what was read: a person edits it too.
   */
  write(text: string, replacing: string | undefined): Promise<boolean>;
}

/** In tokens; the notes are part of every context that is made from them. */
export interface NotesLimits {
  readonly sectionTokens: number;
  readonly totalTokens: number;
}

/** A change to the notes that somebody wishes for. */
export type NotesEdit = TextEdit | SectionEdit;

/** As agents edit files. */
export interface TextEdit {
  readonly kind: "text";
  /** The file that is meant. */
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll?: boolean;
}

/** For models that have no tool for files. */
export interface SectionEdit {
  readonly kind: "section";
  /** The section's name, with or without the heading's marks. */
  readonly section: string;
  readonly mode: "replace" | "append";
  readonly text: string;
}

/** Why an edit is not carried out: one or two sentences for whoever wished for it, who can act on them. */
export interface Refusal {
  readonly refused: string;
}

/** Why notes were not used for a compaction. */
export type NotesDecline =
  /** Nobody set notes up, or they are switched off. */
  | "disabled"
  | "no-file"
  | "unreadable"
  /** Nothing has been noted. */
  | "only-template"
  /** The newest noted message is not in the conversation. */
  | "message-not-found"
  /** All that is noted has been compacted away already. */
  | "nothing-new-noted"
  /** The user asked for something that notes do not know about. */
  | "instructions"
  | "hook-instructions"
  /** Only a part of the conversation is compacted. Notes stand for all of it up to a message. */
  | "partial-compaction"
  /** The user said how many recent tokens are kept. Notes decide that by the newest noted message. */
  | "keep-recent-tokens"
  /** The result would be due for the next compaction at once. */
  | "above-threshold"
  | "does-not-pay";
