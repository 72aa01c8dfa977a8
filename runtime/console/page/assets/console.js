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

showTimes()
document.addEventListener('rows', showTimes)
