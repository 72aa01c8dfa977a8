/** Turns pickers into comboboxes (ARIA Authoring Practices Guide, editable combobox with list autocomplete). */

/** @typedef {{ id: string, name: string, about: string }} Option */

const WAIT_MS = 150

/** @param {HTMLElement} place the element of a picker */
function improve(place) {
  const input = place.querySelector('input[type="text"]')
  const lookup = place.dataset.lookup
  if (!(input instanceof HTMLInputElement) || lookup === undefined) return
  const typed = input.name
  const isRequired = place.dataset.required !== undefined
  const picked = document.createElement('input')
  picked.type = 'hidden'
  picked.name = place.dataset.picker ?? ''
  const list = document.createElement('ul')
  list.id = `${input.id}-options`
  list.className = 'options'
  list.hidden = true
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', input.labels?.[0]?.textContent ?? '')
  const status = document.createElement('p')
  status.className = 'visually-hidden'
  status.setAttribute('role', 'status')
  const frame = document.createElement('div')
  frame.className = 'combobox'
  input.replaceWith(frame)
  frame.append(input, list, picked)
  frame.after(status)
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': list.id,
    'aria-autocomplete': 'list',
  }))
    input.setAttribute(name, value)

  /** @type {Option[]} */
  let options = []
  let active = -1
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let asked = 0

  /** The text field is submitted only if no record is picked. */
  const pick = (/** @type {string} */ id, /** @type {string} */ name) => {
    picked.value = id
    input.value = name
    input.name = ''
    close()
    input.dispatchEvent(new Event('change', { bubbles: true }))
  }
  const unpick = () => {
    picked.value = ''
    input.name = typed
    for (const radio of place.querySelectorAll('input[type="radio"]'))
      if (radio instanceof HTMLInputElement) radio.checked = false
  }
  const close = () => {
    list.hidden = true
    active = -1
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
  }
  const activate = (/** @type {number} */ index) => {
    list.children[active]?.setAttribute('aria-selected', 'false')
    active = (index + options.length) % options.length
    const shown = list.children[active]
    shown?.setAttribute('aria-selected', 'true')
    shown?.scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', shown?.id ?? '')
  }
  const show = () => {
    list.replaceChildren(
      ...options.map(({ name, about }, index) => {
        const item = document.createElement('li')
        item.id = `${list.id}-${index}`
        item.setAttribute('role', 'option')
        item.setAttribute('aria-selected', 'false')
        const text = document.createElement('span')
        text.className = 'quiet'
        text.textContent = about
        item.append(name, ' ', text)
        item.addEventListener('mousedown', (event) => {
          event.preventDefault()
          choose(index)
        })
        return item
      }),
    )
    active = -1
    list.hidden = options.length === 0
    input.setAttribute('aria-expanded', String(options.length > 0))
    status.textContent =
      options.length === 0 ? 'No results' : `${options.length} result${options.length === 1 ? '' : 's'}`
  }
  const choose = (/** @type {number} */ index) => {
    const option = options[index]
    if (option) pick(option.id, option.name)
  }
  const find = async () => {
    const turn = ++asked
    const address = new URL(lookup, location.href)
    address.searchParams.set('q', picked.value === '' ? input.value.trim() : '')
    const response = await fetch(address, { headers: { Accept: 'application/json' } })
    if (turn !== asked || !response.ok || document.activeElement !== input) return
    options = await response.json()
    show()
  }
  const findSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(find, WAIT_MS)
  }

  input.addEventListener('input', () => {
    unpick()
    findSoon()
  })
  input.addEventListener('focus', () => input.select())
  input.addEventListener('click', () => list.hidden && find())
  input.addEventListener('blur', close)
  input.addEventListener('keydown', (event) => {
    const isOpen = !list.hidden
    if (event.key === 'Escape' && isOpen) close()
    else if (event.key === 'Enter' && isOpen && active >= 0) choose(active)
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (isOpen) activate(event.key === 'ArrowDown' ? active + 1 : active < 0 ? -1 : active - 1)
      else find()
    } else return
    event.preventDefault()
  })

  const offered = place.querySelector('.offered.picked')
  const radio = offered?.querySelector('input:checked')
  if (radio instanceof HTMLInputElement) {
    pick(radio.value, radio.dataset.text ?? '')
    offered?.remove()
  }
  if (isRequired) input.required = place.querySelector('.offered') === null
}

for (const place of document.querySelectorAll('[data-picker]'))
  if (place instanceof HTMLElement) improve(place)
