"use strict";

// What textual.js leaves to the page: where the socket is, the font before the first letter is
// measured, the keyboard from the start, and the reason when the socket is closed.

const terminal = document.getElementById("terminal");
const FONTS = ["400 16px", "700 16px", "italic 400 16px"];
const FONT_PATIENCE = 3000;
let closed = false;

terminal.dataset.sessionWebsocketUrl =
  (location.protocol === "https:" ? "wss://" : "ws://") + location.host + "/ws";

function end(words) {
  if (closed) return;
  closed = true;
  document.getElementById("starting").hidden = true;
  document.getElementById("reason").textContent = words;
  document.getElementById("ended").hidden = false;
  document.getElementById("again").focus();
}

function takeKeys() {
  const keys = document.querySelector(".xterm-helper-textarea");
  if (keys && !closed) keys.focus();
}

window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("open", takeKeys);
    this.addEventListener("close", (event) =>
      end(event.reason || "The connection is lost. What you did up to then is saved.")
    );
  }
};

async function open() {
  const fonts = FONTS.map((font) => document.fonts.load(font + " 'Roboto Mono'"));
  const patience = new Promise((resolve) => setTimeout(resolve, FONT_PATIENCE));
  await Promise.race([Promise.allSettled(fonts), patience]);
  const script = document.createElement("script");
  script.src = "/static/js/textual.js";
  script.onload = () => {
    try {
      window.onload();
    } catch (error) {
      end("This browser cannot draw the workbench (" + error.message + ").");
    }
  };
  script.onerror = () => end("A part of the page could not be loaded.");
  document.head.append(script);
}

document.getElementById("again").addEventListener("click", () => location.reload());
window.addEventListener("focus", takeKeys);
window.addEventListener("load", open);
