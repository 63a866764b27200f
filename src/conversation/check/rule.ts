import type { ApiMessage, ApiVersion, ContentBlock } from "../message.ts";
import type { Draft, DraftMessage } from "./draft.ts";
import type { Finding, RuleName } from "./finding.ts";
import { MAX_MEDIA, MAX_REQUEST_BYTES } from "./limits.ts";

export interface CheckOptions {
  /** Images and documents allowed in one request; 100 on models with a 200,000-token window. */
  readonly maxMedia?: number;
  readonly maxRequestBytes?: number;
  /** Some models refuse tool blocks in a request that defines no tools. Reported only. */
  readonly requireTools?: boolean;
  /**
   * The version of the API that the request is for. Documents in assistant messages and citations on the
   * user's text are faults only under the newer one, which is the default.
   */
  readonly apiVersion?: ApiVersion;
  /**
   * Messages of one role in a row: reported and merged, which every reading of the API takes, or accepted as
   * the current reference has it. Accepted ones are judged as the one message that the API makes of them.
   */
  readonly consecutiveRoles?: "reported" | "accepted";
  /** What to do when a model that takes no prefill is sent a conversation that ends with the assistant. */
  readonly prefill?: "report" | "add-user-message";
}

export type CheckSettings = Required<CheckOptions>;

export function checkSettings(options: CheckOptions): CheckSettings {
  return {
    maxMedia: MAX_MEDIA,
    maxRequestBytes: MAX_REQUEST_BYTES,
    requireTools: false,
    apiVersion: "2026-10-21",
    consecutiveRoles: "reported",
    prefill: "report",
    ...options,
  };
}

/** One row of the table of rules: what the rule does, and all that a conversation that grows must know of it. */
export interface Rule {
  readonly reports: readonly RuleName[];
  /**
   * How far it looks. A rule for `messages` looks at a message and those beside it, one for a `turn` at all that the
   * assistant says up to the user's next words. The newest messages are enough for both. One for the `request` looks
   * at everything.
   */
  readonly looksAt: "messages" | "turn" | "request";
  /**
   * Finds where the draft breaks the rule, repairs that, and reports each place. It leaves nothing behind that it
   * would report again.
   */
  readonly apply: (draft: Draft, settings: CheckSettings) => void;
  /** An id that ties a block to others, however far away. Messages that share one are judged together. */
  readonly tieOf?: (block: ContentBlock) => string | undefined;
  /** Tells before which messages of a checked draft, or after the last, the rule allows it to be parted. */
  readonly allowsCut?: (checked: Checked) => (index: number) => boolean;
  /** Made after a check of everything, when nothing is closed yet. */
  readonly remember?: (checked: Draft, settings: CheckSettings) => RuleMemory;
}

/** Messages that the rules were applied to, and what they found. */
export interface Checked {
  readonly messages: readonly DraftMessage[];
  readonly findings: readonly Finding[];
}

/** Knowledge about closed messages, which are checked and stay as they are, to judge the messages after them alone. */
export interface RuleMemory {
  /**
   * False where the rule would have to look at closed messages to judge the tail, which no rule has been applied to.
   * `between` are checked messages before the tail that are not closed yet.
   */
  readonly allowsTail?: (tail: Draft, between: readonly DraftMessage[]) => boolean;
  readonly close?: (messages: readonly DraftMessage[]) => void;
  /** Called with all messages after each check, before more of them are closed. False where all must be checked. */
  readonly settle?: (messages: readonly ApiMessage[]) => boolean;
  /** Findings about the length of the request, which every new message changes. */
  readonly lengthFindings?: (messages: readonly ApiMessage[]) => readonly Finding[];
}
