import { ENTIRE_CLI_QUESTIONS } from "./questions/entire-cli.ts";
import type { NaturalQuestion } from "./questions/natural-question.ts";
import { OH_MY_POSH_QUESTIONS } from "./questions/oh-my-posh.ts";
import { OTHER_QUESTIONS } from "./questions/others.ts";
import { SPOTTER_QUESTIONS } from "./questions/spotter.ts";
import { STRANGERS_QUESTIONS } from "./questions/strangers.ts";

export type { NaturalQuestion } from "./questions/natural-question.ts";

/**
 * Questions that a person or an agent could ask later about the recorded sessions. They were written by reading
 * the sessions, without reading the recall index.
 */
export const NATURAL_QUESTIONS: readonly NaturalQuestion[] = [
  ...SPOTTER_QUESTIONS,
  ...ENTIRE_CLI_QUESTIONS,
  ...OH_MY_POSH_QUESTIONS,
  ...OTHER_QUESTIONS,
  ...STRANGERS_QUESTIONS,
];
