// One call through the model port, which is the same for every provider. It uses the local simulator and
// needs no key. Omit `baseURL` and `apiKey` to use your own account.
import { anthropicModel } from "@longhaul/anthropic";
import { withRetries } from "@longhaul/core";
import { startSimulator } from "@longhaul/simulator";

const simulator = await startSimulator();
simulator.reply("Four tests failed; the parser drops the last comma.");

const model = withRetries(
  anthropicModel({ model: "claude-sonnet-5-5", baseURL: simulator.url, apiKey: "any" }),
);
const request = { messages: [{ role: "user" as const, content: "What went wrong?" }], max_tokens: 1_000 };

console.log(`${(await model.countTokens(request)).tokens} tokens to send`);
for await (const event of model.stream(request)) {
  if (event.type === "text") process.stdout.write(event.text);
  if (event.type === "end")
    console.log(`\n${event.reply.stopReason}, ${event.reply.usage.output_tokens} tokens`);
}

await simulator.close();
