import { LonghaulError } from "../messages/errors.ts";
import { describeType } from "../messages/require-messages.ts";
import { field, isRecord } from "../messages/untrusted.ts";
import type { Model } from "./port.ts";

/**
 * Throws `not-a-model` unless the value is a `Model`. `name` is the option or argument name for the message.
 */
export function requireModel(value: unknown, name = "model"): asserts value is Model {
  if (isModel(value)) return;
  const [given, remedy] = describe(value);
  throw new LonghaulError("not-a-model", `${name} must be a Model, but is ${given}.`, {
    remedy,
    facts: { option: name, given },
  });
}

export const isModel = (value: unknown): value is Model =>
  isRecord(value) &&
  typeof value.name === "string" &&
  typeof value.stream === "function" &&
  isRecord(value.capabilities);

/** Describes the value, and how to turn it into a model. */
function describe(value: unknown): readonly [given: string, remedy: string] {
  if (typeof value === "string") {
    return ["a string", `Pass anthropicModel({ model: ${JSON.stringify(value)} }) or aiSdkModel({ model }).`];
  }
  if (typeof field(value, "specificationVersion") === "string") {
    return ["a language model of the AI SDK", "Wrap it: aiSdkModel({ model })."];
  }
  if (isRecord(field(value, "chat")) && isRecord(field(value, "responses"))) {
    return [
      "a client of the OpenAI SDK",
      "Use the AI SDK's provider for OpenAI instead: aiSdkModel({ model: openai(…) }).",
    ];
  }
  if (isRecord(field(value, "messages"))) {
    return [
      "a client of the Anthropic SDK",
      "Pass it with the name of the model: anthropicModel({ model, client }).",
    ];
  }
  return [
    describeType(value),
    "Pass anthropicModel({ model }), aiSdkModel({ model }) or an object that implements the Model port.",
  ];
}
