import { ClearToolUsesEdit, contextEditingMiddleware } from "langchain";
import { versionOf } from "../peers/version.mjs";
import { toLangChain } from "./langchain-messages.mjs";
import { peerPolicy } from "./peer-policy.ts";

export const policies = [
  () =>
    peerPolicy({
      name: "LangChain context editing",
      version: versionOf("langchain"),
      description: "contextEditingMiddleware with ClearToolUsesEdit: clears all but the last 3 tool results",
      shorten: async ({ messages }) => {
        const { messages: given, piecesOf } = toLangChain(messages);
        const edit = new ClearToolUsesEdit({ trigger: { tokens: 1 } });
        const middleware = contextEditingMiddleware({ edits: [edit] });
        let sent = given;
        await middleware.wrapModelCall({ messages: [...given] }, (request) => {
          sent = request.messages;
        });
        return piecesOf(sent);
      },
    }),
];
