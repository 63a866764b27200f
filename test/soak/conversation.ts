import { join } from "node:path";
import {
  type CompactorEvent,
  type ContentBlock,
  complete,
  type Message,
  type Model,
  ModelError,
  type ModelReply,
  type ToolUseBlock,
  type TranscriptPort,
  type Turn,
} from "@longhaul/core";
import type { ThinkingMode } from "@longhaul/core/measure";
import { openTranscript, resumeSession, type TranscriptWriter } from "@longhaul/sessions";
import type { LoggedRequest } from "@longhaul/simulator";
import { HeldNotes } from "../engine/notes-file.case.ts";
import { type Compactor, type CompactorOptions, createCompactor } from "../support/full-compactor.ts";
import {
  isAccepted,
  isOverflow,
  lostMessages,
  refusal,
  statedTokens,
  unseenResults,
  wrongCount,
} from "./exam.ts";
import { faultyPort, type Usage, WRONG_USAGE, WRONG_USAGE_KINDS } from "./faults.ts";
import { HostLists, hasBlock } from "./host-lists.ts";
import { Journal } from "./journal.ts";
import { ENGINE } from "./provider.ts";
import { newResults, newWords } from "./said.ts";
import { SessionView } from "./session-view.ts";
import { frameOf, tokensPerCharacter } from "./setup.ts";
import type { World } from "./world.ts";

const HOST_LIMIT_MS = 120_000;
const MAX_ATTEMPTS = 4;
const RETRY_MS = 2_000;

/** The outcome of one request of the host. */
interface Sent {
  readonly reply?: ModelReply;
  readonly error?: unknown;
  /** The request in the provider's log. */
  readonly last: LoggedRequest | undefined;
  readonly isAborted: boolean;
}

/** A host's loop around one compactor, with its own journal of all texts in the conversation. */
export class Conversation {
  readonly name: string;
  readonly world: World;
  readonly lists: HostLists;
  readonly journal: Journal = new Journal();
  readonly view: SessionView;
  compactor: Compactor;
  thinking: ThinkingMode | undefined;
  events: CompactorEvent[] = [];
  readonly #notes = new HeldNotes();
  #writer: TranscriptWriter;
  readonly #model: Model;
  #isTrusted = true;
  #reports = 0;
  /**
   * Largest factor by which an injected error overstated the size of a prompt. Errors before the last
   * accepted request do not count.
   */
  #statedFactor = 1;
  /** Number of events before the last accepted request. */
  #eventsBefore = 0;

  private constructor(world: World, name: string, writer: TranscriptWriter, parent: Compactor | undefined) {
    const { setup, chance, time, newUuid } = world;
    this.world = world;
    this.name = name;
    this.view = new SessionView(writer.path);
    this.thinking = setup.thinking;
    this.#writer = writer;
    this.lists = new HostLists(setup, chance, { now: () => new Date(time.now()), newUuid });
    this.#model = world.provider.model(setup.model, name);
    this.compactor = this.#open(parent);
  }

  static async open(world: World, name: string, parent?: Compactor): Promise<Conversation> {
    return new Conversation(
      world,
      name,
      await openWriter(world, join(world.folder, `${name}.jsonl`)),
      parent,
    );
  }

  /** Runs one model call with all engine calls around it. */
  async turn(): Promise<void> {
    if (!this.lists.asksForReply) this.say();
    const { world, lists, journal } = this;
    const messages = lists.pass();
    journal.giveAll();
    const request = frameOf(world.setup, this.thinking);
    const caller = this.name === "main" ? "main" : "subagent";
    const turn = await world.call(
      "before",
      (signal) => this.#planted(this.compactor.before(messages, { signal, request, caller })),
      { mayFail: false },
    );
    if (turn === undefined) return;
    lists.take(turn.messages);
    await this.#callModel(turn);
  }

  say(): void {
    const { content, texts } = newWords(this.world);
    this.lists.addUser(content);
    for (const text of texts) this.journal.add("user", text);
  }

  /** Calls the engine between two turns and continues with the list that it returns. */
  async operate(
    name: string,
    work: (messages: readonly Message[], signal: AbortSignal) => Promise<Turn>,
  ): Promise<Turn | undefined> {
    const messages = this.lists.pass();
    this.journal.giveAll();
    const turn = await this.world.call(name, (signal) => work(messages, signal));
    if (turn !== undefined) this.lists.take(turn.messages);
    return turn;
  }

