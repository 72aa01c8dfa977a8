/** Interactive features of the documentation pages: search, copying, and redirects for old addresses of errors. */
;(() => {
  const RESULTS = 12
  /** Session storage has the words of the search that led to a page. */
  const FOUND = 'docs-found'

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
    let texts
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
    /** The versions and lines of each entry, loaded with the first results. */
    const openTexts = () => {
      texts ??= load(form.dataset.texts).then(() => globalThis.docsTexts)
      return texts
    }
    const close = () => list.replaceChildren()

    /** The version of the page, or the first segment of its path. */
    const shown = decodeURIComponent(location.pathname.split('/')[2] ?? '')

    const linesIn = ({ lines }, version) =>
      lines.flatMap((line) => (typeof line === 'string' ? line : line[1].includes(version) ? line[0] : []))

    /** Counts the words in a text. */
    const countOf = (text, words) => new Set(text.toLowerCase().match(words)).size

    /** Names are also found by their words. */
    const spaced = (text) => text.toLowerCase().replaceAll('_', ' ')

    /** Returns the versions with the text as typed, or else those with the most words of the hit. */
    const versionsOf = ({ title }, entry, words, typed) => {
      const texts = entry.versions.map((version) => [version, [title, ...linesIn(entry, version)].join('\n')])
      const literal = texts.filter(([, text]) => spaced(text).includes(typed))
      if (literal.length > 0) return literal.map(([version]) => version)
      const counts = texts.map(([version, text]) => [version, countOf(text, words)])
      const most = Math.max(...counts.map(([, count]) => count))
      return counts.flatMap(([version, count]) => (count === most ? version : []))
    }

    /** Returns the text with the words marked. @param {string} text @param {RegExp} words */
    const marked = (text, words) =>
      text.split(words).map((part, at) => {
        if (at % 2 === 0) return part
        const mark = document.createElement('mark')
        mark.textContent = part
        return mark
      })

    const EXCERPT = 160
    /** Returns the line with the text as typed, or else with most of its words, cut around the first of them. */
    const excerptOf = (lines, words, typed) => {
      const rank = (line) => (spaced(line).includes(typed) ? Number.MAX_VALUE : countOf(line, words))
      const line = lines.toSorted((one, other) => rank(other) - rank(one))[0] ?? ''
      const at = line.search(words)
      if (at < 0) return ''
      const start = Math.max(at - EXCERPT / 3, 0)
      const end = start + EXCERPT
      return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`
    }

    /** @param typed the text of the search, spaced */
    const showHit = (hit, entry, typed) => {
      const { title, kind, href, terms } = hit
      const literals = terms
        .toSorted((one, other) => other.length - one.length)
        .map((term) => term.replace(/[^\p{L}\p{N}]/gu, '\\$&'))
      const words = new RegExp(`(${literals.join('|')})`, 'giu')
      const versions = versionsOf(hit, entry, words, typed)
      const version = versions.includes(shown) ? shown : versions[0]
      const item = document.createElement('li')
      const link = document.createElement('a')
      const small = document.createElement('small')
      const excerpt = document.createElement('span')
      link.href = addressOf(version === undefined ? href : `/docs/${encodeURIComponent(version)}${href}`)
      small.textContent = [kind, versions.join(', ')].filter(Boolean).join(' · ')
      excerpt.className = 'excerpt'
      excerpt.append(...marked(excerptOf(linesIn(entry, version), words, typed), words))
      link.append(...marked(title, words), ' ', small, excerpt)
      link.addEventListener('click', () => sessionStorage.setItem(FOUND, words.source))
      item.append(link)
      return item
    }

    const show = async () => {
      const words = input.value.trim()
      if (words === '') return close()
      const [searched, entries] = await Promise.all([open(), openTexts()])
      const found = searched.search(words).slice(0, RESULTS)
      if (input.value.trim() !== words) return
      status.textContent = found.length === 0 ? 'No results' : `${found.length} found`
      list.replaceChildren(...found.map((hit) => showHit(hit, entries[hit.id], spaced(words))))
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

  /** Marks the words of the search that led here, without changing elements. */
  const source = sessionStorage.getItem(FOUND)
  sessionStorage.removeItem(FOUND)
  if (source !== null && globalThis.CSS?.highlights) {
    const found = new Highlight()
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      for (const { index, 0: word } of walker.currentNode.data.matchAll(new RegExp(source, 'giu'))) {
        const range = new Range()
        range.setStart(walker.currentNode, index)
        range.setEnd(walker.currentNode, index + word.length)
        found.add(range)
      }
    }
    CSS.highlights.set('found', found)
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

  // One sample of each request is shown, in the language that the reader chose on any page.
  const KEY = 'docs-language'
  const TOKENS =
    /\\.|(?<string>"""[\s\S]*?"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|(?<comment>#.*|\/\/.*)|(?<keyword>\b(?:as|async|await|class|const|defer|do|echo|else|end|export|false|for|from|func|function|if|import|new|nil|null|None|True|False|of|package|print|public|puts|require|return|static|throw|throws|true|try|using|var|void)\b)/g

  /** @type {HTMLDetailsElement[][]} samples of the same request */
  const groups = []
  for (const sample of document.querySelectorAll('.sample[data-language]')) {
    const before = groups.at(-1)
    if (before && sample.previousElementSibling === before.at(-1)) before.push(sample)
    else groups.push([sample])
  }

  /** Colors the samples that are shown, without changing their elements. @param {HTMLElement[]} shown */
  const paint = (shown) => {
    if (!globalThis.CSS?.highlights) return
    const kinds = { string: new Highlight(), comment: new Highlight(), keyword: new Highlight() }
    for (const sample of shown) {
      const text = sample.querySelector('code').firstChild
      for (const { index, 0: token, groups: found } of text.data.matchAll(TOKENS)) {
        const kind = Object.keys(kinds).find((each) => found[each] !== undefined)
        if (!kind) continue
        const range = new Range()
        range.setStart(text, index)
        range.setEnd(text, index + token.length)
        kinds[kind].add(range)
      }
    }
    for (const [kind, highlight] of Object.entries(kinds)) CSS.highlights.set(`code-${kind}`, highlight)
  }

  const pickers = new Map()
  const choose = (language) => {
    const shown = groups.map(
      (samples) => samples.find((each) => each.dataset.language === language) ?? samples[0],
    )
    for (const [at, samples] of groups.entries()) {
      for (const each of samples) {
        each.open = each === shown[at]
        each.hidden = !each.open
      }
      const picker = pickers.get(samples)
      if (picker) picker.value = shown[at].dataset.language
    }
    paint(shown)
  }

  for (const samples of groups) {
    if (samples.length === 1) continue
    const picker = document.createElement('select')
    picker.className = 'language'
    picker.setAttribute('aria-label', 'Language of the sample')
    picker.append(...samples.map(({ dataset }) => new Option(dataset.language)))
    picker.addEventListener('change', () => {
      localStorage.setItem(KEY, picker.value)
      const before = picker.getBoundingClientRect().top
      choose(picker.value)
      scrollBy(0, picker.getBoundingClientRect().top - before)
    })
    pickers.set(samples, picker)
    samples[0].before(picker)
    for (const each of samples) each.classList.add('picked')
  }
  choose(localStorage.getItem(KEY))
})()
