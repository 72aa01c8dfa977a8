/** Updates the preview and the API call while the user types. Without this script, the Update preview button does it. */

const PAUSE_MS = 350

const form = /** @type {HTMLFormElement | null} */ (document.querySelector('form[data-preview]'))
// Browsers without declarative shadow roots use the button.
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
    const page = Document.parseHTMLUnsafe(await answer.text())
    const fresh = page.querySelector('#preview')
    if (!fresh) return
    const calls = page.querySelector('.calls')
    if (calls) document.querySelector('.calls')?.replaceChildren(...calls.childNodes)
    await show(document.adoptNode(fresh))
  } catch (error) {
    // The request was aborted by a newer one, or it failed; the next input triggers a new request.
    if (!(error instanceof DOMException || error instanceof TypeError)) throw error
  }
}

/** Replaces the preview after the style sheets of the new one are loaded, to avoid flicker. @param {Element} fresh */
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
