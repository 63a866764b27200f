import type { CommandRun, Commit } from "./read/commands.ts";
import type { Edit } from "./read/files.ts";
import type { HumanMessage } from "./read/human.ts";

/** What happened between one message of a person and the next. */
export interface Exchange {
  readonly message: HumanMessage | undefined;
  readonly actions: readonly Action[];
  readonly commits: readonly Commit[];
  /** What the agent said, in order. */
  readonly texts: readonly AgentText[];
}

export interface AgentText {
  readonly at: number;
  readonly text: string;
}

export type Action =
  | { readonly kind: "edit"; readonly at: number; readonly path: string; readonly edit: Edit | undefined }
  | { readonly kind: "read"; readonly at: number; readonly path: string }
  | { readonly kind: "command"; readonly at: number; readonly run: CommandRun }
  | { readonly kind: "tool"; readonly at: number; readonly label: string; readonly failed: boolean };

export class ExchangeBuilder implements Exchange {
  readonly message: HumanMessage | undefined;
  readonly actions: Action[] = [];
  readonly commits: Commit[] = [];
  readonly texts: AgentText[] = [];

  constructor(message: HumanMessage | undefined) {
    this.message = message;
  }
}

export function isEmpty(exchange: Exchange): boolean {
  return exchange.message === undefined && exchange.actions.length === 0 && exchange.texts.length === 0;
}

/** Asks for something: not a command to the program itself, nor one to the shell. */
export function isRequest(exchange: Exchange): boolean {
  return exchange.message?.kind === "request" || exchange.message?.kind === "remark";
}
