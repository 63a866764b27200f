import type { AgentEvent } from "../../agent/index.ts";
import type { Guide, GuideStep } from "./guide.ts";

/** A guide, if there is one, asked once for all that the person sent. */
export class Guided {
  #guide: Guide | undefined;
  #sent: string | undefined;
  #isAsked = false;

  constructor(guide: Guide | undefined) {
    this.#guide = guide;
  }

  sent(text: string): void {
    this.#sent = text;
    this.#isAsked = false;
  }

  saw(event: AgentEvent): void {
    this.#guide?.saw(event);
  }

  /** `over`: there is no more; undefined: nothing to say now. */
  async next(): Promise<GuideStep | "over" | undefined> {
    if (this.#guide === undefined || this.#isAsked) return undefined;
    this.#isAsked = true;
    const step = await this.#guide.next(this.#sent);
    if (step !== undefined) return step;
    this.#guide = undefined;
    return "over";
  }
}
