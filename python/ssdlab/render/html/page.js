const { data, figures } = JSON.parse(document.getElementById("data").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const style = getComputedStyle(document.documentElement);

function colors() {
  const named = (name) => style.getPropertyValue(name).trim();
  const runs = [];
  while (named(`--run-${runs.length}`)) runs.push(named(`--run-${runs.length}`));
  return { back: named("--back"), text: named("--text"), faint: named("--faint"), grid: named("--grid"), runs };
}

function theme() {
  const { back, text, faint, grid, runs } = colors();
  const font = { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  return {
    aria: false,
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    padding: 4,
    range: { category: runs },
    view: { stroke: null },
    line: { strokeWidth: 1.75, strokeJoin: "round" },
    style: {
      anchor: { color: text, size: 50 },
      note: { color: text, fontSize: 11 },
      faint: { color: faint, fontSize: 10 },
      limit: { color: faint },
      first: { color: runs[0] },
      second: { color: runs[1] },
      middle: { color: text },
      marker: { size: 64 },
      part: { stroke: back, strokeWidth: 0.75 },
    },
    axis: {
      ...font,
      labelColor: text,
      titleColor: text,
      domainColor: faint,
      tickColor: faint,
      gridColor: grid,
      labelLimit: 150,
    },
    legend: { ...font, labelColor: text, titleColor: text, gradientLength: 200 },
  };
}

async function draw({ id, data: name, canvas, spec }) {
  const whole = {
    ...spec,
    data: { values: data[name] },
    width: "container",
    autosize: { type: "fit", contains: "padding", resize: true },
  };
  await vegaEmbed(document.getElementById(id), whole, {
    mode: "vega-lite",
    actions: false,
    renderer: canvas ? "canvas" : "svg",
    config: theme(),
    tooltip: { theme: dark.matches ? "dark" : "light" },
  });
}

async function drawAll() {
  document.documentElement.dataset.drawn = "";
  for (const figure of figures) {
    try {
      await draw(figure);
    } catch (error) {
      // The others are drawn all the same.
      console.error(figure.id, error);
      document.getElementById(figure.id).textContent = `This chart cannot be drawn: ${error}`;
    }
  }
  document.documentElement.dataset.drawn = dark.matches ? "dark" : "light";
}

let drawing = drawAll();
dark.addEventListener("change", () => {
  drawing = drawing.then(drawAll);
});

function csv(rows) {
  const heads = [...new Set(rows.flatMap(Object.keys))];
  const cell = (value) => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [heads, ...rows.map((row) => heads.map((head) => row[head]))];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

for (const button of document.querySelectorAll("button[data-figure]")) {
  button.addEventListener("click", () => {
    const figure = figures.find(({ id }) => id === button.dataset.figure);
    const link = document.createElement("a");
    // Points that only mark a line are no data.
    const rows = data[figure.data].filter(({ marks }) => !marks);
    link.href = URL.createObjectURL(new Blob([csv(rows)], { type: "text/csv" }));
    link.download = `${figure.id}.csv`;
    link.click();
  });
}
