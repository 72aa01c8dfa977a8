/** Inserts new rows at the top of the page's table until the user pauses the updates. */

const MAX_ROWS = 200

const place = document.querySelector('[data-rows]')
const address = place?.getAttribute('data-rows')

/** @param {Element} place @param {string} address */
function follow(place, address) {
  const said = document.createElement('span')
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'second'
  place.append(said, button)

  /** @type {EventSource | undefined} */
  let source
  let last = ''

  /** @param {MessageEvent<string>} message */
  const add = (message) => {
    last = message.lastEventId
    const rows = document.querySelector('tbody')
    if (!rows) return location.reload() // the page has no table yet
    // The service renders the rows and has escaped all user input.
    rows.insertAdjacentHTML('afterbegin', message.data)
    while (rows.childElementCount > MAX_ROWS) rows.lastElementChild?.remove()
    rows.firstElementChild?.classList.add('new')
    document.dispatchEvent(new CustomEvent('rows'))
  }
  const start = () => {
    const from = new URL(address, location.href)
    if (last !== '') from.searchParams.set('after', last)
    source = new EventSource(from)
    source.onopen = () => say('Live: new rows appear automatically.', 'Pause updates')
    source.onmessage = add
    source.onerror = () => {
      const isOver = source?.readyState === EventSource.CLOSED
      if (isOver) source = undefined
      say(
        isOver ? 'The connection was closed.' : 'The connection was lost. Reconnecting…',
        isOver ? 'Resume updates' : 'Pause updates',
      )
    }
  }
  const stop = () => {
    source?.close()
    source = undefined
    say('Paused.', 'Resume updates')
  }
  /** @param {string} text @param {string} action */
  const say = (text, action) => {
    said.textContent = text
    button.textContent = action
  }
  say('Connecting…', 'Pause updates')
  button.addEventListener('click', () => (source ? stop() : start()))
  start()
}

if (place && address) follow(place, address)
