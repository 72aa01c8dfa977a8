/** Inserts new rows into the page's table and replaces changed rows, until the user pauses the updates. */

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

  /** New rows that wait while the top of the table is out of view. @type {Element[]} */
  let waiting = []
  const more = document.createElement('button')
  more.type = 'button'
  more.className = 'more'
  more.hidden = true
  more.addEventListener('click', () => {
    insert(waiting)
    document.querySelector('table')?.scrollIntoView({ block: 'nearest' })
  })
  place.after(more)

  /** @param {Element[]} rows newest last */
  const insert = (rows) => {
    const body = document.querySelector('tbody')
    for (const row of rows) {
      body?.prepend(row)
      row.classList.add('new')
    }
    while (body && body.childElementCount > MAX_ROWS) body.lastElementChild?.remove()
    waiting = []
    more.hidden = true
    document.dispatchEvent(new CustomEvent('rows'))
  }

  /** @param {string} id @returns {Element | null | undefined} */
  const find = (id) =>
    waiting.find((row) => row.getAttribute('data-id') === id) ??
    document.querySelector(`tbody tr[data-id="${CSS.escape(id)}"]`)

  /** @param {MessageEvent<string>} message */
  const add = (message) => {
    last = message.lastEventId
    const body = document.querySelector('tbody')
    if (!body) return location.reload() // the page has no table yet
    const template = document.createElement('template')
    // The service renders the rows and has escaped all user input.
    template.innerHTML = message.data
    const row = template.content.firstElementChild
    if (!row) return
    const shown = find(row.getAttribute('data-id') ?? '')
    if (shown) return replace(shown, row)
    const newest = waiting.at(-1) ?? body.firstElementChild
    const created = row.getAttribute('data-created') ?? ''
    if (created < (newest?.getAttribute('data-created') ?? '')) return // the row is on a later page
    waiting.push(row)
    if (body.getBoundingClientRect().top >= 0 && !body.contains(document.activeElement))
      return insert(waiting)
    more.textContent = `${waiting.length} new`
    more.hidden = false
  }

  /** @param {Element} shown @param {Element} row */
  const replace = (shown, row) => {
    const was = shown.querySelector('td.select input')
    const box = row.querySelector('td.select input')
    if (was instanceof HTMLInputElement && box instanceof HTMLInputElement) box.checked = was.checked
    const isFocused = shown.contains(document.activeElement)
    if (waiting.includes(shown)) waiting[waiting.indexOf(shown)] = row
    else shown.replaceWith(row)
    if (isFocused && row instanceof HTMLElement) {
      row.tabIndex = -1
      row.focus()
    }
    row.classList.add('new')
    document.dispatchEvent(new CustomEvent('rows'))
  }

  /** @param {MessageEvent<string>} message ID of a record that no longer matches the filters */
  const mark = (message) => {
    last = message.lastEventId
    const row = find(message.data)
    row?.classList.add('unmatched')
    row?.setAttribute('title', 'This record has changed and no longer matches the filters.')
  }
  const start = () => {
    const from = new URL(address, location.href)
    if (last !== '') from.searchParams.set('after', last)
    source = new EventSource(from)
    source.onopen = () => say('Live: new rows appear here.', 'Pause updates')
    source.onmessage = add
    source.addEventListener('unmatched', mark)
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
  let isWanted = true
  button.addEventListener('click', () => {
    isWanted = !source
    if (source) stop()
    else start()
  })
  // Pages in the background do not keep a connection.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      source?.close()
      source = undefined
    } else if (isWanted && !source) start()
  })
  start()
}

if (place && address) follow(place, address)
