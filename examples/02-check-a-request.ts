// Finds and repairs a request that the API would refuse, before it is sent.
import { checkRequest } from "@longhaul/core";

const { valid, findings, request } = checkRequest({
  model: "claude-sonnet-4-5",
  messages: [
    { role: "user", content: "List the files." },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "call_1", name: "Bash", input: { command: "ls" } }],
    },
    // A crash lost the result of call_1, and one text is empty.
    {
      role: "user",
      content: [
        { type: "text", text: "" },
        { type: "text", text: "Go on." },
      ],
    },
  ],
});

console.log("valid as given:", valid);
for (const { rule, path, action, message } of findings)
  console.log(`${path}  ${rule}: ${message} → ${action}`);
console.log(JSON.stringify(request.messages.at(-1), null, 2));
