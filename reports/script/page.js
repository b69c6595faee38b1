// A cell's link opens the detail it leads to, also when the page is opened at it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (const fold of [target.closest("details"), target.querySelector("details")]) if (fold) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
addEventListener("load", reveal);
document.addEventListener("click", (e) => {
  const b = e.target.closest("button[data-copy]");
  if (!b || !navigator.clipboard) return;
  navigator.clipboard.writeText(b.previousElementSibling.textContent).then(() => {
    b.textContent = "copied";
    setTimeout(() => { b.textContent = "copy"; }, 1500);
  });
});
