import { openingMarker } from "./texts.ts";

/** One text that the host put into its conversation. */
export interface Said {
  readonly marker: string;
  readonly kind: "user" | "assistant" | "result";
  readonly text: string;
  /** Id of the tool call, for a tool result. */
  readonly toolUseId: string | undefined;
  /** False after the host itself removed the text from its conversation. */
  isLive: boolean;
  /** True after the host passed the text to the engine. */
  isGiven: boolean;
  /** True if the provider accepted a request after the host had passed the text to the engine. */
  isSeen: boolean;
  /** True if the host removed the pointer to the session file while this text was only in that file. */
  isPointerRemoved: boolean;
}

/** The host's own record of one conversation. It shares nothing with the engine. */
export class Journal {
  readonly #said = new Map<string, Said>();

  get all(): readonly Said[] {
    return [...this.#said.values()];
  }

  /** Returns the messages that the engine has received and must not lose. */
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

  /**
   * Records that the host removed the engine's pointer to the session file. Some texts are missing in the
   * host's list at this moment. The engine need not repeat the pointer for these texts.
   */
  removePointer(shown: ReadonlySet<string>): void {
    for (const said of this.#said.values()) if (!shown.has(said.marker)) said.isPointerRemoved = true;
  }

  /**
   * Records that a request contains these texts. Any later request that omits one of these texts must name
   * the session file.
   */
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
