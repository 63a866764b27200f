import {
  type AssistantEntry,
  type Entry,
  isEntry,
  isSynthetic,
  rawContent,
  responseIdOf,
  type UserEntry,
} from "../../messages/entry.ts";
import { isBlankText, isThinking, type MessageContent } from "../../messages/message.ts";
import { type Draft, type DraftMessage, intactBlocks, type Part, readParts } from "../check/rule.ts";
import { sentContent } from "./attachment-content.ts";

/** A run of entries from one role. Tool results are separate, because they come first in the sent message. */
interface Turn {
  readonly role: "user" | "assistant";
  readonly results: Part[];
  readonly others: Part[];
  /** The source contents. A turn with a single content can be sent unchanged. */
  readonly contents: { readonly content: unknown; readonly parts: readonly Part[] }[];
}

interface ResponseTurns {
  readonly said: Turn;
  readonly answers: Turn;
  readonly repeats: RepeatFilter;
}

/**
 * Sorts entries into turns. All entries of a response go into one turn, even if other entries are between
 * them. Each response has a user turn after it. That turn gets everything up to the next response. A tool
 * result always goes into the turn after its call. So no other entry can separate a call from its result.
 */
export class TurnSorter {
  readonly #draft: Draft;
  readonly #turns: Turn[] = [newTurn("user")];
  readonly #responses = new Map<string, ResponseTurns>();
  readonly #answersTo = new Map<unknown, Turn>();
  /**
   * The key is a result that precedes its call, and the value is the turn that contains the result until the
   * call appears.
   */
  readonly #early = new Map<Part, Turn>();

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  add(entry: Entry, index: number): void {
    if (!isEntry(entry)) return;
    if (entry.type === "assistant" && !isSynthetic(entry)) this.#addAssistant(entry, index);
    else if (entry.type === "user") this.#addUser(entry, index);
    else if (entry.type === "attachment") {
      const origin = { message: index };
      const parts = sentContent(entry).map((block) => ({ block, origin }));
      this.#addToUser(
        parts,
        parts.map((part) => part.block),
      );
    }
  }

  finish(): readonly DraftMessage[] {
    this.#placeEarlyResults();
    const messages: DraftMessage[] = [];
    let open: Turn | undefined;
    const close = (): void => {
      if (open !== undefined) messages.push(asMessage(open));
      open = undefined;
    };
    for (const turn of this.#turns) {
      if (turn.results.length + turn.others.length === 0 || this.#isThinkingOnly(turn)) continue;
      if (turn.role === "user" && open?.role === "user") join(open, turn);
      else {
        close();
        open = turn;
      }
    }
    close();
    return messages;
  }

  #addAssistant(entry: AssistantEntry, index: number): void {
    const content = rawContent(entry);
    const parts = readParts(this.#draft, content, { message: index });
    const { said, answers, repeats } = this.#turnsOf(entry);
    said.contents.push({ content, parts });
    for (const part of repeats.withoutRepeats(this.#draft, parts)) {
      said.others.push(part);
      if (part.block.type === "tool_use") this.#answersTo.set(part.block.id, answers);
    }
  }

  #turnsOf(entry: AssistantEntry): ResponseTurns {
    const id = responseIdOf(entry);
    const known = id === undefined ? undefined : this.#responses.get(id);
    if (known !== undefined) return known;
    const response = { said: newTurn("assistant"), answers: newTurn("user"), repeats: new RepeatFilter() };
    this.#turns.push(response.said, response.answers);
    if (id !== undefined) this.#responses.set(id, response);
    return response;
  }

  #addUser(entry: UserEntry, index: number): void {
    const content = rawContent(entry);
    this.#addToUser(readParts(this.#draft, content, { message: index }), content);
  }

  #addToUser(parts: readonly Part[], content: unknown): void {
    const current = this.#turns.at(-1);
    if (current === undefined) return;
    const touched = new Set<Turn>();
    for (const part of parts) {
      const isResult = part.block.type === "tool_result";
      const owner = part.block.type === "tool_result" ? this.#answersTo.get(part.block.tool_use_id) : current;
      const turn = owner ?? current;
      if (owner === undefined) this.#early.set(part, current);
      if (isResult && owner !== undefined) turn.results.push(part);
      else turn.others.push(part);
      touched.add(turn);
    }
    for (const turn of touched) turn.contents.push({ content, parts });
  }

  #placeEarlyResults(): void {
    const late = new Map<Turn, Set<Part>>();
    for (const [part, stood] of this.#early) {
      const owner =
        part.block.type === "tool_result" ? this.#answersTo.get(part.block.tool_use_id) : undefined;
      if (owner === undefined) continue;
      owner.results.push(part);
      late.set(stood, (late.get(stood) ?? new Set()).add(part));
    }
    for (const [turn, moved] of late) {
      const left = turn.others.filter((part) => !moved.has(part));
      turn.others.length = 0;
      for (const part of left) turn.others.push(part);
    }
  }

  /** Returns true for a response that was cut off after its thinking. The API refuses such a response. */
  #isThinkingOnly(turn: Turn): boolean {
    const isSilent = turn.others.every(({ block }) => isThinking(block) || isBlankText(block));
    if (turn.role !== "assistant" || !isSilent) return false;
    const thought = turn.others.find((part) => isThinking(part.block));
    if (thought === undefined) return false;
    const at = thought.origin;
    this.#draft.report(
      "thinking-only",
      "dropped",
      at,
      "This response contains only thinking. The repair removes it.",
    );
    return true;
  }
}

