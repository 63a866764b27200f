import type { Entry } from "@longhaul/core/messages";

/** Builds the entries of an invented session. Each call has its own ids, so that tests can extend a session. */
export class SessionBuilder {
  readonly entries: Entry[] = [];
  #calls = 0;

  user(text: string): this {
    return this.#add("user", text);
  }

  assistant(text: string): this {
    return this.#add("assistant", [{ type: "text", text }]);
  }

  call(name: string, input: Readonly<Record<string, unknown>>, result: string, isError = false): this {
    const id = `call-${++this.#calls}`;
    this.#add("assistant", [{ type: "tool_use", id, name, input }]);
    return this.#add("user", [{ type: "tool_result", tool_use_id: id, content: result, is_error: isError }]);
  }

  #add(role: "user" | "assistant", content: unknown): this {
    const index = this.entries.length;
    this.entries.push({
      type: role,
      uuid: `entry-${index}`,
      parentUuid: index === 0 ? null : `entry-${index - 1}`,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role, content },
    } as Entry);
    return this;
  }
}

const todos = (first: string, second: string, third: string): Readonly<Record<string, unknown>> => ({
  todos: [
    { content: "Create the endpoint that reserves a kayak without overlap", status: first },
    { content: "Write the weekend tariff into the price table", status: second },
    { content: "Send a reminder mail one day before the trip", status: third },
  ],
});

/** A session about a booking service, with rules, a cancelled request, errors, open work and numbers. */
export function inventedSession(): readonly Entry[] {
  const session = new SessionBuilder();
  session
    .user("Build a booking service for kayak rentals, so that customers reserve boats online.")
    .user("Never store the passport number of a customer.")
    .user("Always write prices in whole cents.")
    .assistant("I will read the existing harbor code first.")
    .call("Read", { file_path: "/repo/src/harbor.ts" }, "export const harbor = 'north';")
    .assistant("We store reservations in SQLite because the harbor office runs no database server.")
    .assistant("The service uses Fastify for its routes, and TariffEngine computes the prices.")
    .call("TodoWrite", todos("in_progress", "pending", "pending"), "saved")
    .call("Write", { file_path: "/repo/src/reserve-kayak.ts", content: "export {}" }, "written")
    .user("Create a PDF report of all reservations for the harbor master.")
    .assistant("I note the report for later. TariffEngine comes first, then Fastify routes.")
    .call("Edit", { file_path: "/repo/src/tariff-table.ts", old_string: "a", new_string: "b" }, "edited")
    .call(
      "Bash",
      { command: "npx vitest run" },
      " FAIL  test/reserve.test.ts > refuses an overlap\n Tests  1 failed | 11 passed (12)",
      true,
    )
    .assistant(
      "The cause was a missing unique index on kayak and start hour, so two guests booked the same boat.",
    )
    .call("Write", { file_path: "/repo/migrations/add-unique-index.sql", content: "create" }, "written")
    .call("Bash", { command: "npx vitest run" }, " Tests  12 passed (12)")
    .user("Cancel the PDF report for the harbor master, they no longer need it.")
    .user("The staging server should listen on port 8443 with a timeout of 45 seconds.")
    .call("Edit", { file_path: "/repo/deploy/staging.yaml", old_string: "a", new_string: "b" }, "edited")
    .assistant("Staging listens on port 8443 now, and the TariffEngine rounds up to full hours.")
    .call("Bash", { command: "npm run lint" }, "0 problems")
    .call(
      "Bash",
      { command: "npx playwright test e2e/checkout.spec.ts" },
      "  1 failed\n    checkout.spec.ts:14 shows the confirmation page",
      true,
    )
    .call("TodoWrite", todos("completed", "completed", "pending"), "saved")
    .assistant("The payment redirect loses the session cookie of the guest on the checkout page.")
    .assistant("Next I will set the SameSite attribute of the session cookie in the payment redirect.");
  return session.entries;
}
