/** Enhances the form of an operation and the filters of a list: pickers, conditional fields, rows, and the API call. */

const WAIT_MS = 200

/** @typedef {{ id: string, name: string, about: string }} Option */

/**
 * Turns a picker into a combobox (ARIA Authoring Practices Guide, editable combobox with list autocomplete).
 *
 * @param {HTMLElement} place the element of the picker
 */
function improvePicker(place) {
  const input = place.querySelector('input[type="text"]')
  const { lookup, picker: name = '', many, required } = place.dataset
  if (!(input instanceof HTMLInputElement) || lookup === undefined) return
  const isMany = many !== undefined
  const typed = input.name
  const picked = document.createElement('input')
  picked.type = 'hidden'
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
  for (const [key, value] of Object.entries({
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': list.id,
    'aria-autocomplete': 'list',
  }))
    input.setAttribute(key, value)

  /** @type {Option[]} */
  let options = []
  let active = -1
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let asked = 0

  const close = () => {
    clearTimeout(timer)
    asked++
    list.hidden = true
    active = -1
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
  }
  const pick = (/** @type {Option} */ { id, name: text }) => {
    close()
    if (isMany) addPicked(place, name, id, text)
    else {
      unpick()
      // The text field is submitted only if no record is picked.
      picked.name = name
      picked.value = id
      input.name = ''
    }
    input.value = isMany ? '' : text
    input.dispatchEvent(new Event('change', { bubbles: true }))
  }
  const unpick = () => {
    picked.name = ''
    picked.value = ''
    input.name = typed
    for (const radio of place.querySelectorAll('input[type="radio"]'))
      if (radio instanceof HTMLInputElement) radio.checked = false
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
    list.replaceChildren(...options.map((option, index) => writeOption(option, `${list.id}-${index}`, pick)))
    active = -1
    list.hidden = options.length === 0
    input.setAttribute('aria-expanded', String(options.length > 0))
    status.textContent =
      options.length === 0 ? 'No results' : `${options.length} result${options.length === 1 ? '' : 's'}`
  }
  const find = async () => {
    const turn = ++asked
    const address = new URL(lookup, location.href)
    address.searchParams.set('q', picked.value === '' ? input.value.trim() : '')
    const response = await fetch(address, { headers: { Accept: 'application/json' } })
    if (turn !== asked || !response.ok) return
    options = await response.json()
    if (turn === asked) show()
  }

  input.addEventListener('input', () => {
    if (!isMany) unpick()
    clearTimeout(timer)
    timer = setTimeout(find, WAIT_MS)
  })
  input.addEventListener('click', () => list.hidden && find())
  input.addEventListener('blur', close)
  input.addEventListener('keydown', (event) => {
    const isOpen = !list.hidden
    const option = options[active]
    if (event.key === 'Escape' && isOpen) close()
    else if (event.key === 'Enter' && isOpen && option) pick(option)
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (isOpen) activate(event.key === 'ArrowDown' ? active + 1 : active < 0 ? -1 : active - 1)
      else find()
    } else return
    event.preventDefault()
  })

  const offered = place.querySelector('.offered.picked')
  const radio = offered?.querySelector('input:checked')
  if (radio instanceof HTMLInputElement) {
    picked.name = name
    picked.value = radio.value
    input.name = ''
    input.value = radio.dataset.text ?? ''
    offered?.remove()
  }
  if (!isMany && required !== undefined) input.required = place.querySelector('.offered') === null
}

/** @param {Option} option @param {string} id @param {(option: Option) => void} pick */
function writeOption(option, id, pick) {
  const item = document.createElement('li')
  item.id = id
  item.setAttribute('role', 'option')
  item.setAttribute('aria-selected', 'false')
  const about = document.createElement('span')
  about.className = 'quiet'
  about.textContent = option.about
  item.append(option.name, ' ', about)
  item.addEventListener('mousedown', (event) => {
    event.preventDefault()
    pick(option)
  })
  return item
}

