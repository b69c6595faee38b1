// The heads of a large matrix that scrolls with the page, not inside of it, stay in sight
// as long as it does: what scrolls sideways can't do that by style alone.
for (const box of document.querySelectorAll(".window")) {
  const head = box.querySelector("thead");
  addEventListener("scroll", () => {
    const { top, bottom } = box.getBoundingClientRect();
    const room = bottom - top - head.offsetHeight - 60; // for a row or two
    const inside = box.scrollHeight > box.clientHeight;
    head.style.translate = inside || top > 0 ? "" : `0 ${Math.min(-top, room)}px`;
  }, { passive: true });
}
