import * as shape from "../../../shape/shape-check.ts";
import type { OpenAiRequest, OpenAiSwitches } from "../../request.ts";
import { refuse } from "../../wording/refuse.ts";

export type Check = shape.Check<Inspection>;
export type Fields = shape.Fields<Inspection>;

/** One request to OpenAI during its check. Refuses faults with the texts and paths of the API. */
export class Inspection extends shape.Inspection {
  readonly request: OpenAiRequest;
  override readonly acceptsExtraFields: boolean;
  /**
   * The matrix that `responses-texts.ts` names (5.5.6) sent a tool of chat completions to the Responses API. The
   * API reported the missing name, not the unknown field.
   */
  override readonly reportsMissingFirst: boolean = true;

  constructor(request: OpenAiRequest, switches: OpenAiSwitches) {
    super();
    this.request = request;
    this.acceptsExtraFields = switches.unknownFields === "accepted";
  }

  /** Position in the form `messages[2].tool_calls[0].id`. */
  override get path(): string {
    let path = "";
    for (const step of this.steps) {
      if (typeof step === "number") path += `[${step}]`;
      else path += path === "" ? step : `.${step}`;
    }
    return path;
  }

  override refuse(fault: shape.ShapeFault, value: unknown): never {
    switch (fault.kind) {
      case "type":
        return this.refuseType(wordsFor(fault.expected, fault.of), value);
      case "missing":
        return refuse("fieldMissing", this.path, { path: this.path });
      case "extra":
        return this.#refuseExtra();
      case "choice":
        return this.#refuseChoice(fault.choices, value);
      case "tag":
        this.enter(fault.by);
        return this.#refuseChoice(fault.tags, value);
      case "pattern":
        return refuse("patternMismatch", this.path, { path: this.path, pattern: fault.pattern });
      case "tooSmall":
        return this.#refuseRange(RANGE_TEXTS[fault.expected].tooSmall, fault.minimum, value);
      case "tooBig":
        return this.#refuseRange(RANGE_TEXTS[fault.expected].tooBig, fault.maximum, value);
      case "stringTooShort":
        return refuse("stringEmpty", this.path, { path: this.path, limit: fault.minimum });
      case "stringTooLong":
        return this.#refuseLength("stringTooLong", fault.maximum, (value as string).length);
      case "listTooLong":
        return this.#refuseLength("listTooLong", fault.maximum, (value as unknown[]).length);
    }
  }

  /** @param expected the accepted types in the words of the API, for example `one of a string or null` */
  refuseType(expected: string, value: unknown): never {
    return refuse("typeWrong", this.path, { path: this.path, expected, actual: typeWords(value) });
  }

  #refuseExtra(): never {
    const { endpoint, model } = this.request;
    const isArgument = endpoint === "chat_completions" && this.steps.length === 1;
    if (isArgument && model?.isReasoning !== true)
      return refuse("argumentUnknown", null, { name: this.path });
    return refuse("fieldUnknown", this.path, { path: this.path });
  }

  #refuseChoice(choices: readonly string[], value: unknown): never {
    if (typeof value !== "string") return this.refuseType(`one of ${orList(choices)}`, value);
    return refuse("valueUnknown", this.path, { value: shortened(value), choices: listed(choices) });
  }

  #refuseRange(text: RangeText, limit: number, value: unknown): never {
    return refuse(text, this.path, { path: this.path, limit, value: Number(value) });
  }

  #refuseLength(text: "stringTooLong" | "listTooLong", limit: number, length: number): never {
    return refuse(text, this.path, { path: this.path, limit, length });
  }
}

type RangeText = "integerTooSmall" | "integerTooBig" | "decimalTooSmall" | "decimalTooBig";

const RANGE_TEXTS = {
  integer: { tooSmall: "integerTooSmall", tooBig: "integerTooBig" },
  number: { tooSmall: "decimalTooSmall", tooBig: "decimalTooBig" },
} as const satisfies Record<string, Record<string, RangeText>>;

const WORDS: Readonly<Record<shape.ExpectedType, string>> = {
  string: "a string",
  boolean: "a boolean",
  object: "an object",
  list: "an array",
  integer: "an integer",
  number: "a decimal",
};

function wordsFor(expected: shape.ExpectedType, of: string | undefined): string {
  return of === undefined ? WORDS[expected] : `${WORDS[expected]} of ${of}`;
}

function typeWords(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal number";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Maximum characters of a wrong value in an error text, so that a hostile value gets no huge answer. */
const MAX_SHOWN_CHARACTERS = 200;

export function shortened(value: string): string {
  return value.length > MAX_SHOWN_CHARACTERS ? `${value.slice(0, MAX_SHOWN_CHARACTERS)}...` : value;
}

/** Writes choices as the API does: `'a', 'b', and 'c'`. */
export const listed = (choices: readonly string[]): string => joined(choices, "and");

/** Writes alternatives as the API does: `'a', 'b', or 'c'`. */
export const orList = (choices: readonly string[]): string => joined(choices, "or");

function joined(choices: readonly string[], word: "and" | "or"): string {
  const quoted = choices.map((choice) => `'${choice}'`);
  if (quoted.length <= 2) return quoted.join(` ${word} `);
  return `${quoted.slice(0, -1).join(", ")}, ${word} ${quoted.at(-1)}`;
}

type UnionMember = "string" | "boolean" | "integer" | "object" | "array" | "null" | `array of ${string}`;

/**
 * Checks a value that may have one of several types, by the check of its type. The keys are the types in the
 * words of the API: `union({ string: anything, "array of objects": list(part) })`.
 */
export function union(members: Readonly<Partial<Record<UnionMember, Check>>>): Check {
  const byType = new Map<string, Check>();
  for (const [member, check] of Object.entries(members)) {
    if (check !== undefined) byType.set(member.split(" ")[0] ?? member, check);
  }
  const names = Object.keys(members);
  const article = /^[aeio]/.test(names[0] ?? "") ? "an" : "a";
  const expected = `one of ${article} ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return (value, inspection) => {
    const type = typeWords(value).split(" ")[1] ?? "null";
    const check = byType.get(type);
    if (check === undefined) inspection.refuseType(expected, value);
    check?.(value, inspection);
  };
}

/** Checks a list that must have at least one item. */
export function filledList(
  check: Check,
  limits: { readonly maximum?: number; readonly of?: string } = {},
): Check {
  const all = shape.list(check, limits);
  return (value, inspection) => {
    if (Array.isArray(value) && value.length === 0) {
      refuse("listEmpty", inspection.path, { path: inspection.path });
    }
    all(value, inspection);
  };
}
