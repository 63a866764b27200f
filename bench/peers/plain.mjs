// Code that people write without a library.
const loop = {
  name: "plain loop, chars/4",
  version: "",
  open({ turns }) {
    const run = () => {
      let characters = 0;
      for (const turn of turns) {
        characters += turn.text.length;
        for (const call of turn.calls ?? []) characters += JSON.stringify(call.input).length;
      }
      return characters / 4;
    };
    return { check: { run } };
  },
};

export const peers = [loop];
