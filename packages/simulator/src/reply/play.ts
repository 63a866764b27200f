import { ApiRefusal, type Behavior, type SeenRequest, type Turn } from "../exchange.ts";

/** Returns the turn of the first behavior that answers the request. */
export function play(behaviors: readonly Behavior[], seen: SeenRequest): Turn {
  for (const behavior of behaviors) {
    const turn = behavior(seen);
    if (turn !== undefined) return turn;
  }
  throw new ApiRefusal(500, "api_error", "No behavior of the simulator has an answer to this call.", {
    headers: { "x-should-retry": "false" },
  });
}
