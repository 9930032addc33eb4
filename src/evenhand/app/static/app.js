// What the browser does by itself: sends what people do, uploads files, moves the focus, shows definitions.
(function () {
  "use strict";

  const TYPING = 450; // milliseconds of rest after which typed text is sent
  const timers = new Map();
  let count = 0;
  let wentTo = null; // the address that the page on show belongs to

  function byId(id) { return document.getElementById(id); }

  function send(message) {
    count += 1;
    if (window.Shiny && window.Shiny.setInputValue) {
      window.Shiny.setInputValue("act", Object.assign({ count: count }, message), { priority: "event" });
    }
  }

  // --- what people do: every control names its action in data-do --------------------------------------

  function valueOf(control) {
    if (control.tagName === "FIELDSET") {
      const boxes = Array.from(control.querySelectorAll("input"));
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      return boxes.length && boxes[0].type === "radio" ? chosen[0] || "" : chosen;
    }
    if (control.type === "checkbox") { return control.checked; }
    return control.value;
  }

  function act(control) {
    const message = { value: valueOf(control) };
    if (control.dataset.waits !== undefined) { message.ticks = ticked(); }
    Object.entries(control.dataset).forEach(([key, value]) => { message[key] = value; });
    send(message);
  }

  function actLater(control) {
    clearTimeout(timers.get(control));
    timers.set(control, setTimeout(() => { timers.delete(control); act(control); }, TYPING));
  }

  function flush(control) {
    if (timers.has(control)) {
      clearTimeout(timers.get(control));
      timers.delete(control);
      act(control);
    }
  }

  function isOff(button) {
    return button.disabled || button.getAttribute("aria-disabled") === "true";
  }

  function isTyped(control) {
    return control.tagName === "TEXTAREA" || (control.tagName === "INPUT" && ["text", "number", "search"].includes(control.type));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-do]");
    if (button && button.dataset.plan !== undefined && isOff(button)) {
      goToProblem();
    } else if (button && !isOff(button)) {
      timers.forEach((timer, control) => flush(control));
      if (button.dataset.from) { button.dataset.text = byId(button.dataset.from).value; }
      act(button);
    }
  });

  function ticked() {
    return Array.from(document.querySelectorAll("input[data-needs]:checked")).map((box) => box.id.replace("tick-", ""));
  }

  document.addEventListener("input", (event) => {
    const control = event.target;
    if (isTyped(control) && control.dataset.do) { actLater(control); }
    doubtProblem(control);
    const scale = byId(control.id + "-usual"); // the usual values follow what is written
    if (scale) {
      const written = control.value.split(",").map((part) => part.trim());
      scale.querySelectorAll("input").forEach((box) => { box.checked = written.includes(box.value); });
    }
  });
  document.addEventListener("change", (event) => {
    const control = event.target;
    const group = control.closest("fieldset[data-do]");
    if (group && !control.dataset.do) {
      act(group);
    } else if (control.dataset.do && !isTyped(control)) {
      act(control);
    } else if (control.dataset.do) {
      flush(control);
    }
    doubtProblem(control);
    checkPlan();
    if (control.id === "theme") { setTheme(control.value); }
    if (control.classList.contains("file") && control.files.length) { upload(control, control.files[0]); }
    if (control.dataset.needs !== undefined) {
      if (control.checked) { ticks.set(control.id, control.closest("label").textContent); } else { ticks.delete(control.id); }
      checkTicks();
    }
  });

  // A box stays ticked when the page is drawn anew, as long as its words, and the amount in them, stay the same.
  const ticks = new Map();
  function keepTicks() {
    document.querySelectorAll("input[data-needs]").forEach((box) => {
      box.checked = !box.disabled && ticks.get(box.id) === box.closest("label").textContent;
    });
  }

  // Buttons that wait for all ticks of the page.
  function checkTicks() {
    const ticks = Array.from(document.querySelectorAll("input[data-needs]"));
    const ready = ticks.every((tick) => tick.checked);
    document.querySelectorAll("button[data-waits]").forEach((button) => {
      if (button.dataset.blocked === undefined) { button.disabled = !ready; }
    });
    document.querySelectorAll("[data-waiting-words]").forEach((words) => { words.hidden = ready; });
  }

  // --- the question: what is shown belongs to the chosen question, and is run only if it can be -----------

  const OF_QUESTION = ["question_form", "estimate", "commands"];

  // Whether the form on show is the one of the question chosen before.
  function isFormReplaced() {
    const form = document.querySelector("#question_form [data-form-kind]");
    const chosen = document.querySelector("#kind input:checked");
    return Boolean(form && chosen && form.dataset.formKind !== chosen.value);
  }

  function checkPlan() {
    const status = byId("form-status");
    if (!status) { return; }
    const replaced = isFormReplaced();
    const words = replaced ? status.dataset.words : "";
    if (status.textContent !== words) { status.textContent = words; }
    OF_QUESTION.map(byId).filter(Boolean).forEach((part) => {
      part.inert = replaced;
      if (replaced) { part.setAttribute("aria-busy", "true"); } else { part.removeAttribute("aria-busy"); }
    });
    const problem = document.querySelector(":not([aria-busy]) > #estimate-error");
    document.querySelectorAll("button[data-plan]").forEach((button) => {
      if (replaced || problem) { button.setAttribute("aria-disabled", "true"); } else { button.removeAttribute("aria-disabled"); }
      if (problem) { button.setAttribute("aria-describedby", problem.id); } else { button.removeAttribute("aria-describedby"); }
    });
  }

  // After an answer was changed, nobody knows yet whether what was missing still is.
  function doubtProblem(control) {
    const problem = byId("estimate-error");
    if (problem && control.closest("#question_form")) {
      problem.parentElement.setAttribute("aria-busy", "true");
      checkPlan();
    }
  }

  // Whoever presses Run although it is off is led to what is missing.
  function goToProblem() {
    const problem = byId("estimate-error");
    if (problem) { problem.scrollIntoView({ block: "center" }); problem.focus({ preventScroll: true }); }
  }

  // --- uploads ----------------------------------------------------------------------------------------

  let lastFile = null; // to be opened again when a person says how it is written

  function saidFormat() {
    const said = new URLSearchParams();
    document.querySelectorAll("[data-format]").forEach((control) => {
      if (control.value.trim()) { said.set(control.dataset.format, control.value.trim()); }
    });
    return said.size ? "?" + said : "";
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-again]");
    if (!button) { return; }
    const input = byId(button.dataset.again);
    const zone = input.closest("[data-upload]");
    if (lastFile && lastFile.study === zone.dataset.study) { upload(input, lastFile.file); } else { input.click(); }
  });

  function upload(input, file) {
    const zone = input.closest("[data-upload]");
    const words = zone.querySelector("[data-upload-words]");
    const bar = zone.querySelector("progress");
    const most = Number(zone.dataset.most || 0);
    if (most) { lastFile = { study: zone.dataset.study, file: file }; }
    const fail = (text) => {
      bar.hidden = true;
      words.textContent = "";
      send({ do: zone.dataset.failed, study: zone.dataset.study, value: text, name: file.name });
      input.value = "";
    };
    if (most && file.size > most) {
      fail(file.name + " was not opened: it is larger than " + Math.round(most / 1048576) + " MB. Open a part of it, or use the command line, which reads files of any length.");
      return;
    }
    const request = new XMLHttpRequest();
    request.open("POST", zone.dataset.upload + (zone.dataset.most ? saidFormat() : ""));
    request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    bar.hidden = false;
    bar.value = 0;
    words.textContent = "Opening " + file.name;
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) {
        bar.value = event.loaded / event.total;
        words.textContent = "Opening " + file.name + ": " + Math.floor(100 * event.loaded / event.total) + "%";
      }
    });
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300) {
        words.textContent = "Checking " + file.name;
        send({ do: zone.dataset.done, study: zone.dataset.study, value: request.responseText, name: file.name });
        input.value = "";
      } else {
        fail(sentenceOf(request) || file.name + " was not opened. Try it again, or open another file.");
      }
    });
    request.addEventListener("error", () => fail(file.name + " was not opened: the connection was lost. Try it again."));
    request.send(file);
  }

  function sentenceOf(request) {
    try {
      const answer = JSON.parse(request.responseText);
      return answer.error || answer.message || answer.detail || "";
    } catch (error) {
      const text = request.responseText.trim();
      return text.startsWith("<") ? "" : text.slice(0, 600);
    }
  }

  ["dragover", "dragleave", "drop"].forEach((kind) => {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      const zone = event.target.closest ? event.target.closest("[data-upload]") : null;
      document.querySelectorAll(".drop.over").forEach((other) => other.classList.remove("over"));
      if (zone && kind === "dragover") { zone.classList.add("over"); }
      if (zone && kind === "drop" && event.dataTransfer.files.length) {
        upload(zone.querySelector("input.file"), event.dataTransfer.files[0]);
      }
    });
  });

  // --- pages: the focus goes to the heading of a new page, and stays where it was on the same one -------

  let remembered = null;

  function remember() {
    const active = document.activeElement;
    if (active && active.id && active !== document.body) {
      remembered = { id: active.id, value: isTyped(active) ? active.value : undefined };
      if (typeof active.selectionStart === "number") { remembered.at = [active.selectionStart, active.selectionEnd]; }
    }
  }

  // What a person wrote and did not send yet stays when the page is drawn anew, such as a pasted list of values.
  const unsent = new Map();
  const pressed = new Set(); // what was sent by the button beside it, and may be refused
  let lastStudy = "";

  ["input", "change"].forEach((kind) => {
    document.addEventListener(kind, (event) => {
      const control = event.target;
      if (control.dataset.format || (control.tagName === "TEXTAREA" && !control.dataset.do)) { unsent.set(control.id, control.value); }
    });
  });
  document.addEventListener("click", (event) => {
    const fold = event.target.closest(".edit button[data-do]") ? event.target.closest(".edit") : null;
    if (fold) { fold.querySelectorAll("textarea").forEach((control) => { pressed.add(control.id); }); }
  });

  function keepUnsent(address) {
    const study = address.split("/")[2] || "";
    if (study !== lastStudy) { unsent.clear(); }
    lastStudy = study;
    if (!byId("problem-schema")) { pressed.forEach((id) => { unsent.delete(id); }); }
    pressed.clear();
    unsent.forEach((value, id) => { if (byId(id)) { byId(id).value = value; } });
  }

  // While a list is open, a part of the page that comes anew waits: drawing it would close the list.
  const CLOSED = 150; // milliseconds after which it is asked again whether the list is closed
  const ANSWERED = 1000; // milliseconds in which a choice is answered by a newer page
  const held = new Map();
  let chosenAt = -ANSWERED;

  function isListOpen() {
    const control = document.activeElement;
    try { return control.tagName === "SELECT" && control.matches(":open"); } catch (error) { return false; } // an older browser
  }

  function holdValue(event) {
    held.delete(event.name);
    if (!event.binding || !isListOpen()) { return; }
    event.preventDefault();
    if (!held.size) { setTimeout(showHeld, CLOSED); }
    held.set(event.name, event);
  }

  function showHeld() {
    if (isListOpen() || performance.now() < chosenAt + ANSWERED) {
      if (held.size) { setTimeout(showHeld, CLOSED); }
      return;
    }
    const events = Array.from(held.values());
    held.clear();
    events.forEach((event) => event.binding.onValueChange(event.value));
  }

  document.addEventListener("change", (event) => { if (event.target.tagName === "SELECT") { chosenAt = performance.now(); } });

  // A fold stays open when its part of the page is drawn anew. The removed fold itself says whether it was open:
  // its event does not arrive where it is removed at once.
  const opened = new Set();

  function foldsIn(nodes) {
    const elements = Array.from(nodes).filter((node) => node.nodeType === Node.ELEMENT_NODE);
    return elements.flatMap((element) => Array.from(element.querySelectorAll("details[id]")).concat(element.matches("details[id]") ? element : []));
  }

  function rememberFolds(changes) {
    const drawn = new Set(); // by one of these very changes, so that nobody has seen it
    changes.forEach((change) => {
      foldsIn(change.removedNodes).filter((fold) => !drawn.has(fold)).forEach((fold) => {
        if (fold.open) { opened.add(fold.id); } else { opened.delete(fold.id); }
      });
      foldsIn(change.addedNodes).forEach((fold) => { drawn.add(fold); });
    });
  }

  function openFolds(changes) {
    changes.forEach((change) => foldsIn(change.addedNodes).forEach((fold) => { if (opened.has(fold.id)) { fold.open = true; } }));
  }

  function afterDrawing(changes) {
    rememberFolds(changes);
    if (changes.some((change) => change.target === byId("page"))) { afterPage(); }
    openFolds(changes);
    restoreFocus();
    checkPlan();
  }

  function afterPage() {
    const page = byId("page");
    const heading = page.querySelector("h1");
    if (!heading) { return; }
    document.title = heading.textContent.trim() + " - evenhand";
    heading.id = heading.id || "heading";
    heading.setAttribute("tabindex", "-1");
    const mark = page.querySelector("[data-address]");
    const address = mark ? mark.dataset.address : location.hash;
    const isNew = wentTo !== address;
    if (isNew) { opened.clear(); ticks.clear(); } // a fold of another study may have the same place
    keepTicks();
    keepUnsent(address);
    checkTicks();
    const isFirst = wentTo === null;
    wentTo = address;
    if (isNew) {
      closeDefinition(false);
      remembered = null;
      if (!isFirst) {
        window.scrollTo(0, 0);
        heading.focus({ preventScroll: true });
      }
    }
  }

  function restoreFocus() {
    const again = remembered && document.activeElement === document.body ? byId(remembered.id) : null;
    if (!again) { return; }
    if (remembered.value !== undefined && isTyped(again)) { again.value = remembered.value; }
    again.focus({ preventScroll: true });
    if (remembered.at && again.setSelectionRange) {
      try { again.setSelectionRange(remembered.at[0], remembered.at[1]); } catch (error) { /* not a text field */ }
    }
  }

  function showProblem(message) {
    document.querySelectorAll("[data-problem]").forEach((place) => {
      const isIt = Boolean(message.field) && place.dataset.problem === message.field;
      if (place.hidden !== !isIt || place.textContent !== message.text) {
        place.hidden = !isIt;
        place.textContent = isIt ? message.text : "";
      }
      const control = byId("field-" + place.dataset.problem);
      if (control) {
        if (isIt) {
          control.setAttribute("aria-invalid", "true");
          control.setAttribute("aria-describedby", place.id);
        } else {
          control.removeAttribute("aria-invalid");
        }
      }
    });
  }

  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("a, button, input, select, textarea, label, summary")) { remembered = null; }
  });
  document.addEventListener("focusin", remember);
  document.addEventListener("keyup", remember);
  document.addEventListener("input", remember); // what is pasted or dropped comes without a key

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && !link.getAttribute("href").startsWith("#/")) {
      event.preventDefault(); // the address names the page on show, so a place on it is scrolled to
      const place = byId(decodeURIComponent(link.getAttribute("href").slice(1)));
      if (place) {
        place.scrollIntoView();
        if (!place.hasAttribute("tabindex")) { place.setAttribute("tabindex", "-1"); }
        place.focus({ preventScroll: true });
      }
    }
  });

  // --- definitions behind terms ------------------------------------------------------------------------

  let openTerm = null;

  function closeDefinition(back) {
    const box = byId("definition");
    if (box) { box.remove(); }
    if (openTerm) {
      openTerm.setAttribute("aria-expanded", "false");
      if (back) { openTerm.focus(); }
      openTerm = null;
    }
  }

  function openDefinition(button) {
    const entry = document.querySelector("#words [data-word='" + CSS.escape(button.dataset.term) + "']");
    closeDefinition(false);
    if (!entry) { return; }
    const box = document.createElement("div");
    box.id = "definition";
    box.setAttribute("role", "dialog");
    box.setAttribute("aria-label", "What it means");
    const name = document.createElement("b");
    name.textContent = entry.dataset.name;
    const text = document.createElement("span");
    text.textContent = entry.textContent;
    const close = document.createElement("button");
    close.type = "button";
    close.className = "btn small";
    close.textContent = "Close";
    close.addEventListener("click", () => closeDefinition(true));
    const row = document.createElement("div");
    row.append(close);
    box.append(name, text, row);
    button.closest("main, aside, body").append(box);
    const at = button.getBoundingClientRect();
    const holder = box.offsetParent ? box.offsetParent.getBoundingClientRect() : { left: -window.scrollX, top: -window.scrollY };
    const left = Math.max(12, Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - 12));
    box.style.left = (left - holder.left) + "px";
    box.style.top = (at.bottom + 8 - holder.top) + "px";
    button.setAttribute("aria-expanded", "true");
    openTerm = button;
    close.focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.term");
    if (button) {
      event.preventDefault();
      if (openTerm === button) { closeDefinition(true); } else { openDefinition(button); }
    } else if (openTerm && !event.target.closest("#definition")) {
      closeDefinition(false);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && openTerm) { closeDefinition(true); }
    if (event.key === "Enter" && event.target.tagName === "INPUT" && isTyped(event.target)) {
      flush(event.target);
      const button = document.querySelector("button[data-from='" + CSS.escape(event.target.id) + "']");
      if (button) { button.click(); } // the one that sends what is written here
    }
  });
  document.addEventListener("focusout", () => {
    setTimeout(() => {
      const box = byId("definition");
      if (box && !box.contains(document.activeElement) && document.activeElement !== openTerm && document.activeElement !== document.body) { closeDefinition(false); }
    }, 0);
  });

  // --- charts: what a mark says, and only some marks ----------------------------------------------------

  function tipOf(element) {
    const mark = element.closest ? element.closest(".picture svg *") : null;
    if (!mark) { return ""; }
    const title = mark.querySelector(":scope > title") || (mark.tagName === "title" ? mark : null);
    if (title) {
      mark.dataset.tip = title.textContent;
      title.remove(); // ours is shown instead, at once and in the colours of the page
    }
    return mark.dataset.tip || "";
  }

  document.addEventListener("pointerover", (event) => {
    const tip = byId("tip");
    const text = tipOf(event.target);
    tip.hidden = !text;
    tip.textContent = text;
    if (text) { moveTip(event); }
  });
  document.addEventListener("pointermove", (event) => { if (!byId("tip").hidden) { moveTip(event); } });

  function moveTip(event) {
    const tip = byId("tip");
    const right = document.documentElement.clientWidth - tip.offsetWidth - 12;
    tip.style.left = Math.max(12, Math.min(event.clientX + 14, right)) + "px";
    const above = event.clientY - tip.offsetHeight - 14;
    tip.style.top = (above > 8 ? above : event.clientY + 20) + "px";
  }

  // --- saving, copying, themes -----------------------------------------------------------------------------------

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) { return; }
    const text = byId(button.dataset.copy).textContent;
    const say = (words) => { const before = button.dataset.words || button.textContent; button.dataset.words = before; button.textContent = words; setTimeout(() => { button.textContent = before; }, 1600); };
    navigator.clipboard.writeText(text).then(() => say("Copied"), () => say("Select and copy it"));
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-save]");
    if (!button || isOff(button)) { return; }
    const file = URL.createObjectURL(new Blob([byId(button.dataset.save).textContent], { type: "text/plain" }));
    const link = document.createElement("a");
    link.href = file;
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(file), 10000);
  });

  function setTheme(theme) {
    if (theme === "light" || theme === "dark") { document.documentElement.dataset.theme = theme; } else { delete document.documentElement.dataset.theme; }
    try { localStorage.setItem("evenhand-theme", theme); } catch (error) { /* not kept */ }
  }

  // --- the connection ------------------------------------------------------------------------------------

  let lost = false;

  function onLost() {
    if (lost) { return; }
    lost = true;
    byId("banner").hidden = false;
    byId("banner-words").textContent = "The workbench does not answer. Finished runs are kept. This page goes on by itself as soon as it answers again.";
    waitForAnswer();
  }

  function waitForAnswer() {
    fetch("alive", { cache: "no-store" }).then((answer) => {
      if (answer.ok) {
        location.reload();
      } else if (answer.status === 401 || answer.status === 403) {
        byId("banner-words").textContent = "The workbench was started anew. Finished runs are kept. Open the address that the terminal shows.";
      } else {
        setTimeout(waitForAnswer, 1000);
      }
    }, () => setTimeout(waitForAnswer, 1000));
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) { send({ do: "awake" }); } });

  function start() {
    let theme = "";
    try { theme = localStorage.getItem("evenhand-theme") || ""; } catch (error) { /* as the system has it */ }
    setTheme(theme);
    if (byId("theme")) { byId("theme").value = theme; }
    new MutationObserver(afterDrawing).observe(byId("main"), { childList: true, subtree: true });
    window.jQuery(document).on("shiny:disconnected", onLost);
    window.jQuery(document).on("shiny:value", holdValue);
    window.jQuery(document).on("shiny:connected", () => {
      window.Shiny.addCustomMessageHandler("problem", showProblem);
      window.Shiny.addCustomMessageHandler("go", (message) => { location.hash = message.address; });
    });
  }
  if (document.readyState === "loading") { document.addEventListener("DOMContentLoaded", start); } else { start(); }
})();
