import { openingMarker } from "./texts.ts";

/** One text that the host put into its conversation. */
export interface Said {
  readonly marker: string;
  readonly kind: "user" | "assistant" | "result";
  readonly text: string;
  /** Of a tool result. */
  readonly toolUseId: string | undefined;
  /** False once the host itself took it out of its conversation. */
  isLive: boolean;
  /** The host passed it to the engine. */
  isGiven: boolean;
  /** The provider accepted a request after it was passed. */
  isSeen: boolean;
  /** The host itself removed the words that name the session file while this text was only there. */
  isPointerRemoved: boolean;
}

/** The host's own record of one conversation. It shares nothing with the engine. */
export class Journal {
  readonly #said = new Map<string, Said>();

  get all(): readonly Said[] {
    return [...this.#said.values()];
  }

  /** Messages that the engine has received and must not lose. */
  get given(): readonly Said[] {
    return this.all.filter(({ isLive, isGiven }) => isLive && isGiven);
  }

  add(kind: Said["kind"], text: string, toolUseId?: string): void {
    const marker = openingMarker(text);
    if (marker === undefined) return;
    this.#said.set(marker, {
      marker,
      kind,
      text,
      toolUseId,
      isLive: true,
      isGiven: false,
      isSeen: false,
      isPointerRemoved: false,
    });
  }

  giveAll(): void {
    for (const said of this.#said.values()) if (said.isLive) said.isGiven = true;
  }

  seeAll(): void {
    for (const said of this.#said.values()) if (said.isGiven) said.isSeen = true;
  }

  /** The host took the engine's words out of its list. The engine need not repeat them for texts that are not in it. */
  removePointer(shown: ReadonlySet<string>): void {
    for (const said of this.#said.values()) if (!shown.has(said.marker)) said.isPointerRemoved = true;
  }

  /** These texts are in a request. If they leave it again, the request has to name the file. */
  show(shown: ReadonlySet<string>): void {
    for (const marker of shown) {
      const said = this.#said.get(marker);
      if (said !== undefined) said.isPointerRemoved = false;
    }
  }

  retract(markers: Iterable<string>): void {
    for (const marker of markers) {
      const said = this.#said.get(marker);
      if (said !== undefined) said.isLive = false;
    }
  }
}
