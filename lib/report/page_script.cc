// The script of a page: sorting and filtering of tables, hiding of runs, two runs side by side. The page says all without it.
#include "report/page_script.h"

namespace dnn::report {
namespace {

constexpr std::string_view kScript = R"js(
"use strict";
(() => {
  const make = (tag, props, ...inside) => {
    const element = Object.assign(document.createElement(tag), props);
    element.append(...inside);
    return element;
  };
  const tables = [...document.querySelectorAll("main table")];
  const rowsOf = table => [...table.tBodies[0].rows];
  const textOf = cell => cell.textContent.trim();
  const number = text => /^[-+]?(\d|\.\d|inf|nan)/i.test(text) ? parseFloat(text) : NaN;

  // A click on a heading sorts; numbers by value, what is no number last.
  const sort = (table, column, button) => {
    const heading = table.tHead.rows[0].cells[column];
    const descending = heading.getAttribute("aria-sort") === "ascending";
    for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const keyed = rowsOf(table).map(row => [textOf(row.cells[column]), row]);
    const numbers = keyed.some(([text]) => !isNaN(number(text)));
    keyed.sort(([a], [b]) => {
      if (!numbers) return a.localeCompare(b, "en", {numeric: true}) * (descending ? -1 : 1);
      const x = number(a), y = number(b);
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
      return (x - y) * (descending ? -1 : 1);
    });
    table.tBodies[0].append(...keyed.map(([, row]) => row));
    button.focus();
  };

  const hidden = new Set();  // letters of runs
  const letters = text => {
    const found = text.match(/^(?:[A-Z]|R\d+)(?= |$)/g) || [];
    const base = text.match(/ against ([A-Z]|R\d+)(?= |$)/);
    return base ? [...found, base[1]] : found;
  };
  const show = table => {
    const words = (table.filter ? table.filter.value : "").toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rowsOf(table)) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word)) ||
        (table.ofRuns && letters(textOf(row.cells[0])).some(letter => hidden.has(letter)));
    }
  };
  for (const table of tables) {
    const titles = [...table.tHead.rows[0].cells].map(textOf);
    table.ofRuns = titles[0] === "run" || titles[0] === "pair";
    if (rowsOf(table).length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = make("button", {type: "button", className: "sort"}, textOf(cell));
      button.addEventListener("click", () => sort(table, column, button));
      cell.replaceChildren(button);
    });
    if (rowsOf(table).length < 8) continue;
    table.filter = make("input", {type: "search"});
    table.filter.addEventListener("input", () => show(table));
    table.closest(".scroll").before(make("label", {className: "filter"}, "Filter: ", table.filter,
      make("span", {className: "quiet"}, " " + table.caption.textContent)));
  }

  // The picture of a network grows and shrinks.
  for (const svg of document.querySelectorAll("#network svg")) {
    const width = svg.viewBox.baseVal.width;
    let zoom = 1;
    const bar = make("p", {});
    for (const [title, factor] of [["Larger", 1.25], ["Smaller", 0.8], ["Whole", 0]]) {
      const button = make("button", {type: "button"}, title);
      button.addEventListener("click", () => {
        const whole = Math.min(1, innerHeight * 0.8 / svg.viewBox.baseVal.height, svg.parentNode.clientWidth / width);
        zoom = factor ? zoom * factor : whole;
        svg.style.maxWidth = "none";
        svg.style.width = `${width * zoom}px`;
      });
      bar.append(button, " ");
    }
    svg.closest(".scroll").before(bar);
  }

  // Runs, with what each table says of them.
  const runs = new Map();
  for (const table of tables.filter(t => t.ofRuns && t.tHead.rows[0].cells[0].textContent.trim() === "run")) {
    if (table.id.endsWith("-matrix")) continue;
    const titles = [...table.tHead.rows[0].cells].map(textOf);
    for (const row of rowsOf(table)) {
      const name = textOf(row.cells[0]), letter = letters(name)[0];
      if (!letter) continue;
      const run = runs.get(letter) || {name, values: new Map()};
      if (name.length > run.name.length) run.name = name;
      runs.set(letter, run);
      titles.forEach((title, i) => { if (i > 0 && !run.values.has(title)) run.values.set(title, textOf(row.cells[i])); });
    }
  }
  if (runs.size < 2) return;
  // Pairs, by the letters of the run and of the one that it is held against.
  const pairs = new Map();
  for (const table of tables.filter(t => t.ofRuns && textOf(t.tHead.rows[0].cells[0]) === "pair")) {
    const titles = [...table.tHead.rows[0].cells].map(textOf);
    for (const row of rowsOf(table)) {
      const values = pairs.get(letters(textOf(row.cells[0])).join(" ")) || new Map();
      titles.forEach((title, i) => { if (i > 0) values.set(title, textOf(row.cells[i])); });
      pairs.set(letters(textOf(row.cells[0])).join(" "), values);
    }
  }
  const place = document.querySelector("#main > section");
  const boxes = make("div", {className: "boxes"});
  for (const [letter, run] of runs) {
    const box = make("input", {type: "checkbox", checked: true});
    box.addEventListener("change", () => {
      box.checked ? hidden.delete(letter) : hidden.add(letter);
      tables.filter(table => table.ofRuns).forEach(show);
    });
    boxes.append(make("label", {}, box, " " + run.name));
  }
  const all = make("button", {type: "button"}, "All"), none = make("button", {type: "button"}, "None");
  for (const [button, checked] of [[all, true], [none, false]]) {
    button.addEventListener("click", () => {
      for (const box of boxes.querySelectorAll("input")) if (box.checked !== checked) box.click();
    });
  }
  const pick = new Map();
  const side = make("div", {className: "scroll", tabIndex: 0});
  side.setAttribute("role", "group");
  side.setAttribute("aria-label", "Two runs side by side");
  const exact = text => /^[-+]?[\d.]+(e[-+]?\d+)?$/.test(text) ? parseFloat(text) : NaN;  // no interval, no list
  const compare = () => {
    const [first, second] = [...pick.values()].map(select => select.value), [a, b] = [runs.get(first), runs.get(second)];
    const body = make("tbody");
    for (const title of new Set([...a.values.keys(), ...b.values.keys()])) {
      const x = a.values.get(title) || "-", y = b.values.get(title) || "-";
      const change = exact(y) - exact(x);
      body.append(make("tr", {}, make("th", {scope: "row"}, title), make("td", {className: "n"}, x), make("td", {className: "n"}, y),
        make("td", {className: "n"}, x === y ? "same" : isNaN(change) ? "differs" : (change > 0 ? "+" : "") + +change.toPrecision(4))));
    }
    for (const [other, base] of [[second, first], [first, second]]) {
      for (const [title, value] of pairs.get(`${other} ${base}`) || []) {
        if (!value || value === "-") continue;
        body.append(make("tr", {}, make("th", {scope: "row"}, `${title}, ${other} against ${base}`),
          make("td", {className: value.length > 48 ? "w" : "n", colSpan: 3}, value)));
      }
    }
    const head = make("tr", {});
    for (const title of ["value", a.name, b.name, "difference"])
      head.append(make("th", {scope: "col", className: title === "value" ? "" : "n"}, title));
    side.replaceChildren(make("table", {className: "side"}, make("thead", {}, head), body));
  };
  const choices = make("p");
  [["First run: ", 0], ["Second run: ", 1]].forEach(([title, i]) => {
    const select = make("select", {});
    for (const [letter, run] of runs) select.append(make("option", {value: letter}, run.name));
    select.selectedIndex = i;
    select.addEventListener("change", compare);
    pick.set(i, select);
    choices.append(make("label", {className: "filter"}, title, select));
  });
  place.append(make("details", {}, make("summary", {}, "Two runs side by side"), choices, side),
    make("details", {}, make("summary", {}, "Hide runs in the tables"), make("p", {}, all, " ", none), boxes));
  compare();
})();
)js";

}  // namespace

std::string_view page_script() { return kScript; }

}  // namespace dnn::report