/** Adds a checked box to a picker of several records. @param {HTMLElement} place @param {string} name @param {string} id @param {string} text */
function addPicked(place, name, id, text) {
  let list = place.querySelector('.offered')
  if (!list) {
    list = document.createElement('ul')
    list.className = 'offered many'
    list.setAttribute('role', 'group')
    place.querySelector('.combobox')?.before(list)
  }
  const known = [...list.querySelectorAll('input')].find((each) => each.value === id)
  if (known) {
    known.checked = true
    return
  }
  const box = document.createElement('input')
  box.type = 'checkbox'
  box.name = name
  box.value = id
  box.checked = true
  const label = document.createElement('label')
  label.append(box, ` ${text}`)
  const item = document.createElement('li')
  item.setAttribute('role', 'presentation')
  item.append(label)
  list.append(item)
}

/** Hides the fields whose condition is not met, and the fieldsets without visible fields. @param {HTMLFormElement} form */
function showConditional(form) {
  const data = new FormData(form)
  for (const place of form.querySelectorAll('[data-when]')) {
    if (!(place instanceof HTMLElement)) continue
    const { when = '', is, isNot } = place.dataset
    const value = data.get(when)
    place.hidden = is === undefined ? value === isNot : value !== is
  }
  for (const fields of form.querySelectorAll('fieldset')) {
    const own = [...fields.querySelectorAll('.field')].filter((field) => field !== fields)
    fields.hidden =
      own.length > 0 && own.every((field) => field.parentElement?.closest('[hidden]:not(fieldset)'))
  }
}

/**
 * Sends the form to the server without submitting it, and returns the page that shows it again. Undefined if the page
 * has no form, for example because the session has ended.
 *
 * @param {HTMLFormElement} form
 * @param {string} change
 */
async function showAgain(form, change) {
  const data = new FormData(form)
  data.delete('code')
  data.set('change', change)
  for (const [name, value] of [...data]) if (typeof value !== 'string') data.delete(name)
  const isMultipart = form.enctype === 'multipart/form-data'
  // @ts-expect-error The entries are strings: files were removed.
  const body = isMultipart ? data : new URLSearchParams(data)
  const response = await fetch(form.action, { method: 'POST', body })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  return page.querySelector('form.operation') ? page : undefined
}

/** Adds or removes a row, or fills in an example. @param {HTMLFormElement} form @param {string} change */
async function changeRows(form, change) {
  const shown = (await showAgain(form, change))?.querySelector('form.operation')
  if (!(shown instanceof HTMLFormElement)) return location.reload()
  form.replaceWith(shown)
  improve(shown)
  const rows = document.getElementById(change.split(':')[1] ?? '')
  const row = [...(rows?.querySelectorAll('.row') ?? [])].at(-1)
  const button = shown.querySelector(`button[value="${CSS.escape(change)}"]`)
  const next = change.startsWith('add:') ? row?.querySelector('input') : (rows ?? button)
  if (next instanceof HTMLElement) next.focus()
  document.dispatchEvent(new CustomEvent('rows'))
}

/** Returns the form of the page, which changes when rows are added or removed. */
function findForm() {
  const form = document.querySelector('form.operation')
  return form instanceof HTMLFormElement ? form : undefined
}

/** Keeps the API call below the form up to date while it is open. */
function followCall() {
  const details = document.querySelector('details.call')
  const place = details?.querySelector('.calls')
  if (!(details instanceof HTMLDetailsElement) || !place) return
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let turn = 0
  const update = async () => {
    const own = ++turn
    const form = findForm()
    const calls = form && (await showAgain(form, 'call'))?.querySelector('.calls')
    if (own === turn && calls) place.replaceChildren(...calls.childNodes)
  }
  const updateSoon = () => {
    clearTimeout(timer)
    if (details.open) timer = setTimeout(update, WAIT_MS)
  }
  details.addEventListener('toggle', updateSoon)
  for (const type of ['input', 'change', 'rows']) document.addEventListener(type, updateSoon)
}

/** @param {HTMLFormElement} form */
function improve(form) {
  for (const place of form.querySelectorAll('[data-picker]'))
    if (place instanceof HTMLElement) improvePicker(place)
  showConditional(form)
  form.addEventListener('change', () => showConditional(form))
  form.addEventListener('submit', (event) => {
    const { submitter } = event
    if (!(submitter instanceof HTMLButtonElement) || submitter.name !== 'change') return
    event.preventDefault()
    changeRows(form, submitter.value)
  })
}

const operation = findForm()
if (operation) improve(operation)
for (const filters of document.querySelectorAll('form.add'))
  if (filters instanceof HTMLFormElement) improve(filters)
followCall()
