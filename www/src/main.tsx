import { render } from "preact";
import { load } from "promptside";
import "./style.css";
import { Playground } from "./state.js";
import { App } from "./view/app.js";

const root = document.getElementById("app");
if (root) {
  try {
    await load();
    const playground = new Playground();
    const draw = () => render(<App p={playground} />, root);
    playground.subscribe(draw);
    draw();
  } catch (error) {
    root.textContent = `The module could not be loaded: ${String(error)}`;
  }
}
