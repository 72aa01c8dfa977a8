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
