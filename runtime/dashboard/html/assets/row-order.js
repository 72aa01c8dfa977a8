/** Moves rows of a form by drag and drop, and by their buttons without a reload. Without this script, the buttons reload the page. */

for (const list of document.querySelectorAll('[data-rows]')) offer(list)

/** @param {Element} list */
function offer(list) {
  const rows = [...list.querySelectorAll('.row')]
  /** @type {number | undefined} */
  let dragged
  rows.forEach((row, index) => {
    const handle = row.querySelector('.handle')
    handle?.removeAttribute('hidden')
    handle?.addEventListener('dragstart', (event) => {
      dragged = index
      if (event instanceof DragEvent) event.dataTransfer?.setDragImage(row, 0, 0)
    })
    row.addEventListener('dragover', (event) => dragged !== undefined && event.preventDefault())
    row.addEventListener('drop', (event) => {
      if (dragged === undefined) return
      event.preventDefault()
      move(rows, dragged, index)
      dragged = undefined
    })
    for (const button of row.querySelectorAll('button[value^="up-"], button[value^="down-"]'))
      button.addEventListener('click', (event) => {
        const to = index + (button.getAttribute('value')?.startsWith('up-') ? -1 : 1)
        const next = rows[to]
        // Error messages stay with their values only if the server moves the row.
        if (!next || list.querySelector('[aria-invalid]')) return
        event.preventDefault()
        move(rows, index, to)
        next.querySelector('input')?.focus()
      })
  })
}

/**
 * Moves the values of a row; the controls stay where they are.
 *
 * @param {Element[]} rows
 * @param {number} from
 * @param {number} to
 */
function move(rows, from, to) {
  const values = rows.map((row) => inputsOf(row).map(({ value }) => value))
  values.splice(to, 0, ...values.splice(from, 1))
  rows.forEach((row, index) => {
    for (const [at, input] of inputsOf(row).entries()) input.value = values[index]?.[at] ?? ''
  })
  rows[to]?.dispatchEvent(new Event('input', { bubbles: true }))
}

/** @param {Element} row */
function inputsOf(row) {
  return [
    .../** @type {NodeListOf<HTMLInputElement | HTMLTextAreaElement>} */ (
      row.querySelectorAll('input, textarea')
    ),
  ]
}