  /** Ends the process, with or without closing the session. A new process resumes from the file. */
  async restart(isClosed: boolean): Promise<void> {
    const { world, view, journal } = this;
    if (isClosed) await this.close();
    else await world.time.sleep(1_000);
    const { path } = this.#writer;
    await world.time.hold(() => this.#writer.close());
    const resumed = await world.time.hold(() => resumeSession(path).catch(() => undefined));
    this.#writer = await openWriter(world, path);
    this.compactor = this.#open(undefined);
    const unwritten = journal.all.filter(({ isLive, marker }) => isLive && !view.holds(marker));
    const lost = unwritten.filter(({ isGiven }) => isGiven && isClosed && world.setup.transcript === "sound");
    world.report(
      ...lost.map(({ kind, marker }) => ({ kind: `${kind} not in the closed session`, detail: marker })),
    );
    journal.retract(unwritten.map(({ marker }) => marker));
    if (resumed !== undefined) this.lists.resume(resumed.conversation);
    world.time.advance(world.chance.pick([1_000, 400_000, 7_200_000]));
  }

  async close(): Promise<void> {
    await this.world.call("close", () => this.compactor.close(), { mayAbort: false });
  }

  async end(): Promise<void> {
    await this.close();
    await this.world.time.hold(() => this.#writer.close());
  }

  #open(parent: Compactor | undefined): Compactor {
    const { world } = this;
    const { setup, time, newUuid, provider } = world;
    const options: CompactorOptions = {
      model: provider.model(setup.model, ENGINE),
      request: frameOf(setup, this.thinking),
      window: { tokens: setup.configuredWindow },
      clearing: setup.clearing,
      compaction: setup.compaction,
      transcript: this.#port(),
      host: { onEvent: (event) => this.events.push(event) },
      session: { id: "soak", cwd: "/home/dev/harbor" },
    };
    if (parent !== undefined) return parent.child(options);
    const ports = { now: () => new Date(time.now()), newUuid };
    return createCompactor({ ...options, ...this.#headroom(), ports, settings: { environment: {} } });
  }

  #headroom(): Pick<CompactorOptions, "notes" | "collapse"> {
    const { headroom } = this.world.setup;
    if (headroom === "none") return {};
    const isBuiltIn = headroom.startsWith("built-in");
    const writer = isBuiltIn ? "built-in" : "model";
    return headroom.endsWith("notes")
      ? { notes: { file: this.#notes, writer } }
      : { collapse: { summarizer: writer } };
  }

  #port(): TranscriptPort {
    return faultyPort(this.world, this.view.shownPath, () => this.#writer);
  }

  /**
   * Sends the request. Repeats it if the engine or the error demands that. Ends when there is a reply, or no
   * way to continue.
   */
  async #callModel(first: Turn): Promise<void> {
    const { world, lists } = this;
    let turn = first;
    // True after `recover` returned a request because of an error that states a size. A 413 error says
    // nothing about the window.
    let hasRecovered = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { reply, error, last, isAborted: wasAborted } = await this.#send(turn);
      if (reply !== undefined) return this.#finish(reply);
      if (wasAborted) return;
      let isAborted = false;
      const again = await world.call("recover", (signal) => this.compactor.recover(error, { signal }), {
        mayFail: false,
        onAbort: () => {
          isAborted = true;
        },
      });
      if (isAborted) return;
      const stated = last === undefined ? 0 : statedTokens(last) / turn.tokens;
      this.#statedFactor = Math.max(this.#statedFactor, stated);
      if (last !== undefined && isOverflow(last)) this.#judgeOverflow(hasRecovered, again !== undefined);
      if (again !== undefined) {
        lists.take(again.messages);
        turn = again;
        hasRecovered ||= last !== undefined && (isOverflow(last) || statedTokens(last) > 0);
      } else if (error instanceof ModelError && error.retryHelps) await world.time.sleep(RETRY_MS);
      else return;
    }
  }

  /** Sends one request of the host. Returns it with the provider's log entry. */
  async #send(turn: Turn): Promise<Sent> {
    const { world, name } = this;
    const { provider, time, chance, setup } = world;
    const abort = new AbortController();
    const limit = setTimeout(() => abort.abort(), HOST_LIMIT_MS);
    if (chance.is(setup.aborts)) void time.sleep(chance.pick([0, 200, 2_000])).then(() => abort.abort());
    const before = provider.requestsOf(name).length;
    const outcome = await complete(this.#model, turn.request, { signal: abort.signal }).then(
      (reply) => ({ reply }),
      (error: unknown) => ({ error }),
    );
    clearTimeout(limit);
    // Moves the clock, because no model answers within the same millisecond.
    time.advance(1);
    const requests = provider.requestsOf(name).slice(before);
    await this.#examine(turn, requests);
    return { ...outcome, last: requests.at(-1), isAborted: abort.signal.aborted };
  }

  /** Examines the turn. First waits for the engine, which writes the session file in parallel. */
  async #examine(turn: Turn, requests: readonly LoggedRequest[]): Promise<void> {
    const { world, journal, view } = this;
    await world.time.unheld();
    for (const request of requests) {
      world.report(refusal(request, "host"));
      if (!isAccepted(request)) continue;
      const areFiguresTrue = this.#isTrusted && world.areFiguresTrue;
      world.report(
        ...lostMessages(request, journal, view),
        ...unseenResults(request, journal, {
          countedTokens: this.#largestCount(turn),
          statedFactor: this.#statedFactor,
          windowTokens: world.setup.windowTokens,
          tokensPerCharacter: tokensPerCharacter(world.setup),
        }),
      );
      this.#statedFactor = 1;
      const isCompacted = this.events.slice(this.#eventsBefore).some(({ type }) => type === "compacted");
      this.#eventsBefore = this.events.length;
      journal.seeAll();
      if (request.inputTokens === undefined || request.appliedEdits.length > 0) continue;
      const isTrusted = areFiguresTrue && this.#reports > 0 && !isCompacted;
      world.report(...wrongCount({ counted: turn.tokens, actual: request.inputTokens, isTrusted }));
    }
  }

  /**
   * Returns the largest token count since the last accepted request, of the turn and of compactions. A
   * compaction may have shortened results by a count that was corrected later.
   */
  #largestCount({ tokens }: Turn): number {
    const events = this.events.slice(this.#eventsBefore);
    return Math.max(tokens, ...events.map((event) => (event.type === "compacted" ? event.tokensAfter : 0)));
  }

  /**
   * Judges an overflow. A prompt may be too long, but then `recover` has to return a request that the
   * provider accepts.
   */
  #judgeOverflow(hasRecovered: boolean, isRecovered: boolean): void {
    const { world } = this;
    if (world.setup.transcript !== "sound") return;
    const isBreakerOpen = this.events.some(({ type }) => type === "breaker-opened");
    const when = `${hasRecovered ? " again after a recovery" : ""}${isBreakerOpen ? " with a breaker opened" : ""}`;
    if (hasRecovered || !isRecovered) {
      const failed = this.events.findLast((event) => event.type === "recovery-failed");
      world.report({
        kind: `overflow${isRecovered ? "" : " not recovered"}${when}`,
        detail: JSON.stringify(failed) ?? "",
      });
    }
  }

