// One call through the port: the same for every provider. Here against the local simulator, so that it
// runs without a key; leave `baseURL` and `apiKey` out to use yours.
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
