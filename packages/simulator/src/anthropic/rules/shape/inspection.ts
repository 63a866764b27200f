import * as shape from "../../../shape/shape-check.ts";
import type { SimulatedRequest, Switches } from "../../request.ts";
import { refuse } from "../../wording/refuse.ts";

export type Check = shape.Check<Inspection>;
export type Fields = shape.Fields<Inspection>;

/** One request to Anthropic during its check. Refuses faults with the texts and paths of the API. */
export class Inspection extends shape.Inspection {
  readonly request: SimulatedRequest;
  readonly switches: Switches;

  constructor(request: SimulatedRequest, switches: Switches) {
    super();
    this.request = request;
    this.switches = switches;
  }

  override get path(): string {
    return this.steps.join(".");
  }

  /** The type of a block becomes part of paths in error texts. */
  override enterTag(tag: string): void {
    this.enter(tag);
  }

  override leaveTag(): void {
    this.leave();
  }

  /** Returns true if the request has any of these betas. */
  hasBeta(...betas: readonly string[]): boolean {
    return betas.some((beta) => this.request.betas.has(beta));
  }

  override refuse(fault: shape.ShapeFault, value: unknown): never {
    const { path } = this;
    switch (fault.kind) {
      case "type":
        return refuse(TYPE_TEXTS[fault.expected], { path });
      case "missing":
        return refuse("fieldRequired", { path });
      case "extra":
        return refuse("extraField", { path });
      case "choice":
        return refuse("notOneOf", { path, choices: listed(fault.choices) });
      case "tag":
        return refuse("tagUnknown", {
          path,
          tag: typeof value === "string" ? value : JSON.stringify(value),
          tags: fault.tags.map((tag) => `'${tag}'`).join(", "),
        });
      case "pattern":
        return refuse("pattern", { path, pattern: fault.pattern });
      case "tooSmall":
        return refuse("tooSmall", { path, minimum: fault.minimum });
      case "tooBig":
        return refuse("tooBig", { path, maximum: fault.maximum });
      case "stringTooLong":
        return refuse("stringTooLong", { path, maximum: fault.maximum });
      case "stringTooShort":
        return refuse("stringTooShort", { path });
      case "listTooLong":
        return refuse("listTooLong", { path, maximum: fault.maximum });
    }
  }
}

const TYPE_TEXTS = {
  string: "notString",
  boolean: "notBoolean",
  object: "notObject",
  list: "notList",
  integer: "notInteger",
  number: "notNumber",
} as const satisfies Record<shape.ExpectedType, string>;

function listed(choices: readonly string[]): string {
  const quoted = choices.map((choice) => `'${choice}'`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

/** Opens a field or type for requests that have any of these betas. */
export const withBeta =
  (...betas: readonly string[]): shape.Gate<Inspection> =>
  (inspection) =>
    inspection.hasBeta(...betas);

/** A number from 0 to 1. */
export const share: Check = shape.number(0, 1);
