// The frontier of docs/optimal-idea.md: one curve, one point on it, and the matrix of that point.
(() => {
  const box = document.getElementById("eh-frontier");
  const { names, curves } = JSON.parse(document.getElementById("eh-frontier-data").textContent);
  const slider = box.querySelector("#eh-error");
  const [svg, table, said] = ["svg", "table", "output"].map((tag) => box.querySelector(tag));
  const radios = [...box.querySelectorAll("input[type=radio]")];
  const chosen = () => curves[radios.find((radio) => radio.checked).value];
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const edges = { left: 52, right: 328, top: 14, bottom: 196 };

  function tag(name, attributes, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach((pair) => made.setAttribute(...pair));
    made.textContent = text;
    svg.append(made);
  }

  function draw(curve, point) {
    const [low, high] = [curve.points[0][0], curve.points.at(-1)[0]];
    const most = 1.08 * Math.max(curve.grr[1], curve.points[0][1]);
    const x = (error) => edges.left + ((error - low) / (high - low)) * (edges.right - edges.left);
    const y = (left) => edges.bottom - (left / most) * (edges.bottom - edges.top);
    svg.replaceChildren();
    for (const share of [0, 0.5, 1]) {
      const height = y((share * most) / 1.08);
      tag("line", { class: "grid", x1: edges.left, x2: edges.right, y1: height, y2: height });
      tag("text", { class: "end", x: edges.left - 6, y: height + 4 }, ((share * most) / 1.08).toFixed(3));
      const error = low + share * (high - low);
      tag("text", { class: share === 1 ? "end" : "tick", x: x(error), y: edges.bottom + 18 }, percent(error));
    }
    tag("text", { class: "tick", x: (edges.left + edges.right) / 2, y: edges.bottom + 36 }, "wrong reports");
    tag("text", { class: "name", x: 0, y: 8 }, "unfairness of the reports");
    const path = curve.points.map(([error, left]) => `${x(error).toFixed(1)},${y(left).toFixed(1)}`).join(" ");
    tag("polyline", { class: "curve", points: path });
    tag("circle", { class: "grr", cx: x(curve.grr[0]), cy: y(curve.grr[1]), r: 5 });
    tag("text", { class: "name", x: x(curve.grr[0]) + 9, y: y(curve.grr[1]) + 4 }, "GRR");
    tag("circle", { class: "here", cx: x(point[0]), cy: y(point[1]), r: 6.5 });
  }

  function head(row, text, scope) {
    row.append(Object.assign(document.createElement("th"), { textContent: text, scope }));
  }

  function fill(matrix) {
    table.replaceChildren(table.caption);
    const first = table.insertRow();
    first.insertCell();
    for (const name of names) head(first, name, "col");
    matrix.forEach((row, place) => {
      const line = table.insertRow();
      head(line, names[place], "row");
      for (const chance of row) {
        const cell = line.insertCell();
        cell.textContent = chance.toFixed(3);
        cell.style.setProperty("--share", `${Math.round(100 * chance)}%`);
        cell.classList.toggle("strong", chance > 0.55);
      }
    });
  }

  function show() {
    const curve = chosen();
    const point = curve.points[slider.value];
    const grr = `GRR, with ${percent(curve.grr[0])} wrong, has ${curve.grr[1].toFixed(4)}.`;
    said.textContent = `${percent(point[0])} of reports are wrong; their unfairness is ${point[1].toFixed(4)}. ${grr}`;
    slider.setAttribute("aria-valuetext", `${percent(point[0])} wrong, unfairness ${point[1].toFixed(4)}`);
    svg.setAttribute("aria-label", `Least unfairness by share of wrong reports. ${said.textContent}`);
    draw(curve, point);
    fill(point[2]);
  }

  const start = () => show(Object.assign(slider, { max: chosen().points.length - 1, value: chosen().at }));

  box.hidden = false;
  slider.addEventListener("input", show);
  radios.forEach((radio) => radio.addEventListener("change", start));
  start();
})();
