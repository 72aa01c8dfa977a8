/** On every page of the dashboard: what is nice to have and not needed. */

const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Times in the reader's zone, with UTC at hand. */
function showTimes() {
  for (const time of document.querySelectorAll('time[datetime]:not([title])')) {
    const instant = new Date(time.getAttribute('datetime') ?? '')
    if (Number.isNaN(instant.getTime())) continue
    time.setAttribute('title', time.textContent ?? '')
    time.textContent = zoned.format(instant)
  }
}

const ID = /^[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Identifiers are copied with one click, where the browser lets pages copy. */
function offerCopies() {
  if (!navigator.clipboard) return
  for (const shown of document.querySelectorAll('main code:not([data-copied]), main h1:not([data-copied])')) {
    const text = shown.textContent ?? ''
    if (!ID.test(text) && !shown.closest('.secret')) continue
    shown.setAttribute('data-copied', '')
    const place = shown.closest('a') ?? shown
    if (place.localName === 'h1') place.append(copyButton(text))
    else place.after(copyButton(text))
  }
}

/** @param {string} text */
function copyButton(text) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy ${text}`)
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
    button.setAttribute('aria-label', 'Copied')
  })
  return button
}

/** Ctrl-K or ⌘K leads to the search of every page. */
document.addEventListener('keydown', (event) => {
  const field = document.querySelector('.find input')
  if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || !(field instanceof HTMLInputElement)) return
  event.preventDefault()
  field.focus()
  field.select()
})

for (const show of [showTimes, offerCopies]) {
  show()
  document.addEventListener('rows', show)
}
