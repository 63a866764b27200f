import type { SnipSelection } from "../compact/snip.ts";
import { after } from "./after.ts";
import { before } from "./before.ts";
import { childOptions } from "./child-options.ts";
import { clearByHand } from "./clear-by-hand.ts";
import { expandMessages } from "./collapse-expand.ts";
import { compactByHand } from "./manual.ts";
import type {
  BeforeOptions,
  ChildOptions,
  ClearOptions,
  Compactor,
  CompactorOptions,
  ManualOptions,
  Message,
  ResponseFacts,
  Turn,
  UndoOptions,
} from "./options.ts";
import { recover } from "./recover.ts";
import {
  requireBeforeOptions,
  requireChildOptions,
  requireClearOptions,
  requireCompactorOptions,
  requireManualOptions,
  requireUndoOptions,
} from "./require-options.ts";
import { resolveOptions } from "./resolve-options.ts";
import { snipMessages } from "./snip-turn.ts";
import { ConversationState } from "./state.ts";
import { goBack } from "./undo.ts";

/**
 * Keeps one conversation within its model's window: three calls around each model call, and everything else by
 * itself.
 */
export function createCompactor(options: CompactorOptions = {}): Compactor {
  requireCompactorOptions(options);
  return new ConversationCompactor(new ConversationState(resolveOptions(options)), options);
}

class ConversationCompactor implements Compactor {
  readonly #state: ConversationState;
  readonly #options: CompactorOptions;
  readonly #onClose: () => void;
  /** Calls for one conversation come one after the other, whoever makes them. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(state: ConversationState, options: CompactorOptions, onClose: () => void = () => undefined) {
    this.#state = state;
    this.#options = options;
    this.#onClose = onClose;
  }

  get agentId(): string | undefined {
    return this.#state.agentId;
  }

  get isCollapseOn(): boolean {
    return this.#state.collapse !== undefined;
  }

  get children(): readonly Compactor[] {
    return [...this.#state.children.keys()];
  }

  before<T extends Message>(messages: readonly T[], options: BeforeOptions = {}): Promise<Turn<T>> {
    return this.#inTurn(() => {
      requireBeforeOptions(options);
      return before(this.#state, messages, options);
    });
  }

  after(response: ResponseFacts): void {
    after(this.#state, response);
  }

  recover<T extends Message>(
    error: unknown,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Turn<T> | undefined> {
    return this.#inTurn(() => recover<T>(this.#state, error, signal));
  }

  compact<T extends Message>(messages: readonly T[], options: ManualOptions = {}): Promise<Turn<T>> {
    return this.#inTurn(() => {
      requireManualOptions(options);
      return compactByHand(this.#state, messages, options);
    });
  }

  clear<T extends Message>(messages: readonly T[], options: ClearOptions = {}): Promise<Turn<T>> {
    return this.#inTurn(() => {
      requireClearOptions(options);
      return clearByHand(this.#state, messages, options);
    });
  }

  snip<T extends Message>(messages: readonly T[], selection: SnipSelection): Promise<Turn<T>> {
    return this.#inTurn(() => snipMessages(this.#state, messages, selection));
  }

  expand<T extends Message>(messages: readonly T[], spanIds?: readonly string[]): Promise<Turn<T>> {
    return this.#inTurn(() => expandMessages(this.#state, messages, spanIds));
  }

  undo<T extends Message>(messages: readonly T[], options: UndoOptions = {}): Promise<Turn<T>> {
    return this.#goBack(messages, false, options);
  }

  redo<T extends Message>(messages: readonly T[], options: UndoOptions = {}): Promise<Turn<T>> {
    return this.#goBack(messages, true, options);
  }

  child(options: ChildOptions = {}): Compactor {
    requireChildOptions(options);
    const { agentId = this.#state.options.ports.newUuid(), description = "", ...own } = options;
    const complete = childOptions(this.#options, own);
    const state = new ConversationState(resolveOptions(complete), agentId, this.#state);
    const child: Compactor = new ConversationCompactor(state, complete, () =>
      this.#state.children.delete(child),
    );
    this.#state.children.set(child, { id: agentId, description, status: "running" });
    return child;
  }

  close(): Promise<void> {
    this.#onClose();
    return this.#inTurn(async () => {
      this.#state.collapse?.reset();
      this.#state.background.close();
      await this.#state.notes?.close();
      await this.#state.transcript.close();
    });
  }

  #goBack<T extends Message>(messages: readonly T[], redo: boolean, options: UndoOptions): Promise<Turn<T>> {
    return this.#inTurn(() => {
      requireUndoOptions(options);
      return goBack(this.#state, messages, { redo, signal: options.signal });
    });
  }

  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }
}
