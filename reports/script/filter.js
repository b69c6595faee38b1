// The filters above the matrix: by lock and by fault, with * for anything, and by outcome.
{
  const form = document.querySelector('form.filter');
  const pattern = text => {
    const words = text.split(',').map(w => w.trim()).filter(Boolean);
    const each = words.map(w => new RegExp('^' + w.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*') + '$'));
    return name => each.length === 0 || each.some((e, i) => e.test(name) || !words[i].includes('*') && name.includes(words[i]));
  };
  const apply = () => {
    const lock = pattern(form.elements.lock.value), fault = pattern(form.elements.fault.value);
    const picked = new Set([...form.querySelectorAll('input[name=outcome]')].filter(b => b.checked).map(b => b.value));
    const every = form.querySelectorAll('input[name=outcome]:not(:checked)').length === 0;
    let shown = 0, all = 0;
    for (const x of document.querySelectorAll('[data-lock]')) x.classList.toggle('filtered', !lock(x.dataset.lock));
    for (const x of document.querySelectorAll('[data-faults]')) {
      const n = x.dataset.faults.split(', ').filter(fault).length;
      x.colSpan = Math.max(n, 1);
      x.classList.toggle('filtered', n === 0);
    }
    for (const x of document.querySelectorAll('[data-fault]')) {
      const other = x.dataset.outcome !== undefined && !every && !picked.has(x.dataset.outcome);
      const cell = x.matches('.matrix td');
      x.classList.toggle('unpicked', cell && other);
      x.classList.toggle('filtered', !fault(x.dataset.fault) || other && !cell || x.dataset.lock !== undefined && !lock(x.dataset.lock));
      if (cell && x.dataset.outcome !== undefined) {
        all++;
        if (!other && !x.closest('.filtered')) shown++;
      }
    }
    form.querySelector('output').textContent = shown === all ? '' : `${shown} of ${all} cells`;
  };
  if (form) {
    form.hidden = false;
    form.addEventListener('input', apply);
    form.addEventListener('submit', e => e.preventDefault());
    apply();
  }
}
