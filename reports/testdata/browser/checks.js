// Says in sentences what is wrong with the page as it stands, on a screen of this
// width. The media are "desktop", "phone" or "paper".
(width, media) => {
  const wrong = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const clip = (s, n) => (s.length > n ? s.slice(0, n - 1) + "…" : s);
  const called = (e) => {
    const names = [...e.classList].map((c) => "." + c).join("");
    return `<${e.localName}${names}> “${clip(e.textContent.trim().replace(/\s+/g, " "), 40)}”`;
  };

  // Colours.
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const colour = (css) => {
    if (!known.has(css)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = css;
      pen.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
      known.set(css, { rgb: [r, g, b], alpha: a / 255 });
    }
    return known.get(css);
  };
  const mix = (under, over, alpha) => under.map((u, i) => u + (over[i] - u) * alpha);
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };

  // The colours that lie behind an element's text: one, or those of its gradient.
  const behind = new Map([[null, [[255, 255, 255]]]]);
  const grounds = (e) => {
    if (!behind.has(e)) {
      const style = getComputedStyle(e), plain = colour(style.backgroundColor);
      const stops = (style.backgroundImage.match(/(rgba?|color|oklab|oklch)\([^()]*\)/g) ?? []).map(colour);
      behind.set(e, grounds(e.parentElement).flatMap((under) => {
        const ground = mix(under, plain.rgb, plain.alpha);
        const drawn = stops.length ? stops.map((s) => mix(ground, s.rgb, s.alpha)) : [ground];
        return drawn.map((d) => mix(under, d, style.opacity));
      }));
    }
    return behind.get(e);
  };
  const opaque = new Map([[null, 1]]);
  const opacity = (e) => {
    if (!opaque.has(e)) opaque.set(e, getComputedStyle(e).opacity * opacity(e.parentElement));
    return opaque.get(e);
  };

  // The same for a text in a picture: the shapes drawn before it, at its ends and middle.
  const shapes = new Map();
  const shapesOf = (svg) => {
    if (!shapes.has(svg)) {
      shapes.set(svg, [...svg.querySelectorAll("rect, circle, ellipse, polygon, path")].filter((s) => !s.closest("defs, clipPath")).map((shape) => {
        const style = getComputedStyle(shape);
        return { shape, fill: style.fill, alpha: style.fillOpacity * opacity(shape), box: shape.getBoundingClientRect(), back: shape.getScreenCTM().inverse() };
      }).filter((s) => !/^(none|url)/.test(s.fill)));
    }
    return shapes.get(svg);
  };
  const groundsInPicture = (text) => {
    const svg = text.ownerSVGElement, box = text.getBoundingClientRect();
    return [box.left + 1, box.left + box.width / 2, box.right - 1].flatMap((x) => grounds(svg).map((ground) => {
      const at = new DOMPoint(x, box.top + box.height / 2);
      for (const { shape, fill, alpha, box: b, back } of shapesOf(svg)) {
        const before = shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
        const near = b.left <= at.x && at.x <= b.right && b.top <= at.y && at.y <= b.bottom;
        if (before && near && shape.isPointInFill(at.matrixTransform(back))) {
          const c = colour(fill);
          ground = mix(ground, c.rgb, c.alpha * alpha);
        }
      }
      return ground;
    }));
  };

  const checkContrast = () => {
    const faint = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
      const e = node.parentElement;
      if (!node.data.trim() || e.closest("script, style, title, desc") || !e.checkVisibility({ checkVisibilityCSS: true })) continue;
      const style = getComputedStyle(e), picture = e instanceof SVGElement;
      const ink = colour(picture ? style.fill : style.color), size = parseFloat(style.fontSize);
      const enough = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
      for (const ground of picture ? groundsInPicture(e) : grounds(e)) {
        const has = contrast(mix(ground, ink.rgb, ink.alpha * opacity(e)), ground);
        if (has < enough) {
          const key = `${e.localName}.${e.className.baseVal ?? e.className} ${has.toFixed(2)}`;
          faint.set(key, { n: (faint.get(key)?.n ?? 0) + 1, says: `contrast ${has.toFixed(2)}, not ${enough}: ${called(e)}` });
          break;
        }
      }
    }
    for (const { n, says } of faint.values()) wrong.push(n > 1 ? `${says} and ${n - 1} more` : says);
  };

  const scrolls = (value) => value === "auto" || value === "scroll";
  const checkScrolling = () => {
    const wide = document.scrollingElement.scrollWidth;
    const contained = (e) => e && (getComputedStyle(e).overflowX !== "visible" || contained(e.parentElement));
    const sticksOut = (e) => {
      const text = document.createRange();
      text.selectNodeContents(e);
      return [e, text].some((x) => x.getBoundingClientRect().right > width + 1) && !contained(e);
    };
    if (wide > width + 1) {
      const culprit = all("body *").findLast(sticksOut);
      wrong.push(`the page is ${wide} pixels wide, the screen ${width}: ${culprit ? called(culprit) : ""}`);
    }
    for (const e of all("body *").filter(shown)) {
      if (e.clientWidth <= 1 && e.clientHeight <= 1) continue; // for those who listen
      const { overflowX, overflowY } = getComputedStyle(e);
      const high = e.scrollHeight > e.clientHeight + 1, broad = e.scrollWidth > e.clientWidth + 1;
      if (media === "phone" && high && scrolls(overflowY)) wrong.push(`scrolls inside of the page that scrolls: ${called(e)}`);
      if (media === "paper" && ((broad && overflowX !== "visible") || (high && overflowY !== "visible"))) wrong.push(`is cut off on paper: ${called(e)}`);
    }
  };

  const checkCells = () => {
    for (const cell of all(".matrix td").filter(shown)) {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode()); ) {
        const text = document.createRange();
        text.selectNodeContents(node);
        const lines = text.getClientRects();
        if (lines.length > 1 || (lines.length && lines[0].width > cell.clientWidth)) wrong.push(`does not fit its cell: ${called(cell)}`);
      }
    }
  };

  const checkOutline = () => {
    const levels = all("h1, h2, h3, h4, h5, h6").map((h) => ({ h, level: +h.localName[1] }));
    levels.forEach(({ h, level }, i) => {
      if (level > (i ? levels[i - 1].level : 0) + 1) wrong.push(`a heading skips a level: ${called(h)}`);
    });
    if (levels.filter((l) => l.level === 1).length !== 1) wrong.push("the page has not one first heading");
    if (!document.title || !document.documentElement.lang) wrong.push("the page has no title or no language");
  };

  const checkNames = () => {
    const ids = all("[id]").map((e) => e.id);
    for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) wrong.push(`the id ${id} stands twice`);
    const exists = new Set(ids);
    for (const e of all("[href^='#'], [aria-labelledby], [aria-describedby], [for]")) {
      const wants = ["aria-labelledby", "aria-describedby", "for"].flatMap((a) => e.getAttribute(a)?.split(" ") ?? []);
      const href = e.getAttribute("href");
      if (href?.length > 1 && href[0] === "#") wants.push(decodeURIComponent(href.slice(1)));
      for (const id of wants) if (!exists.has(id)) wrong.push(`leads to #${id}, which is not there: ${called(e)}`);
    }
    const names = new Map();
    for (const e of all("img, svg[role=img]")) {
      const by = e.getAttribute("aria-labelledby")?.split(" ").map((id) => document.getElementById(id)?.textContent).join(" ");
      const name = (by || e.getAttribute("aria-label") || e.getAttribute("alt") || e.querySelector("title")?.textContent || "").trim();
      if (!name) wrong.push(`a picture has no name: ${called(e)}`);
      else if (names.has(name)) names.set(name, names.get(name) + 1);
      else names.set(name, 1);
    }
    for (const [name, n] of names) if (n > 1) wrong.push(`${n} pictures have the name “${clip(name, 80)}”`);
  };

  const checkTargets = () => {
    for (const e of all(".matrix a, summary, button, select, input").filter(shown)) {
      const { width: w, height: h } = e.getBoundingClientRect();
      if (w < 24 || h < 24) wrong.push(`too small for a thumb, ${Math.round(w)} by ${Math.round(h)} pixels: ${called(e)}`);
    }
  };

  const checkFolds = () => {
    const inside = (d) => [...d.children].filter((e) => e.localName !== "summary" && getComputedStyle(e).display !== "none");
    const folded = all("details").filter((d) => inside(d).some((e) => !e.checkVisibility()));
    if (folded.length) wrong.push(`${folded.length} details are folded on paper: ${called(folded[0])}`);
  };

  checkContrast();
  checkScrolling();
  checkCells();
  if (media === "phone") checkTargets();
  if (media === "paper") checkFolds();
  if (media === "desktop") {
    checkOutline();
    checkNames();
  }
  return wrong;
}
