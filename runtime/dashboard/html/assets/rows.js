/** Opens, selects, and walks through the rows of lists with the mouse and the keyboard. Links and checkboxes work without this script. */

/** @param {Element | null} row */
function linkOf(row) {
  const cell = row?.querySelector('td:not(.select)')
  return cell?.querySelector('a')
}

for (const table of document.querySelectorAll('main table')) table.classList.add('opens')

document.addEventListener('click', (event) => {
  if (!(event.target instanceof Element) || event.button !== 0) return
  if (event.target.closest('a, button, input, label, summary, select')) return
  const link = linkOf(event.target.closest('main tbody tr'))
  if (!link || getSelection()?.toString()) return
  const { ctrlKey, metaKey, shiftKey } = event
  link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }))
})

/** Adds a checkbox to the header that selects all rows, and counts the selected rows. */
function offerSelection() {
  const header = document.querySelector('main th.select')
  const count = document.querySelector('.bulk .count')
  if (!header || !count) return
  const boxes = () =>
    [...document.querySelectorAll('td.select input')].filter((box) => box instanceof HTMLInputElement)
  const all = document.createElement('input')
  all.type = 'checkbox'
  all.setAttribute('aria-label', 'Select all rows')
  header.replaceChildren(all)
  const show = () => {
    const chosen = boxes().filter((box) => box.checked).length
    all.checked = chosen > 0 && chosen === boxes().length
    all.indeterminate = chosen > 0 && !all.checked
    count.textContent = `Selected: ${chosen}`
  }
  all.addEventListener('change', () => {
    for (const box of boxes()) box.checked = all.checked
    show()
  })
  document.addEventListener('change', (event) => {
    if (event.target instanceof Element && event.target.closest('td.select')) show()
  })
  show()
}

offerSelection()

/** @param {number} step 1 for the next row, -1 for the previous one */
function move(step) {
  const rows = [...document.querySelectorAll('main tbody tr')]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const row = rows[at < 0 ? 0 : at + step]
  if (!(row instanceof HTMLElement)) return
  row.tabIndex = -1
  row.focus()
  row.scrollIntoView({ block: 'nearest' })
}

function openExport() {
  const place = document.querySelector('details.export')
  if (!(place instanceof HTMLDetailsElement)) return
  place.open = true
  place.querySelector('a')?.focus()
}

/** @type {Readonly<Record<string, (row: Element | null) => void>>} */
const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  Enter: (row) => linkOf(row)?.click(),
  x: (row) => {
    const box = row?.querySelector('td.select input')
    if (box instanceof HTMLInputElement) box.click()
  },
  e: openExport,
  '/': () => {
    const field = document.querySelector('.find input')
    if (field instanceof HTMLElement) field.focus()
  },
}

document.addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event
  if (ctrlKey || metaKey || altKey || event.defaultPrevented || !(target instanceof HTMLElement)) return
  if (target.closest('dialog, select, textarea, [contenteditable], input:not([type="checkbox"])')) return
  const act = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined
  // Enter on a link, a button, or a checkbox keeps its meaning.
  if (!act || (key === 'Enter' && target.localName !== 'tr')) return
  event.preventDefault()
  act(target.closest('main tbody tr'))
})

// Escape closes the filters and other boxes, and returns the focus to their button.
document.addEventListener('keydown', (event) => {
  const open = document.querySelector('details.pops[open]')
  if (event.key !== 'Escape' || !(open instanceof HTMLDetailsElement)) return
  open.open = false
  open.querySelector('summary')?.focus()
})
