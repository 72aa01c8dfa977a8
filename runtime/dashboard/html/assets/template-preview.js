/** Keeps the preview of a template as what is typed. Without it there is a button. */

const PAUSE_MS = 350

const form = /** @type {HTMLFormElement | null} */ (document.querySelector('form[data-preview]'))
// Of a browser that does not know shadow roots in documents, the button stays.
if (form && 'parseHTMLUnsafe' in Document) watch(form)

/** @param {HTMLFormElement} form */
function watch(form) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause
  /** @type {AbortController | undefined} */
  let asked
  form.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(() => {
      asked?.abort()
      asked = new AbortController()
      void refresh(form, asked.signal)
    }, PAUSE_MS)
  })
}

/**
 * @param {HTMLFormElement} form
 * @param {AbortSignal} signal
 */
async function refresh(form, signal) {
  const body = new FormData(form)
  body.set('do', 'preview')
  try {
    const answer = await fetch(form.action, { method: 'POST', body, signal })
    if (!answer.ok) return
    const fresh = Document.parseHTMLUnsafe(await answer.text()).querySelector('#preview')
    if (!fresh) return
    await show(document.adoptNode(fresh))
  } catch (error) {
    // Another one is on its way, or the next input asks again.
    if (!(error instanceof DOMException || error instanceof TypeError)) throw error
  }
}

/** Its style sheets are loaded before it takes the place of the old one. @param {Element} fresh */
async function show(fresh) {
  const old = document.querySelector('#preview')
  if (!old) return
  fresh.setAttribute('hidden', '')
  fresh.id = 'preview-next'
  old.after(fresh)
  const links = [...fresh.querySelectorAll('.pass-preview')].flatMap((host) => [
    ...(host.shadowRoot?.querySelectorAll('link') ?? []),
  ])
  await Promise.all(
    links.map(
      (link) =>
        link.sheet ??
        new Promise((resolve) => {
          for (const event of ['load', 'error']) link.addEventListener(event, resolve, { once: true })
        }),
    ),
  )
  old.remove()
  fresh.id = 'preview'
  fresh.removeAttribute('hidden')
}
