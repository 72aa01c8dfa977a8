/** Opens the record of a table row when the row is clicked. The link in the first column works without this script. */

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
