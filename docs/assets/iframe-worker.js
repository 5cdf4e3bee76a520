// The search of the site runs in a Worker, which browsers refuse to pages that are read from a folder (file:).
// There a hidden frame takes its place: same script, same messages. Over HTTP this does nothing.
"use strict";

class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    window.addEventListener("message", (event) => {
      if (event.source !== inside) return;
      this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      if (this.onmessage) this.onmessage(event);
    });
    inside.document.open();
    inside.document.write("<!doctype html><body></body>");
    inside.document.close();
    // What a worker has and a frame has not; postMessage here is the frame's own, so that the page knows the source.
    const opening = inside.document.createElement("script");
    opening.textContent =
      "postMessage = (data) => parent.postMessage(data, '*');" +
      "importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {" +
      "const script = document.createElement('script'); script.src = url; script.onload = done;" +
      "document.body.append(script); })), Promise.resolve());";
    const script = inside.document.createElement("script");
    script.src = url;
    this.ready = new Promise((done) => script.addEventListener("load", done));
    inside.document.body.append(opening, script);
  }

  postMessage(data) {
    const message = structuredClone(data);
    this.ready.then(() => {
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: message }));
    });
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
