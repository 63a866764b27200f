import type { AgentEvent } from "../../../agent/events.ts";
import type { Guide, GuideStep } from "../guide.ts";
import type { TourStep } from "./steps.ts";
import type { Witness } from "./witness.ts";

/** Leads through the steps, and waits with each until it was done; what the person does in between is up to them. */
export class TourGuide implements Guide {
  readonly #steps: Iterator<TourStep>;
  readonly #seen: Witness;
  #waitsFor: string | undefined;

  constructor(steps: Iterable<TourStep>, seen: Witness) {
    this.#steps = steps[Symbol.iterator]();
    this.#seen = seen;
  }

  async next(sent: string | undefined): Promise<GuideStep | undefined> {
    const waitsFor = this.#waitsFor;
    if (waitsFor !== undefined && sent?.trim() !== waitsFor) {
      return { words: "Whenever you like, the tour goes on with:", input: waitsFor };
    }
    const { value: step, done } = this.#steps.next();
    if (done === true) return undefined;
    await step.before?.();
    this.#waitsFor = step.input === "" ? undefined : step.input;
    return { words: step.words(this.#seen), input: step.input };
  }

  saw(event: AgentEvent): void {
    this.#seen.saw(event);
  }
}
