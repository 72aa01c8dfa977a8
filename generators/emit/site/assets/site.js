/** Interactive features of the documentation pages: search, copying, and redirects for old addresses of errors. */
;(() => {
  const RESULTS = 12

  /** @param {string} src */
  const load = (src) =>
    new Promise((resolve, reject) => {
      const script = document.createElement('script')
      script.src = src
      script.onload = resolve
      script.onerror = reject
      document.head.append(script)
    })

  /** Adapts a link to an exported folder, where page names have an extension. @param {string} href */
  const addressOf = (href) => {
    const { root } = document.documentElement.dataset
    return root === undefined
      ? href
      : href.replace(/^\/docs\/?([^#]*)/, (_, path) => `${root}/${path || 'index'}.html`)
  }

  const form = document.querySelector('form.search')
  if (form) {
    const input = form.querySelector('input')
    const list = form.querySelector('ul')
    const status = form.querySelector('output')
    form.hidden = false
    let index
    const open = () => {
      index ??= load(form.dataset.library)
        .then(() => load(form.dataset.index))
        .then(() =>
          globalThis.MiniSearch.loadJS(globalThis.docsIndex, {
            fields: ['title', 'text'],
            storeFields: ['title', 'kind', 'href'],
            searchOptions: { boost: { title: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
          }),
        )
      return index
    }
    const close = () => list.replaceChildren()
    const show = async () => {
      const words = input.value.trim()
      if (words === '') return close()
      const found = (await open()).search(words).slice(0, RESULTS)
      if (input.value.trim() !== words) return
      status.textContent = found.length === 0 ? 'No results' : `${found.length} found`
      list.replaceChildren(
        ...found.map(({ title, kind, href }) => {
          const item = document.createElement('li')
          const link = document.createElement('a')
          const small = document.createElement('small')
          link.href = addressOf(href)
          small.textContent = kind
          link.append(title, ' ', small)
          item.append(link)
          return item
        }),
      )
    }
    input.addEventListener('focus', open)
    input.addEventListener('input', show)
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      await show()
      list.querySelector('a')?.click()
    })
    form.addEventListener('keydown', (event) => {
      const links = [...list.querySelectorAll('a')]
      const at = links.indexOf(document.activeElement)
      if (event.key === 'Escape') {
        close()
        input.focus()
      } else if (event.key === 'ArrowDown') (links[at + 1] ?? links[0])?.focus()
      else if (event.key === 'ArrowUp') (links[at - 1] ?? input).focus()
      else return
      event.preventDefault()
    })
    document.addEventListener('click', (event) => {
      if (!form.contains(event.target)) close()
    })
    document.addEventListener('keydown', (event) => {
      const typing = /^(?:input|textarea|select)$/i.test(document.activeElement?.tagName ?? '')
      if (event.key !== '/' || typing) return
      event.preventDefault()
      input.focus()
    })
  }

  for (const code of document.querySelectorAll('pre > code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2000)
    })
    code.parentElement.before(button)
  }

  // Remembers the chosen sample language.
  const KEY = 'docs-language'
  const samples = () => [...document.querySelectorAll('.samples > .sample[data-language]')]
  const choose = (language) => {
    for (const each of samples()) each.open = each.dataset.language === language
  }
  const kept = localStorage.getItem(KEY)
  if (kept && samples().some((each) => each.dataset.language === kept)) choose(kept)
  for (const each of samples()) {
    each.querySelector('summary').addEventListener('click', (event) => {
      if (each.open) return
      event.preventDefault()
      localStorage.setItem(KEY, each.dataset.language)
      const before = each.getBoundingClientRect().top
      choose(each.dataset.language)
      scrollBy(0, each.getBoundingClientRect().top - before)
    })
  }
})()
