import { CONTEXT_TEXTS } from "./context-texts.ts";
import { MESSAGE_TEXTS } from "./message-texts.ts";
import { REQUEST_TEXTS } from "./request-texts.ts";
import { STATUS_TEXTS } from "./status-texts.ts";

/**
 * A text of the API. `{name}` is filled in when it is sent. Verified means: quoted from an official page or
 * type file, or captured on the wire. All others are plausible wordings of rules that are known; none is to be
 * matched on.
 */
export interface TextRow {
  readonly verified: boolean;
  readonly text: string;
  /** Of the error that it is the text of; 400 unless given. */
  readonly status?: number;
  /** The `error_code` of the error's details: what clients are told to branch on. */
  readonly code?: string;
}

type Texts = typeof STATUS_TEXTS & typeof REQUEST_TEXTS & typeof MESSAGE_TEXTS & typeof CONTEXT_TEXTS;

/** Every text that the simulated API writes: errors, and what it puts in the place of things. */
export const TEXTS: Texts = { ...STATUS_TEXTS, ...REQUEST_TEXTS, ...MESSAGE_TEXTS, ...CONTEXT_TEXTS };

export type TextName = keyof Texts;

export interface UnverifiedText {
  readonly name: TextName;
  readonly text: string;
}

/** What nobody has seen on the wire: for documentation, and for tests that must not depend on it. */
export const UNVERIFIED_TEXTS: readonly UnverifiedText[] = Object.entries(TEXTS)
  .filter(([, { verified }]) => !verified)
  .map(([name, { text }]) => ({ name: name as TextName, text }));
