import { z } from "zod";
import { defineTool, type Tool, type ToolOutcome } from "../../tool.ts";
import type { Workplace } from "../../workplace.ts";

/** Maximum number of questions. More questions at once would be a questionnaire. */
const MAX_QUESTIONS = 4;
const MAX_OPTIONS = 6;
const LONGEST_TEXT = 1_000;
const LONGEST_HEADER = 40;

const text = z.string().trim().min(1).max(LONGEST_TEXT);

const input = z.object({
  questions: z
    .array(
      z.object({
        question: text.describe("One clear question."),
        header: z
          .string()
          .trim()
          .max(LONGEST_HEADER)
          .optional()
          .describe("One or two words for the heading."),
        options: z
          .array(
            z.object({
              label: text.describe("The answer in a few words."),
              description: text.optional().describe("What this choice means."),
            }),
          )
          .max(MAX_OPTIONS)
          .default([])
          .describe(
            "Answers to choose from. Put the one that you recommend first. Leave it empty for an open question.",
          ),
        multiSelect: z.boolean().optional().describe("True if the user may choose several answers."),
      }),
    )
    .min(1)
    .max(MAX_QUESTIONS),
});

type Asked = z.infer<typeof input>["questions"][number];

const DESCRIPTION = `Asks the user a question and waits for the answer.

Use it if the request is unclear and a wrong guess would be costly, or if only the user can choose between several solutions. Do not ask what you can find out yourself. Do not ask before ordinary tool calls. The program asks for permission itself. The user can always answer in free text.`;

export function askUserQuestionTool({ person, agentId }: Pick<Workplace, "person" | "agentId">): Tool {
  return defineTool({
    name: "AskUserQuestion",
    description: DESCRIPTION,
    input,
    isReadOnly: true,
    title: ({ questions }) => questions.map(({ question }) => question).join(" "),
    call: async ({ questions }, { signal }): Promise<ToolOutcome> => {
      if (person === undefined) return { content: NOBODY, summary: "no user available" };
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
  "No user is available to answer. Continue with the most likely assumption, and say in your answer what you assumed.";

const questionFor = ({ question, header, options, multiSelect }: Asked) => ({
  question,
  header,
  options,
  mayChooseSeveral: multiSelect ?? false,
});

/** Formats an answer in the form that a compaction searches for. */
const answered = (question: string, said: readonly string[]): string =>
  `${JSON.stringify(question)}=${JSON.stringify(said.join(", "))}`;

function outcomeOf(answers: readonly string[], open: readonly string[]): ToolOutcome {
  const parts = [
    ...(answers.length > 0 ? [`The user has answered:\n${answers.join("\n")}`] : []),
    ...(open.length > 0
      ? [
          `The user did not want to answer:\n${open.join("\n")}\nDo not ask this again. Decide yourself and continue, or stop and say what you need.`,
        ]
      : []),
  ];
  return { content: parts.join("\n\n"), summary: answers.length > 0 ? "answered" : "not answered" };
}
