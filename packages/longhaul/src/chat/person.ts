import {
  type PermissionAnswer,
  type PermissionNeed,
  type Person,
  type Question,
  visibleText,
} from "@longhaul/agent";
import { fitText, oneLine, withNothingHidden } from "../view/text-width.ts";
import type { Choice, Screen } from "./screen/screen.ts";

export interface PersonOptions {
  readonly screen: Pick<Screen, "choose">;
  /** Returns the description of a subagent by its id. */
  describe(agentId: string): string | undefined;
  /** Stops the run. Called if the person declines a permission question without an answer. */
  interrupt(): void;
}

/**
 * Maximum columns for the description of a subagent. The model writes the description, and a long description
 * must not push the title off the screen.
 */
const DESCRIPTION_WIDTH = 40;

/** Creates the person who answers the agent's questions on the screen. */
export function screenPerson({ screen, describe, interrupt }: PersonOptions): Person {
  const by = (agentId: string | undefined): string => {
    if (agentId === undefined) return "";
    const description = visibleText(oneLine(describe(agentId) ?? agentId)).replaceAll('"', "'");
    return `Agent "${fitText(description, DESCRIPTION_WIDTH)}": `;
  };
  return {
    permit: async (need, { signal, agentId }) => {
      const options = permissionOptions(need);
      const chosen = await screen.choose({
        title: `${by(agentId)}${titleOf(need)}`,
        ...detailOf(need),
        options: options.map(([label]) => ({ label })),
        otherLabel: "No, and say what to do instead",
        declining: "says no and stops",
        grants: true,
        signal,
      });
      signal.throwIfAborted();
      if (chosen === undefined) {
        interrupt();
        return { allow: "no" };
      }
      const words = chosen.words?.trim();
      if (words !== undefined && words !== "") return { allow: "no", words };
      return options[chosen.picked[0] ?? -1]?.[1] ?? { allow: "no" };
    },
    answer: async (question, { signal, agentId }) => {
      const chosen = await screen.choose(questionChoice(question, by(agentId), signal));
      signal.throwIfAborted();
      if (chosen === undefined) return undefined;
      const words = chosen.words?.trim();
      return [
        ...chosen.picked.flatMap((at) => question.options[at]?.label ?? []),
        ...(words === undefined || words === "" ? [] : [words]),
      ];
    },
  };
}

const titleOf = ({ title }: PermissionNeed): string => oneLine(withNothingHidden(title));

/**
 * Omits a command that the title already shows completely. The title replaces line breaks and repeated blanks
 * with one blank. If the command contains these, it is shown below the title too. So the person sees where a
 * line break starts another command.
 */
function detailOf(need: PermissionNeed): Pick<Choice, "detail"> {
  if (need.detail === undefined) return {};
  const detail = withNothingHidden(need.detail);
  return titleOf(need).includes(detail) ? {} : { detail };
}

function permissionOptions({ scope }: PermissionNeed): readonly (readonly [string, PermissionAnswer])[] {
  const always = (what: string): string => `Yes, and don't ask again for ${oneLine(withNothingHidden(what))}`;
  return [
    ["Yes", { allow: "once" }],
    ...(scope === undefined ? [] : [[always(scope), { allow: "always" }] as const]),
    ["No", { allow: "no" }],
  ];
}

function questionChoice(question: Question, by: string, signal: AbortSignal): Choice {
  const header = question.header === undefined ? "" : `${oneLine(question.header)}: `;
  return {
    title: `${by}${header}${oneLine(question.question)}`,
    options: question.options.map(({ label, description }) => ({
      label: oneLine(label),
      ...(description === undefined ? {} : { description: oneLine(description) }),
    })),
    mayChooseSeveral: question.mayChooseSeveral,
    otherLabel: "Something else",
    appearsUnasked: true,
    signal,
  };
}
