import { quoted } from "../clip.ts";
import type { CommandRun, Commit } from "./command-runs.ts";
import { lastSentences, leadSentence } from "./prose.ts";
import { type Edit, fileName } from "./touched-files.ts";
import type { HumanMessage } from "./user-text.ts";

/** Everything between one message of a person and the next. */
export interface Exchange {
  readonly message: HumanMessage | undefined;
  readonly actions: readonly Action[];
  readonly commits: readonly Commit[];
  /** The agent's texts, in order. */
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

/** An exchange that is still being read. */
export interface OpenExchange extends Exchange {
  readonly actions: Action[];
  readonly commits: Commit[];
  readonly texts: AgentText[];
}

export const openExchange = (message?: HumanMessage): OpenExchange => ({
  message,
  actions: [],
  commits: [],
  texts: [],
});

export function isEmpty(exchange: Exchange): boolean {
  return exchange.message === undefined && exchange.actions.length === 0 && exchange.texts.length === 0;
}

/** Asks for something: not a command to the program itself, nor one to the shell. */
export function isRequest(exchange: Exchange): boolean {
  return exchange.message?.kind === "request" || exchange.message?.kind === "remark";
}

/** A message this short means nothing without what it replies to. */
export const NEEDS_CONTEXT_CHARS = 60;
/** A message this short asks for nothing by itself. */
const SAYS_LITTLE_CHARS = 24;

/** "Continue" or "yes": it carries on with what was asked before it. */
export const saysLittle = (message: string): boolean => message.length <= SAYS_LITTLE_CHARS;

export function lastLongerRequest(exchanges: readonly Exchange[]): string | undefined {
  const longer = exchanges.findLast(
    (exchange) => isRequest(exchange) && (exchange.message?.text.length ?? 0) > NEEDS_CONTEXT_CHARS,
  );
  return longer?.message?.text;
}

/** The end of what the agent had said: there stands the question or the offer. */
export function repliedTo(before: Exchange | undefined, maxChars: number): string | undefined {
  const said = before?.texts.at(-1)?.text;
  const closing = said === undefined ? "" : lastSentences(said, 3).join(" ");
  const fromEnd = closing.length > maxChars ? `…${closing.slice(-maxChars).replace(/^\S*\s/, "")}` : closing;
  return closing === "" ? undefined : quoted(fromEnd);
}

/** The outcome of a request in the agent's own words: the sentence that its last text leads with. */
export function outcomeSaid({ texts }: Exchange): string | undefined {
  const last = texts.at(-1)?.text;
  return last === undefined ? undefined : leadSentence(last);
}

export function commandsIn({ actions }: Exchange): readonly CommandRun[] {
  return actions.flatMap((action) => (action.kind === "command" ? [action.run] : []));
}

/** Names of the files that were edited, each once. */
export function editedNames({ actions }: Exchange): readonly string[] {
  return [...new Set(actions.flatMap((action) => (action.kind === "edit" ? [fileName(action.path)] : [])))];
}
