// Filters, order, keys. Without this script the pages can be read from top to bottom.
"use strict";
{
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const press = (buttons, chosen) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === chosen));
  };
  const remembered = () => "calibrag traces " + location.pathname.replace(/(q\/)?[^/]*$/, "");
  const read = () => new URLSearchParams(location.hash.slice(1));
  const write = (state) => {
    const hash = state.toString();
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  };
  const keys = one("#keys");
  const bind = (bound) => document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select");
    const scrolling = event.key.startsWith("Arrow") && event.target.matches(".passes, .text");
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open || scrolling || (typing && event.key !== "Escape")) return;
    const act = event.key === "?" ? () => keys.showModal() : bound(event.key, typing);
    if (act) {
      event.preventDefault();
      act();
    }
  });
  one(".help").addEventListener("click", () => keys.showModal());

  if (document.body.classList.contains("index")) {
    const body = one(".questions tbody");
    const rows = all("tr", body).map((row) => ({
      row,
      link: row.querySelector("a"),
      kinds: row.dataset.kinds.split(" "),
      words: row.textContent.toLowerCase(),
    }));
    const find = one("#find");
    const shows = all(".filters [data-show]");
    const sorts = all("[data-sort]");
    const compare = {
      number: (a, b) => a - b,
      text: (a, b) => a.localeCompare(b, "en", { numeric: true }),
    };
    let visible = [];
    let order = "";

    const apply = () => {
      const state = read();
      const show = shows.find((button) => button.dataset.show === state.get("show")) || shows[0];
      const sort = sorts.find((button) => button.dataset.sort === state.get("sort"));
      const down = state.has("down") ? -1 : 1;
      const wanted = (state.get("find") || "").toLowerCase().split(/\s+/).filter(Boolean);
      press(shows, show);
      if (find.value.trim() !== (state.get("find") || "").trim()) find.value = state.get("find") || "";
      for (const button of sorts) {
        const head = button.closest("th");
        head.removeAttribute("aria-sort");
        if (button === sort) head.setAttribute("aria-sort", down < 0 ? "descending" : "ascending");
      }
      const wish = sort ? sort.dataset.sort + down : "";
      if (wish !== order) {
        order = wish;
        const name = sort ? sort.dataset.sort : "place";
        const by = compare[sort ? sort.dataset.kind : "number"];
        const side = sort ? down : 1;
        rows.sort((a, b) => {
          const [x, y] = [a.row.dataset[name], b.row.dataset[name]];
          const empty = (x === "") - (y === ""); // what has no value comes last, either way
          return empty || side * by(x, y) || a.row.dataset.place - b.row.dataset.place;
        });
        body.append(...rows.map(({ row }) => row));
      }
      visible = rows.filter(({ row, kinds, words }) => {
        const fits = (show.dataset.show === "all" || kinds.includes(show.dataset.show))
          && wanted.every((word) => words.includes(word));
        row.hidden = !fits;
        return fits;
      });
      one("#shown").textContent = visible.length;
      one(".nothing").hidden = visible.length > 0;
      const name = [show.dataset.show === "all" ? "" : show.dataset.show, wanted.join(" ")].filter(Boolean).join(", ");
      const list = { hash: location.hash, name, files: visible.map(({ link }) => link.getAttribute("href").slice(2)) };
      try {
        sessionStorage.setItem(remembered(), JSON.stringify(list));
      } catch {
        // without storage, a question's neighbours are those of the whole list
      }
    };
    const change = (name, value) => {
      const state = read();
      if (value) state.set(name, value);
      else state.delete(name);
      write(state);
      apply();
    };
    for (const button of all("[data-show]")) {
      button.addEventListener("click", () => {
        if (button.closest(".nothing")) write(new URLSearchParams());
        change("show", button.dataset.show === "all" ? "" : button.dataset.show);
      });
    }
    for (const button of sorts) {
      button.addEventListener("click", () => {
        const state = read();
        const again = state.get("sort") === button.dataset.sort;
        if (again && state.has("down")) {
          state.delete("sort");
          state.delete("down");
        } else {
          state.set("sort", button.dataset.sort);
          if (again) state.set("down", "1");
          else state.delete("down");
        }
        write(state);
        apply();
      });
    }
    find.addEventListener("input", () => change("find", find.value.trim()));
    addEventListener("hashchange", apply);
    addEventListener("pageshow", apply);
    const move = (step) => {
      const at = visible.findIndex(({ row }) => row.contains(document.activeElement));
      const next = at < 0 ? (step > 0 ? 0 : visible.length - 1) : Math.min(Math.max(at + step, 0), visible.length - 1);
      if (visible[next]) visible[next].link.focus();
    };
    bind((key, typing) => ({
      j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
      "/": () => find.select(), Escape: typing && (() => find.blur()),
    })[key]);
    if (read().has("focus")) {
      const state = read();
      state.delete("focus");
      write(state);
      find.focus();
    }
    apply();
  } else {
    const up = one("#up");
    const file = document.body.dataset.file;
    const safe = /^[a-z0-9_~-]+\.html$/;
    try {
      const list = JSON.parse(sessionStorage.getItem(remembered()));
      const at = list.files.indexOf(file);
      if (at >= 0 && list.files.every((name) => safe.test(name))) {
        const set = (link, name) => {
          if (name) {
            link.href = name;
            link.removeAttribute("aria-disabled");
          } else {
            link.removeAttribute("href");
            link.setAttribute("aria-disabled", "true");
          }
        };
        set(one("#before"), list.files[at - 1]);
        set(one("#after"), list.files[at + 1]);
        one("#place").textContent = `${at + 1} of ${list.files.length}${list.name ? " · " + list.name : ""}`;
        up.hash = String(list.hash);
      }
    } catch {
      // no list is remembered: the page's own links lead through all questions
    }

    // a hit's passage is on the page once: it is copied to where it is unfolded
    for (const hit of all("details.hit")) {
      hit.addEventListener("toggle", () => {
        const text = document.getElementById(hit.dataset.passage)?.querySelector(".text");
        if (hit.open && text && !hit.querySelector(".text")) hit.lastElementChild.replaceWith(text.cloneNode(true));
      });
    }

    const passes = one(".passes");
    const buttons = all("[data-pass]");
    const choose = (number, remember = true) => {
      const chosen = buttons.find((button) => button.dataset.pass === number) || buttons[0];
      const single = chosen !== buttons[0];
      press(buttons, chosen);
      passes.classList.toggle("one", single);
      for (const pass of all(".pass")) pass.hidden = single && pass.id !== "pass-" + number;
      if (remember) write(new URLSearchParams(single ? { pass: number } : {}));
    };
    for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.pass));
    const showTarget = () => {
      const number = read().get("pass");
      if (number) choose(number, false);
      else choose("all", false);
    };
    for (const link of all("[data-pass-link]")) link.addEventListener("click", () => choose("all", false));
    addEventListener("hashchange", showTarget);
    if (location.hash) showTarget();

    const foldable = all(".events details:not(.hit)");
    const fold = (open) => foldable.forEach((part) => { part.open = open; });
    one("#unfold").addEventListener("click", () => fold(true));
    one("#fold").addEventListener("click", () => fold(false));
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = all("details:not(.hit):not([open])");
      closed.forEach((part) => { part.open = true; });
    });
    addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));

    const go = (selector) => { if (one(selector).href) location.href = one(selector).href; };
    bind((key) => ({
      j: () => go("#after"), ArrowRight: () => go("#after"), k: () => go("#before"), ArrowLeft: () => go("#before"),
      u: () => go("#up"), o: () => fold(!foldable.some((part) => part.open)),
      "/": () => {
        const state = new URLSearchParams(up.hash.slice(1));
        state.set("focus", "1");
        location.href = up.pathname + "#" + state;
      },
      0: () => choose("all"),
    })[key] || (/^[1-9]$/.test(key) && buttons.some((button) => button.dataset.pass === key) && (() => choose(key))));
  }
}
