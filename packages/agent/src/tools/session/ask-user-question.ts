import { z } from "zod";
import { defineTool, type Tool, type ToolOutcome } from "../../tool.ts";
import type { Workplace } from "../../workplace.ts";

/** More at once is a form, and nobody likes to fill in forms. */
const MOST_QUESTIONS = 4;
const MOST_OPTIONS = 6;
const LONGEST_TEXT = 1_000;
const LONGEST_HEADER = 40;

const text = z.string().trim().min(1).max(LONGEST_TEXT);

const input = z.object({
  questions: z
    .array(
      z.object({
        question: text.describe("One clear question."),
        header: z.string().trim().max(LONGEST_HEADER).optional().describe("A word or two for a heading."),
        options: z
          .array(
            z.object({
              label: text.describe("The answer in a few words."),
              description: text.optional().describe("What choosing it means."),
            }),
          )
          .max(MOST_OPTIONS)
          .default([])
          .describe("Answers to choose from, the one you would choose first; none for an open question."),
        multiSelect: z.boolean().optional().describe("Whether several may be chosen."),
      }),
    )
    .min(1)
    .max(MOST_QUESTIONS),
});

type Asked = z.infer<typeof input>["questions"][number];

const DESCRIPTION = `Asks the user, and waits for the answer.

Use it when what is wanted is unclear and a wrong guess would cost much, or when there are ways to go that only the user can choose between. Do not ask what you can find out by looking, and do not ask for permission: tools do that by themselves. The user can always answer in words of their own.`;

export function askUserQuestionTool({ person, agentId }: Pick<Workplace, "person" | "agentId">): Tool {
  return defineTool({
    name: "AskUserQuestion",
    description: DESCRIPTION,
    input,
    isReadOnly: true,
    title: ({ questions }) => questions.map(({ question }) => question).join(" "),
    call: async ({ questions }, { signal }): Promise<ToolOutcome> => {
      if (person === undefined) return { content: NOBODY, summary: "nobody to ask" };
      const answers: string[] = [];
      const open: string[] = [];
      for (const asked of questions) {
        const answer = await person.answer(questionFor(asked), { signal, agentId });
        signal.throwIfAborted();
        const said = (answer ?? []).map((each) => each.trim()).filter((each) => each !== "");
        if (said.length > 0) answers.push(answered(asked.question, said));
        else open.push(`- ${asked.question}`);
      }
      return outcomeOf(answers, open);
    },
  });
}

const NOBODY =
  "Nobody can be asked: there is no user at a terminal. Go on with the assumption that is most likely to be right, and say in your answer what you assumed.";

const questionFor = ({ question, header, options, multiSelect }: Asked) => ({
  question,
  header,
  options,
  mayChooseSeveral: multiSelect ?? false,
});

/** In the form in which answers are found again when the conversation is compacted. */
const answered = (question: string, said: readonly string[]): string =>
  `${JSON.stringify(question)}=${JSON.stringify(said.join(", "))}`;

function outcomeOf(answers: readonly string[], open: readonly string[]): ToolOutcome {
  const parts = [
    ...(answers.length > 0 ? [`The user has answered:\n${answers.join("\n")}`] : []),
    ...(open.length > 0
      ? [
          `The user did not want to answer:\n${open.join("\n")}\nDo not ask this again. Go on as seems best, or stop and say what you need.`,
        ]
      : []),
  ];
  return { content: parts.join("\n\n"), summary: answers.length > 0 ? "answered" : "not answered" };
}
