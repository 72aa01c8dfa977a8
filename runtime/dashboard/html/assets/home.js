/** Replaces parts of the home page when the service sends them again. */

const overview = document.querySelector('.overview')
const address = overview?.getAttribute('data-live')

/** @param {Element} page @param {string} from */
function follow(page, from) {
  /** Texts of the parts as the service sent them, because other scripts change what the page shows. @type {Map<string, string>} */
  const texts = new Map()
  const source = new EventSource(from)
  source.onmessage = ({ data }) => {
    for (const [name, text] of Object.entries(JSON.parse(data))) replace(name, text)
    document.dispatchEvent(new CustomEvent('rows'))
  }
  /** @param {string} name @param {string} text */
  const replace = (name, text) => {
    const part = page.querySelector(`:scope > [data-part="${name}"]`)
    // A part that the member uses stays until it changes again.
    if (!part || texts.get(name) === text || part.matches(':focus-within')) return
    texts.set(name, text)
    const opened = [...part.querySelectorAll('details')].map(({ open }) => open)
    // The service renders the parts and has escaped all user input.
    part.innerHTML = text
    for (const [at, details] of part.querySelectorAll('details').entries())
      details.open = opened[at] ?? details.open
  }
}

if (overview && address) follow(overview, address)
