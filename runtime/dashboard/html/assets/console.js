/** Optional enhancements of every dashboard page. */

const bar = document.querySelector('header.bar')
const ownZone = bar?.getAttribute('data-time-zone') ?? undefined
const local = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', timeZone: ownZone })
const utc = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', timeZone: 'UTC' })
const dateOnly = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: ownZone })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const DAY_MS = 86_400_000
const MAX_RELATIVE_MS = 30 * DAY_MS

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/** Shows relative times, such as "3 minutes ago", with the full time in the member's time zone, or else the browser's, and in UTC on hover. */
function showTimes() {
  for (const time of document.querySelectorAll('time[data-relative]')) {
    const instant = Date.parse(time.getAttribute('datetime') ?? '')
    if (Number.isNaN(instant)) continue
    time.setAttribute('title', [...new Set([local.format(instant), utc.format(instant)])].join('\n'))
    time.textContent = formatRelative(instant)
  }
}

/** @param {number} instant milliseconds */
function formatRelative(instant) {
  const distance = instant - Date.now()
  if (Math.abs(distance) > MAX_RELATIVE_MS) return dateOnly.format(instant)
  const [unit, ms] = UNITS.find((each) => Math.abs(distance) >= each[1]) ?? ['second', 1000]
  return relative.format(Math.round(distance / ms), unit)
}

const ID = /^[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Adds a Copy button to IDs and secrets if the clipboard is available. */
function offerCopies() {
  if (!navigator.clipboard) return
  for (const shown of document.querySelectorAll('main code:not([data-copied]), main h1:not([data-copied])')) {
    const text = shown.getAttribute('title') ?? shown.textContent ?? ''
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

/** Screen readers announce changes of a status, but not one that the page starts with. */
function announceToast() {
  const text = document.querySelector('.toast span')
  text?.replaceChildren(text.textContent)
}

const OFFERED = 'time zone offered'

/** Offers the time zone of the browser, once, to a member who has not chosen one. */
function offerTimeZone() {
  const offer = document.querySelector('form.offer')
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  const [text, button] = [offer?.querySelector('p'), offer?.querySelector('button')]
  if (!(offer instanceof HTMLElement) || !text || !button) return
  if (/^(Etc\/)?(UTC|GMT)$/.test(timeZone) || localStorage.getItem(OFFERED) !== null) return
  localStorage.setItem(OFFERED, timeZone)
  text.textContent = `Times are shown in UTC. Change to ${timeZone.replaceAll('_', ' ')}?`
  button.value = timeZone
  offer.hidden = false
}

announceToast()
offerTimeZone()
for (const show of [showTimes, offerCopies]) {
  show()
  document.addEventListener('rows', show)
}

setInterval(showTimes, 60_000)
