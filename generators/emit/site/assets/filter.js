/**
 * Filters the changelog by version and resource. The filter is in the address, so that filtered pages can be linked:
 * `?version=2026-05-19&resource=cards`. Without scripts, the page has links to the changes of each resource.
 */
;(() => {
  const index = document.querySelector('.by-tag')
  if (!index) return

  const releases = [...document.querySelectorAll('.release')]
  const versions = releases.map(({ dataset }) => [dataset.version, dataset.version])
  const tags = [...index.querySelectorAll('[data-tag]')].map((each) => [
    each.dataset.tag,
    each.querySelector('dt').textContent,
  ])

  const makeSelect = (label, name, every, options) => {
    const select = document.createElement('select')
    select.name = name
    select.append(new Option(every, ''), ...options.map(([value, text]) => new Option(text, value)))
    const field = document.createElement('label')
    field.append(label, select)
    return field
  }
  const form = document.createElement('form')
  const status = document.createElement('output')
  form.className = 'filter'
  form.setAttribute('aria-label', 'Filter changes')
  form.append(
    makeSelect('Version', 'version', 'All versions', versions),
    makeSelect('Resource', 'resource', 'All resources', tags),
    status,
  )
  index.before(form)

  const filter = () => {
    const { version, resource } = Object.fromEntries(new FormData(form))
    const has = ({ dataset }) => resource === '' || JSON.parse(dataset.tags).includes(resource)
    for (const release of releases) {
      for (const each of release.querySelectorAll('[data-tags]')) each.hidden = !has(each)
      // A list of additions is hidden with its heading, and so is a version without changes to show.
      for (const list of release.querySelectorAll('.additions ul')) {
        list.hidden = !list.querySelector('li:not([hidden])')
        if (list.previousElementSibling?.matches('p')) list.previousElementSibling.hidden = list.hidden
      }
      const additions = release.querySelector('.additions')
      if (additions) additions.hidden = !additions.querySelector('li:not([hidden])')
      const isEmpty = !release.querySelector('[data-tags]:not([hidden])')
      release.hidden = (version !== '' && release.dataset.version !== version) || (resource !== '' && isEmpty)
    }
    const shown = releases
      .filter((each) => !each.hidden)
      .reduce((sum, each) => sum + each.querySelectorAll('.change:not([hidden])').length, 0)
    status.textContent = shown === 1 ? '1 change' : `${shown} changes`
  }

  const read = () => {
    const asked = new URLSearchParams(location.search)
    for (const select of form.querySelectorAll('select')) {
      select.value = asked.get(select.name) ?? ''
      if (select.selectedIndex < 0) select.value = ''
    }
    filter()
  }
  form.addEventListener('change', () => {
    const asked = [...new FormData(form)].filter(([, value]) => value !== '')
    const query = new URLSearchParams(asked).toString()
    history.pushState(null, '', `${location.pathname}${query && `?${query}`}`)
    filter()
  })
  addEventListener('popstate', read)
  // A link to a change shows it even if the filter hides it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
    if (!target?.closest('[hidden]')) return
    form.reset()
    filter()
    target.scrollIntoView()
  }
  addEventListener('hashchange', reveal)
  read()
  reveal()
})()
