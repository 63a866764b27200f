import type { SimulatedRequest, Switches } from "../exchange.ts";

/**
 * One request under examination, and where in its body the rules are. The path is kept as its steps and
 * written out only for a refusal: nearly all requests are sound, and theirs is never needed.
 */
export class Inspection {
  readonly request: SimulatedRequest;
  readonly switches: Switches;
  readonly #steps: (string | number)[] = [];

  constructor(request: SimulatedRequest, switches: Switches) {
    this.request = request;
    this.switches = switches;
  }

  get path(): string {
    return this.#steps.join(".");
  }

  enter(step: string | number): void {
    this.#steps.push(step);
  }

  leave(): void {
    this.#steps.pop();
  }

  /** Whether the request was sent with any of these. */
  hasBeta(...betas: readonly string[]): boolean {
    return betas.some((beta) => this.request.betas.has(beta));
  }
}
