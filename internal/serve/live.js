// Follows the news: asks for the page again and again, which costs nothing while it has not
// changed, and puts what is new in its place, so that what was unfolded or scrolled stays.
const bar = document.querySelector("nav.bar");
let failures = 0, asking = false, next;

async function follow() {
  if (asking || document.hidden) return;
  asking = true;
  clearTimeout(next);
  try {
    const answer = await fetch(location.pathname + location.search, { headers: { "If-None-Match": bar.dataset.tag } });
    if (answer.status !== 304) {
      if (!answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of ["nav.bar", "main"]) patch(document.querySelector(part), page.querySelector(part));
      for (const form of document.forms) form.dispatchEvent(new Event("input")); // a filter filters what is new, too
    }
    failures = 0;
  } catch {
    failures++;
  }
  bar.querySelector(".gone").hidden = failures < 2;
  next = setTimeout(follow, Math.min(bar.dataset.every * 2 ** failures, 30000));
  asking = false;
}

// What an element is known by, and the one that is the same among a node and those behind it.
const known = (n) => n.id || n.getAttribute?.("aria-labelledby") || "";
const alike = (a, b) => a.nodeName === b.nodeName && known(a) === known(b);
function find(at, now) {
  if (!at || alike(at, now)) return at;
  if (now.nodeType !== 1) return null;
  const same = (n) => alike(n, now) && (known(now) || n.getAttribute("class") === now.getAttribute("class"));
  let n = at.nextSibling;
  while (n && !same(n)) n = n.nextSibling;
  return n;
}

// What is unfolded or hidden is the business of the reader and of the page's own scripts.
const theirs = (name) => name === "open" || name === "hidden";

function patch(old, now) {
  if (old.nodeType !== 1) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  for (const { name, value } of now.attributes) if (!theirs(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!theirs(name) && !now.hasAttribute(name)) old.removeAttribute(name);
  let at = old.firstChild;
  for (const child of [...now.childNodes]) {
    const same = find(at, child);
    if (!same) {
      old.insertBefore(child, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    patch(same, child);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

document.addEventListener("visibilitychange", follow);
follow();
