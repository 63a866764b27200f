import { isFileMarker } from "./script.ts";
import { type Json, type Piece, piecesOf } from "./wire.ts";

/** A part that the next request must contain, in the order of the conversation. */
export type Item = SaidItem | CallItem | SummaryItem;

/** A prompt, typed input or a text of the model. */
export interface SaidItem {
  readonly kind: "said";
  readonly role: "user" | "assistant";
  /** The first marker identifies the text. Further markers belong to the thinking before the text. */
  readonly markers: readonly string[];
  readonly text: string;
}

/** A tool call with its result. */
export interface CallItem {
  readonly kind: "call";
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** Markers of the input, then the marker of the result. */
  readonly markers: readonly string[];
  /** The result as the client sent it the first time. Undefined if its text is not compared. */
  readonly result: string | undefined;
  /**
   * The marker that the result must contain. Undefined if the tool returns none, or if the result may be
   * cleared.
   */
  readonly shows: string | undefined;
  /** Signature of the thinking in the same message, as the client sent it the first time. */
  readonly signature: string | undefined;
}

/** A summary that replaces messages. */
export interface SummaryItem {
  readonly kind: "summary";
  readonly text: string;
  /** Markers that the summary must contain. */
  readonly facts: readonly string[];
  /** Markers that every later summary of longhaul must contain too. */
  readonly lasting: readonly string[];
}

export interface Expectation {
  readonly items: readonly Item[];
  /** One marker of each restored file. */
  readonly restored: readonly string[];
  /** All markers that the session ever had. Unexpected ones must not appear outside a summary. */
  readonly everyMarker: readonly string[];
  /** All summaries that the session ever had. Only the expected ones may appear. */
  readonly everySummary: readonly string[];
}

export interface Examination {
  /** Faults of the request. Empty if it contains exactly the expected parts. */
  readonly faults: readonly string[];
  /** Number of compared messages. The next numbers count pairs of call and result, and markers. */
  readonly messages: number;
  readonly pairs: number;
  readonly markers: number;
}

/** Compares a sent request with the expected conversation. */
export function examine(messages: unknown, expected: Expectation): Examination {
  const exam = new Exam(piecesOf(messages), expected);
  exam.checkSummaries();
  exam.checkItems();
  exam.checkPairing();
  exam.checkRestored();
  exam.checkNothingOld();
  return exam.result();
}

class Exam {
  readonly #pieces: readonly Piece[];
  readonly #expected: Expectation;
  readonly #summaries: ReadonlySet<Piece>;
  readonly #outside: readonly Piece[];
  readonly #faults: string[] = [];
  readonly #markers = new Set<string>();
  #messages = 0;
  #pairs = 0;

  constructor(pieces: readonly Piece[], expected: Expectation) {
    this.#pieces = pieces;
    this.#expected = expected;
    const texts = expected.items.flatMap((item) => (item.kind === "summary" ? [item.text] : []));
    this.#summaries = new Set(pieces.filter(({ text }) => texts.some((one) => text.includes(one))));
    this.#outside = pieces.filter((piece) => !this.#summaries.has(piece));
  }

