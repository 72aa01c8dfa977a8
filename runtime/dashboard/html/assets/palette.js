/** The command palette: finds pages, records, and actions. Without it, the search form of the header leads to the search page. */

/**
 * @typedef {object} Found
 * @property {string} kind
 * @property {string} title
 * @property {string} about
 * @property {string} href Empty for a button of the page.
 * @property {HTMLElement} [button]
 */

const WAIT_MS = 120
const MAX_RECENT = 8
const MAX_OF_KIND = 6
const RECENT = 'recent pages'

const bar = document.querySelector('header.bar')
const searchForm = bar?.querySelector('form.find')
const member = bar?.getAttribute('data-member') ?? ''

/**
 * Creates an element.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} content
 */
function make(name, attributes, ...content) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...content)
  return made
}

/** Returns the pages that the member visited in this tab, most recent first. Pages of another member are forgotten. */
function readRecent() {
  const stored = JSON.parse(sessionStorage.getItem(RECENT) ?? '{}')
  return /** @type {Found[]} */ (stored.member === member ? stored.pages : [])
}

function rememberPage() {
  const { pathname, search } = location
  const kind = document.querySelector('main .trail')?.textContent ?? ''
  const page = {
    kind: 'Recently visited',
    title: document.title,
    about: kind.trim(),
    href: pathname + search,
  }
  const others = readRecent().filter(({ href }) => href !== page.href)
  sessionStorage.setItem(
    RECENT,
    JSON.stringify({ member, pages: [page, ...others].slice(0, MAX_RECENT + 1) }),
  )
}

/** Returns the links and buttons beside the heading of the page. @returns {Found[]} */
function pageActions() {
  const shown = document.querySelectorAll('main .heading .actions :is(a, button)')
  return [...shown].flatMap((each) => {
    if (!(each instanceof HTMLElement)) return []
    const href = each instanceof HTMLAnchorElement ? each.href : ''
    return [{ kind: 'This page', title: each.textContent.trim(), about: document.title, href, button: each }]
  })
}

/** Returns what to offer before anything is typed. @returns {Found[]} */
function suggest() {
  const here = location.pathname + location.search
  const recent = readRecent().filter(({ href }) => href !== here)
  const pages = [...document.querySelectorAll('nav.menu li a')].flatMap((each) =>
    each instanceof HTMLAnchorElement
      ? [{ kind: 'Pages', title: each.textContent.trim(), about: '', href: each.href }]
      : [],
  )
  return [...pageActions(), ...recent, ...(recent.length > 0 ? [] : pages)]
}

/** @param {HTMLFormElement} form the search form of the header */
function createPalette(form) {
  const list = make('div', { role: 'listbox', id: 'palette-list', 'aria-label': 'Results' })
  const status = make('p', { role: 'status', class: 'quiet' })
  const input = make('input', {
    type: 'search',
    name: 'q',
    role: 'combobox',
    'aria-label': 'Search',
    'aria-autocomplete': 'list',
    'aria-controls': list.id,
    'aria-expanded': 'true',
    autocomplete: 'off',
    placeholder: 'Search for a page, a record, or an action',
  })
  const own = make('form', { method: 'get', action: form.action, role: 'search' }, input)
  const dialog = make('dialog', { class: 'palette', 'aria-label': 'Search' }, own, list, status)
  document.body.append(dialog)

  let active = -1
  let asked = 0
  /** @type {AbortController | undefined} */
  let loading
  const options = () => /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role=option]')])

  /** @param {number} index position in the list, -1 for none */
  const mark = (index) => {
    const all = options()
    active = index
    for (const [at, option] of all.entries()) option.setAttribute('aria-selected', String(at === index))
    input.setAttribute('aria-activedescendant', all[index]?.id ?? '')
    all[index]?.scrollIntoView({ block: 'nearest' })
  }

  /** @param {Found[]} found */
  const show = (found) => {
    const groups = [...Map.groupBy(found, ({ kind }) => kind)].map(([kind, items], group) => {
      const name = make('p', { id: `palette-${group}`, role: 'presentation' }, kind)
      const shown = items.slice(0, MAX_OF_KIND).map(({ title, about, href, button }, index) => {
        const id = `palette-${group}-${index}`
        const content = [make('span', {}, title), make('span', { class: 'quiet' }, about)]
        if (href !== '') return make('a', { role: 'option', id, href, tabindex: '-1' }, ...content)
        const option = make('div', { role: 'option', id }, ...content)
        option.addEventListener('click', () => {
          dialog.close()
          button?.click()
        })
        return option
      })
      return make('div', { role: 'group', 'aria-labelledby': name.id }, name, ...shown)
    })
    list.replaceChildren(...groups)
    mark(found.length > 0 ? 0 : -1)
  }

  const load = async () => {
    const text = input.value.trim()
    loading?.abort()
    if (text === '') {
      status.textContent = ''
      return show(suggest())
    }
    loading = new AbortController()
    const { signal } = loading
    const words = text.toLowerCase().split(/\s+/)
    const own = pageActions().filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
    try {
      const address = `${form.action}?${new URLSearchParams({ q: text })}`
      const response = await fetch(address, { signal, headers: { Accept: 'application/json' } })
      const { items } = await response.json()
      const found = [...own, ...items]
      show(found)
      status.textContent = found.length === 0 ? 'No results found.' : ''
    } catch (error) {
      if (signal.aborted) return
      console.warn(error)
      show(own)
      status.textContent = 'The search failed. Press Enter to open the search page.'
    }
  }

  input.addEventListener('input', () => {
    // Until the results of the new text are here, Enter opens the search page.
    mark(-1)
    clearTimeout(asked)
    asked = window.setTimeout(load, WAIT_MS)
  })
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const { length } = options()
    if (step !== undefined && length > 0) mark((Math.max(active + step, -1) + length) % length)
    else if (event.key === 'Enter' && active >= 0) options()[active]?.click()
    // Otherwise the search field only clears its text.
    else if (event.key === 'Escape') dialog.close()
    else return
    event.preventDefault()
  })
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
  // Browsers restore the focus themselves.
  dialog.addEventListener('close', () => loading?.abort())

  return () => {
    if (dialog.open) return
    input.value = ''
    show(suggest())
    status.textContent = ''
    dialog.showModal()
    input.focus()
  }
}

if (searchForm instanceof HTMLFormElement) {
  /** @type {(() => void) | undefined} */
  let open
  const start = () => {
    open ??= createPalette(searchForm)
    open()
  }
  /** @param {Event} event */
  const startInstead = (event) => {
    event.preventDefault()
    start()
  }
  rememberPage()
  searchForm.querySelector('input')?.addEventListener('click', start)
  bar?.querySelector('.to-search')?.addEventListener('click', startInstead)
  document.addEventListener('keydown', (event) => {
    if (
      event.key.toLowerCase() === 'k' &&
      (event.ctrlKey || event.metaKey) &&
      !event.altKey &&
      !event.shiftKey
    )
      startInstead(event)
  })
  // The shortcut "/", see keys.js.
  searchForm.addEventListener('shortcut', startInstead)
}
