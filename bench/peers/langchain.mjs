import { AIMessage, HumanMessage, ToolMessage, trimMessages } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { ClearToolUsesEdit, countTokensApproximately, summarizationMiddleware } from "langchain";
import { versionOf } from "./version.mjs";

function messageOf(turn, index) {
  const id = `m${index}`;
  if (turn.kind === "user") return new HumanMessage({ id, content: turn.text });
  if (turn.kind === "result") {
    return new ToolMessage({ id, content: turn.text, tool_call_id: turn.id, name: turn.name });
  }
  const calls = turn.calls.map(({ id, name, input }) => ({ id, name, args: input, type: "tool_call" }));
  return new AIMessage({ id, content: turn.text, tool_calls: calls });
}

// Keeps the messages of only one conversation, because they take memory.
let converted;
function messagesOf(turns) {
  if (converted?.turns !== turns) converted = { turns, messages: turns.map(messageOf) };
  return converted.messages;
}

const trim = {
  name: "LangChain trimMessages",
  version: versionOf("@langchain/core"),
  open({ turns, keepTokens }) {
    const messages = messagesOf(turns);
    const trimTo = (maxTokens) =>
      trimMessages(messages, { maxTokens, strategy: "last", tokenCounter: countTokensApproximately });
    return { check: { run: () => trimTo(Number.MAX_SAFE_INTEGER) }, keep: { run: () => trimTo(keepTokens) } };
  },
};

const clear = {
  name: "LangChain ClearToolUsesEdit",
  version: versionOf("langchain"),
  open({ turns }) {
    const messages = messagesOf(turns);
    const apply = async (tokens, list) => {
      const edit = new ClearToolUsesEdit({ trigger: { tokens }, keep: { messages: 3 } });
      await edit.apply({ messages: list, countTokens: countTokensApproximately });
      return list;
    };
    // The edit modifies the list that it gets, so each call needs a copy.
    const prepare = () => [...messages];
    return {
      check: { run: () => apply(Number.MAX_SAFE_INTEGER, messages) },
      clear: { prepare, run: (list) => apply(1, list) },
    };
  },
};

const summarize = {
  name: "LangChain summarization",
  version: versionOf("langchain"),
  open({ turns, keepTokens }) {
    const messages = messagesOf(turns);
    const model = new FakeListChatModel({ responses: ["A summary."] });
    const middleware = (tokens) =>
      summarizationMiddleware({
        model,
        trigger: { tokens },
        keep: { tokens: keepTokens },
        trimTokensToSummarize: Number.MAX_SAFE_INTEGER,
      });
    const run = async (tokens) =>
      (await middleware(tokens).beforeModel({ messages }, { context: {} })) ?? null;
    return { check: { run: () => run(Number.MAX_SAFE_INTEGER) }, keep: { run: () => run(1) } };
  },
};

export const peers = [trim, clear, summarize];