  result(): Examination {
    const { size } = this.#markers;
    return { faults: this.#faults, messages: this.#messages, pairs: this.#pairs, markers: size };
  }

  checkSummaries(): void {
    const current = this.#expected.items.filter((item) => item.kind === "summary");
    for (const { text, facts } of current) {
      const places = [...this.#summaries].filter((piece) => piece.text.includes(text));
      if (places.length !== 1) this.#fail(`summary is sent ${places.length} times: ${start(text)}`);
      const [place] = places;
      if (place === undefined) continue;
      this.#messages++;
      for (const fact of facts) {
        this.#markers.add(fact);
        if (!place.markers.includes(fact)) this.#fail(`summary lacks ${fact}`);
      }
    }
    for (const text of this.#expected.everySummary) {
      if (current.some((item) => item.text.includes(text))) continue;
      if (this.#outside.some((piece) => piece.text.includes(text))) {
        this.#fail(`old summary is sent again: ${start(text)}`);
      }
    }
  }

  /** Checks that every kept message and call is there once, verbatim and in order. */
  checkItems(): void {
    let last: Piece | undefined;
    for (const item of this.#expected.items) {
      const place = this.#checkItem(item);
      if (place === undefined) continue;
      if (last !== undefined && this.#isBefore(place, last)) this.#fail(`${nameOf(item)} is out of order`);
      last = place;
    }
  }

  #checkItem(item: Item): Piece | undefined {
    if (item.kind === "said") return this.#checkSaid(item);
    if (item.kind === "call") return this.#checkCall(item);
    return [...this.#summaries].find(({ text }) => text.includes(item.text));
  }

  /**
   * Returns true if `one` comes before `other`. Parallel calls may change their order within a message, but
   * texts may not.
   */
  #isBefore(one: Piece, other: Piece): boolean {
    if (one.message !== other.message) return one.message < other.message;
    if (one.kind === "tool_use" || other.kind === "tool_use") return false;
    return this.#pieces.indexOf(one) < this.#pieces.indexOf(other);
  }

  #checkSaid({ markers, role, text }: SaidItem): Piece | undefined {
    const [marker = ""] = markers;
    const place = this.#only(marker, (piece) => piece.kind !== "tool_use" && piece.kind !== "tool_result");
    if (place === undefined) return undefined;
    this.#messages++;
    // A user may type while the model works. Clients send this input as a reminder. To current models, they
    // send it as a system message.
    if (place.role !== role && place.role !== "system") this.#fail(`${marker} is sent as ${place.role}`);
    if (!place.text.includes(text)) this.#fail(`${marker} is sent with other words: ${start(place.text)}`);
    return place;
  }

  #checkCall(item: CallItem): Piece | undefined {
    const { id, name, input, signature } = item;
    const calls = this.#outside.filter((piece) => piece.kind === "tool_use" && piece.id === id);
    const results = this.#outside.filter((piece) => piece.kind === "tool_result" && piece.id === id);
    if (calls.length !== 1) this.#fail(`call ${nameOf(item)} is sent ${calls.length} times`);
    if (results.length !== 1) this.#fail(`result of ${nameOf(item)} is sent ${results.length} times`);
    const [call] = calls;
    const [result] = results;
    if (call === undefined || result === undefined) return call;
    this.#pairs++;
    if (call.block.name !== name || !isSame(call.block.input, input))
      this.#fail(`${nameOf(item)} has other input`);
    if (item.result !== undefined && result.text !== item.result) {
      this.#fail(`result of ${nameOf(item)} has other words: ${start(result.text)}`);
    }
    for (const marker of item.markers) this.#checkPlace(marker, [call, result]);
    // Without this check, a failed tool would count as a successful comparison.
    const isShown = item.shows === undefined || result.markers.includes(item.shows);
    if (!isShown) this.#fail(`result of ${nameOf(item)} lacks ${item.shows}`);
    const hasThinking = this.#outside.some(
      ({ kind, message, block }) =>
        kind === "thinking" && message === call.message && block.signature === signature,
    );
    if (signature !== undefined && !hasThinking) this.#fail(`thinking before ${nameOf(item)} is lost`);
    return call;
  }

  /**
   * Checks that a marker occurs only in its pair of call and result. Several results may contain the same
   * file.
   */
  #checkPlace(marker: string, pair: readonly Piece[]): void {
    this.#markers.add(marker);
    if (isFileMarker(marker)) return;
    const elsewhere = this.#outside.filter(
      (piece) => piece.markers.includes(marker) && !pair.includes(piece),
    );
    if (elsewhere.length > 0) this.#fail(`${marker} is sent ${elsewhere.length + 1} times`);
  }

  /** Checks that each call has one result in the next message, and that each result has its call. */
  checkPairing(): void {
    for (const { kind, id, message } of this.#pieces) {
      if (kind !== "tool_use" && kind !== "tool_result") continue;
      const [other, at] = kind === "tool_use" ? ["tool_result", message + 1] : ["tool_use", message - 1];
      const partners = this.#pieces.filter(
        (one) => one.kind === other && one.id === id && one.message === at,
      );
      if (partners.length !== 1) this.#fail(`${kind} ${id} has ${partners.length} partners`);
    }
  }

  checkRestored(): void {
    for (const marker of this.#expected.restored) {
      this.#markers.add(marker);
      const places = this.#outside.filter(
        ({ kind, role, markers }) =>
          (kind === "reminder" || kind === "text") && role !== "assistant" && markers.includes(marker),
      );
      if (places.length !== 1) this.#fail(`restored file ${marker} is sent ${places.length} times`);
    }
  }

  /** Checks that nothing summarized or undone is sent again. A restored file has its current content. */
  checkNothingOld(): void {
    const { items, restored, everyMarker } = this.#expected;
    const kept = new Set(items.flatMap((item) => (item.kind === "summary" ? [] : item.markers)));
    const isFile = (marker: string, { kind }: Piece): boolean =>
      isFileMarker(marker) && kind !== "tool_result" && kind !== "tool_use" && restored.length > 0;
    for (const marker of everyMarker) {
      if (kept.has(marker)) continue;
      this.#markers.add(marker);
      const places = this.#outside.filter(
        (piece) => piece.markers.includes(marker) && !isFile(marker, piece),
      );
      if (places.length > 0) this.#fail(`old ${marker} is sent again as ${places[0]?.kind}`);
    }
  }

  /** Returns the only piece outside summaries that has this marker. */
  #only(marker: string, isPlace: (piece: Piece) => boolean): Piece | undefined {
    this.#markers.add(marker);
    const places = this.#outside.filter((piece) => piece.markers.includes(marker) && isPlace(piece));
    if (places.length !== 1) this.#fail(`${marker} is sent ${places.length} times`);
    return places[0];
  }

  #fail(fault: string): void {
    this.#faults.push(fault);
  }
}

const START_CHARS = 60;
const start = (text: string): string => JSON.stringify(text.slice(0, START_CHARS));
const nameOf = (item: Item): string =>
  item.kind === "call"
    ? `${item.name} ${item.id}`
    : item.kind === "said"
      ? (item.markers[0] ?? "")
      : "summary";

/** Compares two values as JSON, regardless of the order of their fields. */
function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}