  #finish(reply: ModelReply): void {
    const { world, lists, journal } = this;
    const { chance, setup } = world;
    const isWrong = chance.is(setup.wrongUsage);
    const distort = isWrong ? WRONG_USAGE[chance.pick(WRONG_USAGE_KINDS)] : undefined;
    if (isWrong) this.#isTrusted = false;
    const usage = distort === undefined ? reply.usage : distort(reply.usage as Usage);
    this.compactor.after({ ...reply, usage: usage as ModelReply["usage"] });
    this.#reports += 1;
    if (reply.content.length === 0) return;
    lists.addReply(reply);
    for (const block of reply.content) if (block.type === "text") journal.add("assistant", block.text);
    const calls = reply.content.filter((block): block is ToolUseBlock => block.type === "tool_use");
    if (calls.length === 0) return;
    const results = newResults(world, calls);
    lists.addUser(results.content as readonly ContentBlock[]);
    for (const { text, toolUseId } of results.texts)
      journal.add(toolUseId === undefined ? "user" : "result", text, toolUseId);
  }

  /** Breaks the result on purpose if a test requests it. */
  async #planted<T extends Turn>(result: Promise<T>): Promise<T> {
    const { plant } = this.world;
    const turn = await result;
    if (plant === undefined || turn.messages.length < 4) return turn;
    if (plant === "never-settle") return await new Promise<never>(() => undefined);
    const { messages } = turn.request;
    const at = messages.findIndex((message) =>
      plant === "drop-message"
        ? !hasBlock(message, "tool_use") && message.role === "assistant"
        : hasBlock(message, "tool_use"),
    );
    const request = { ...turn.request, messages: messages.filter((_, index) => index !== at) };
    return { ...turn, ...asPlain(turn), request };
  }
}

/** Copies the parts of a turn that the host reads. A spread copy would lose the getters of the class. */
const asPlain = ({ messages, tokens }: Turn): Pick<Turn, "messages" | "tokens"> => ({ messages, tokens });

async function openWriter(world: World, path: string): Promise<TranscriptWriter> {
  return await world.time.hold(() => openTranscript(path, { lock: async () => async () => undefined }));
}
