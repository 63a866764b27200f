import type { JsonRecord } from "../../../conversation/untrusted.ts";
import type { ChangeLog } from "../changes.ts";
import type { Dialect } from "../dialect.ts";

/** A message as the AI SDK takes it. Its own types are not named: they differ between versions. */
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly PromptPart[];
  readonly providerOptions?: JsonRecord;
}

export interface PromptPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What every mapping of a request needs to know. */
export interface Mapping {
  readonly dialect: Dialect;
  readonly changes: ChangeLog;
  readonly images: boolean;
  /** The names of parts differ between versions 6 and 7. */
  readonly isVersionSeven: boolean;
}

export const textPart = (text: string, providerOptions?: JsonRecord): PromptPart => ({
  type: "text",
  text,
  ...(providerOptions === undefined ? {} : { providerOptions }),
});
