/**
 * Adds what concerns the reader's account to a documentation page. The page itself is the same for all readers, so the
 * server sends these parts separately, for the session of the reader.
 */
const [, page] = /^\/docs\/(errors|upgrading\/[^/]+\/[^/]+)$/.exec(location.pathname) ?? []

/** @type {Readonly<Record<string, string>>} */
const PURPOSES = {
  errors: 'to see your own request here',
  upgrading: 'to see how many of your requests each change affects',
}

/** @param {string} text */
function writeNote(text) {
  const note = document.createElement('p')
  note.className = 'own'
  note.append(text)
  return note
}

/** @param {string} code */
function writeSignIn(code) {
  const query = new URLSearchParams(location.search)
  if (code !== '') query.set('code', code)
  const link = document.createElement('a')
  link.href = `/sign-in?${new URLSearchParams({ return_to: `${location.pathname}?${query}` })}`
  link.append('Sign in')
  const note = writeNote('')
  note.append(link, ` ${PURPOSES[location.pathname.split('/')[2] ?? '']}.`)
  note.dataset.after = code
  return note
}

/** Returns the parts for the reader. Each names the element that it follows. @param {string} code */
async function readParts(code) {
  const query = new URLSearchParams(location.search)
  if (code !== '') query.set('code', code)
  // A reader without a session is redirected to the sign-in page.
  const response = await fetch(`/docs/account/${page}?${query}`, { redirect: 'manual' })
  if (response.type === 'opaqueredirect') return [writeSignIn(code)]
  if (response.status === 403) return [writeNote('Your role cannot see the request log.')]
  if (!response.ok && response.status !== 404) return []
  const parsed = new DOMParser().parseFromString(await response.text(), 'text/html')
  return /** @type {HTMLElement[]} */ ([...parsed.body.children])
}

async function show() {
  const code =
    decodeURIComponent(location.hash.slice(1)) || (new URLSearchParams(location.search).get('code') ?? '')
  const parts = await readParts(code)
  for (const old of document.querySelectorAll('.own')) old.remove()
  for (const part of parts) {
    const { after = '' } = part.dataset
    const named = after === '' ? null : document.querySelector(`main #${CSS.escape(after)}`)
    const place = named ?? document.querySelector('main h1')
    place?.after(part)
  }
  const asked = document.querySelector('.own.asked')
  if (asked && location.hash === '') asked.previousElementSibling?.scrollIntoView()
}

if (page) {
  show()
  addEventListener('hashchange', () => {
    if (page === 'errors') show()
  })
  document.addEventListener('submit', (event) => {
    if (!(event.target instanceof HTMLFormElement) || !event.target.matches('.own form')) return
    event.preventDefault()
    const id = String(new FormData(event.target).get('request')).trim()
    location.assign(`${location.pathname}?${new URLSearchParams({ request: id })}`)
  })
}
