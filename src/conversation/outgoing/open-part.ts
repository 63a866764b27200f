import type { DraftMessage } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import { marksIn } from "./marks.ts";
import { OpenServerCalls } from "./server-calls.ts";
import type { IdAt } from "./tool-ids.ts";

/** The end of a conversation, which the next items may still change, as it was checked. */
export class OpenPart {
  readonly messages: readonly DraftMessage[];
  readonly ids: readonly IdAt[];
  readonly joinIds: readonly string[];
  readonly findings: readonly Finding[];

  constructor(parts: Pick<OpenPart, "messages" | "ids" | "joinIds" | "findings">) {
    this.messages = parts.messages;
    this.ids = parts.ids;
    this.joinIds = parts.joinIds;
    this.findings = parts.findings;
  }

  /** An assistant message after it would leave it as it is: the user has spoken, and nothing was found. */
  get isComplete(): boolean {
    if (this.findings.length > 0 || this.messages.at(-1)?.role !== "user") return false;
    const calls = new OpenServerCalls();
    for (const message of this.messages) calls.visit(message);
    return !calls.areOpen;
  }

  /** Whether what was read after it has to be judged together with it. */
  isConcernedBy(read: readonly DraftMessage[], ids: readonly IdAt[], joinIds: readonly string[]): boolean {
    return (
      (marksIn(read).count > 0 && marksIn(this.messages).count > 0) ||
      ids.some(({ id }) => this.ids.some((own) => own.id === id)) ||
      joinIds.some((id) => this.joinIds.includes(id))
    );
  }
}

export const NOTHING_OPEN: OpenPart = new OpenPart({ messages: [], ids: [], joinIds: [], findings: [] });
