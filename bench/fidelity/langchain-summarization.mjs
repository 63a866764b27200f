import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, RemoveMessage } from "@langchain/core/messages";
import { summarizationMiddleware } from "langchain";
import { versionOf } from "../peers/version.mjs";
import { toLangChain } from "./langchain-messages.mjs";
import { peerPolicy } from "./peer-policy.ts";

/** Model in LangChain's own interface. It hands its prompt to the writer. */
class WriterModel extends BaseChatModel {
  constructor(writer) {
    super({});
    this.writer = writer;
  }

  _llmType() {
    return "simulated";
  }

  async _generate(messages) {
    try {
      const text = this.writer.answer(messages.map((message) => message.text).join("\n"));
      return { generations: [{ text, message: new AIMessage({ content: text }) }] };
    } catch (error) {
      // The middleware turns an error of the model into the text of the summary.
      this.error = error;
      throw error;
    }
  }
}

const policyOf = (name, description, settings) => () =>
  peerPolicy({
    name,
    version: versionOf("langchain"),
    description,
    shorten: async ({ messages, writer }) => {
      const { messages: given, piecesOf } = toLangChain(messages);
      const model = new WriterModel(writer);
      const middleware = summarizationMiddleware({ model, trigger: { tokens: 1 }, ...settings });
      const update = await middleware.beforeModel({ messages: given }, { context: {} });
      if (model.error !== undefined) throw model.error;
      if (update === undefined) return undefined;
      return piecesOf(update.messages.filter((message) => !RemoveMessage.isInstance(message)));
    },
  });

export const policies = [
  policyOf(
    "LangChain summarization",
    "summarizationMiddleware with its defaults: shows 4,000 tokens to the model, keeps 20 messages",
    {},
  ),
  policyOf(
    "LangChain summarization, all shown",
    "summarizationMiddleware that shows all removed messages to the model, keeps 20 messages",
    { trimTokensToSummarize: Number.MAX_SAFE_INTEGER },
  ),
];
