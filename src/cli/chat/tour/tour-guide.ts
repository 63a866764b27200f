import type { AgentEvent } from "../../../agent/events.ts";
import type { Guide, GuideStep } from "../guide.ts";
import type { TourStep } from "./steps.ts";
import type { Witness } from "./witness.ts";

export interface GuideParts {
  readonly seen: Witness;
  /** Resolves when nothing goes on in the background. */
  settled(): Promise<void>;
}

/** Leads through the steps, and waits with each until it was done; what the person does in between is up to them. */
export class TourGuide implements Guide {
  readonly #steps: Iterator<TourStep>;
  readonly #parts: GuideParts;
  #waitsFor: string | undefined;

  constructor(steps: Iterable<TourStep>, parts: GuideParts) {
    this.#steps = steps[Symbol.iterator]();
    this.#parts = parts;
  }

  async next(sent: string | undefined): Promise<GuideStep | undefined> {
    const waitsFor = this.#waitsFor;
    if (waitsFor !== undefined && sent?.trim() !== waitsFor) {
      return { words: "Whenever you like, the tour goes on with:", input: waitsFor };
    }
    // What still goes on in the background belongs to what was just seen.
    await this.#parts.settled();
    const { value: step, done } = this.#steps.next();
    if (done === true) return undefined;
    await step.before?.();
    this.#waitsFor = step.input === "" ? undefined : step.input;
    return { words: step.words(this.#parts.seen), input: step.input };
  }

  saw(event: AgentEvent): void {
    this.#parts.seen.saw(event);
  }
}
