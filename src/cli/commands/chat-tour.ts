import { openAgent } from "../../agent/index.ts";
import { LonghaulError } from "../../errors.ts";
import { runChat } from "../chat/chat.ts";
import { processScreen, unattendedScreen } from "../chat/screen/open-screen.ts";
import { openTour } from "../chat/tour/tour.ts";
import { tourView } from "../chat/tour/tour-view.ts";
import type { Composition } from "../composition.ts";

export interface TourChoice {
  readonly isWatched: boolean;
  readonly turns: number | undefined;
}

/** A chat with a stand-in for the model, in a folder of its own, that somebody is led through. */
export async function takeTour(
  { isWatched, turns }: TourChoice,
  composition: Composition,
  { version }: { readonly version: string },
): Promise<void> {
  const tour = await openTour({ isWatched, turns });
  const { places = composition.places } = tour.agentOptions;
  let isSound = true;
  try {
    await runChat({
      composition: { ...composition, places },
      version,
      open: (wiring) => openAgent({ ...tour.agentOptions, ...wiring }),
      modelNamed: async () => {
        throw new LonghaulError("model-unknown-model", "The tour has one model, the stand-in.", {
          remedy: "`longhaul chat --model NAME` talks with a real one.",
        });
      },
      openScreen: isWatched ? processScreen : unattendedScreen,
      guide: tour.guide,
      isUnattended: !isWatched,
      farewell: async (agent) => {
        if (isWatched) return "That was the tour. `longhaul chat` begins a chat of your own.";
        const report = await tour.report(agent);
        isSound = report.isSound;
        return tourView(report, composition.terminal);
      },
    });
  } finally {
    await tour.close();
  }
  if (!isSound)
    throw new LonghaulError("agent-failed", "Something in the tour did not go as it should.", {
      remedy: "Please report this, with what is printed above.",
    });
}