function newTurn(role: Turn["role"]): Turn {
  return { role, results: [], others: [], contents: [] };
}

/** Merges two user turns around a dropped response. The sorter owns the turns, so it may change them. */
function join(first: Turn, second: Turn): void {
  for (const part of second.results) first.results.push(part);
  for (const part of second.others) first.others.push(part);
  for (const content of second.contents) first.contents.push(content);
}

function asMessage(turn: Turn): DraftMessage {
  const parts = [...turn.results, ...turn.others];
  const origin = { message: parts[0]?.origin.message ?? 0 };
  const only = turn.contents.length === 1 ? turn.contents[0] : undefined;
  const sourceBlocks = only === undefined ? undefined : intactBlocks(only.content, only.parts);
  if (only === undefined || sourceBlocks === undefined) {
    return { role: turn.role, parts, origin, source: undefined, sourceBlocks: undefined };
  }
  const source = { role: turn.role, content: only.content as MessageContent };
  return { role: turn.role, parts, origin, source, sourceBlocks };
}

/**
 * Removes repeated blocks. A resumed session may contain the entries of a response twice, and the API refuses
 * repeated thinking. Equal text alone does not prove a repetition, because a response may repeat itself. So a
 * text counts as repeated only if it follows repeated thinking or a repeated call.
 */
class RepeatFilter {
  readonly #signatures = new Set<string>();
  readonly #calls = new Set<string>();
  /**
   * Texts of the response. They are searched only after a repetition was found, because hashing every text
   * would take long.
   */
  readonly #texts: string[] = [];
  #textsOfCopy: Set<string> | undefined;
  #isCopy = false;

  /** Returns the parts of another entry of the response. Omits parts that the response already has. */
  withoutRepeats(draft: Draft, parts: readonly Part[]): readonly Part[] {
    const fresh = parts.filter((part) => {
      if (!this.#isRepeat(part)) return true;
      const message =
        "This block repeats an earlier block of the same response. The repair removes the copy.";
      draft.report("block-repeated", "dropped", part.origin, message);
      return false;
    });
    for (const { block } of fresh) {
      if (block.type === "thinking") this.#signatures.add(block.signature);
      else if (block.type === "tool_use") this.#calls.add(block.id);
      else if (block.type === "text") this.#addText(block.text);
    }
    return fresh.length === parts.length ? parts : fresh;
  }

  #isRepeat({ block }: Part): boolean {
    if (block.type === "thinking") {
      const isRepeat = block.signature !== "" && this.#signatures.has(block.signature);
      if (isRepeat) this.#isCopy = true;
      return isRepeat;
    }
    // An equal id only shows that the entry is a copy. Other rules separate or drop calls with equal ids.
    if (block.type === "tool_use" && this.#calls.has(block.id)) this.#isCopy = true;
    return block.type === "text" && this.#isCopy && this.#hasText(block.text);
  }

  #addText(text: string): void {
    this.#texts.push(text);
    this.#textsOfCopy?.add(text);
  }

  #hasText(text: string): boolean {
    this.#textsOfCopy ??= new Set(this.#texts);
    return this.#textsOfCopy.has(text);
  }
}
