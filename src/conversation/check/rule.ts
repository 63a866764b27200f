import type { ApiVersion } from "../message.ts";
import type { Draft } from "./draft.ts";

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

/**
 * One rule of the API: finds where the draft breaks it, mends that, and reports each place. A rule leaves
 * nothing behind that it would report again.
 */
export type Rule = (draft: Draft, settings: CheckSettings) => void;
