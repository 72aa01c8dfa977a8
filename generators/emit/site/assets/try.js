/**
 * Lets readers build a request of an operation, copy it as curl, and send it to the sandbox of the service that serves
 * the page, with their own key. It begins with the sample request. There is no sandbox in an exported folder, nor for
 * operations of other servers.
 *
 * The service answers `/docs/try.json` with `base_url`, the address of the sandbox. It can add `records`, the address of
 * a lookup by prefix of IDs, and `sign_in`, the page where readers sign in. A lookup takes the query parameter `q`, and
 * returns a list of `{ id, name }` to readers who are signed in.
 */
;(() => {
  const { server } = document.querySelector('main').dataset
  if (!server || document.documentElement.dataset.root !== undefined) return

  const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
  /** The part of a command that the shell replaces with a new UUID. */
  const COMMAND = /\$\([^)]*\)/
  const KEY = '$API_KEY'
  /** Maximum number of characters of a response to show. */
  const MAX_SHOWN = 100_000

  /** Address of the sandbox, requested once. */
  let place
  const findSandbox = () => {
    place ??= fetch('/docs/try.json').then((response) => {
      if (!response.ok) throw new Error('this server does not have a sandbox')
      return response.json()
    })
    return place
  }

  /** Splits a shell command into words. @param {string} command */
  const wordsOf = (command) =>
    [...command.matchAll(/'((?:[^']|'\\'')*)'|"([^"]*)"|([^\s\\]+)/g)].map(
      ([, single, double, bare]) => single?.replaceAll("'\\''", "'") ?? double ?? bare,
    )

  /** Parses a curl command. @param {string} command @returns its request; undefined if it needs more than text. */
  const readSample = (command) => {
    const [, url, ...words] = wordsOf(command)
    if (!url.startsWith(`${server}/`)) return undefined
    const request = {
      method: undefined,
      target: url.slice(server.length),
      credential: undefined,
      headers: [],
      body: undefined,
    }
    while (words.length > 0) {
      const [option, value] = words.splice(0, 2)
      if (option === '-X') request.method = value
      else if (option === '-H' && value.includes(KEY)) request.credential = value
      else if (option === '-H') request.headers.push(value.replace(COMMAND, () => crypto.randomUUID()))
      else if (option === '--json') {
        request.headers.push('Content-Type: application/json')
        request.body = value
      } else if (option === '--data') request.body = value
      else return undefined
    }
    request.method ??= request.body === undefined ? 'GET' : 'POST'
    return request
  }

  /**
   * Parses headers, and replaces UUIDs with new ones, because an idempotency key is valid for one request. @param
   * {string[]} lines `Name: value`
   */
  const readHeaders = (lines) =>
    lines.flatMap((line) => {
      const at = line.indexOf(':')
      if (at < 1) return []
      const value = line.slice(at + 1).trim()
      return [[line.slice(0, at).trim(), UUID.test(value) ? crypto.randomUUID() : value]]
    })

  /** @param {string} text */
  const shown = (text) => {
    try {
      return JSON.stringify(JSON.parse(text), null, 2).slice(0, MAX_SHOWN)
    } catch {
      return text.slice(0, MAX_SHOWN)
    }
  }

  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties)
    element.append(...children)
    return element
  }
  const field = (label, ...inputs) => make('label', {}, label, ...inputs)

  /** The key is stored only in the fields of this page. */
  const keys = []
  const makeKeyField = () => {
    const input = make('input', { type: 'password', autocomplete: 'off', required: true, spellcheck: false })
    input.addEventListener('input', () => {
      for (const each of keys) each.value = input.value
    })
    input.value = keys[0]?.value ?? ''
    keys.push(input)
    return input
  }

  /** Returns an input for a value, and options that it offers. @param {DOMStringMap} choice */
  const makeControl = ({ kind, of = '' }, id) => {
    if (kind === 'values')
      return [
        make('select', {}, new Option('–', ''), ...JSON.parse(of).map((value) => new Option(value, value))),
      ]
    if (kind === 'date') return [make('input', { type: 'date' })]
    if (kind === 'date-time') return [make('input', { type: 'datetime-local' })]
    const input = make('input', { spellcheck: false, autocomplete: 'off' })
    if (kind !== 'id') return [input]
    const list = make('datalist', { id })
    input.setAttribute('list', id)
    return [input, list]
  }

  /** Offers the records of the reader's sandbox. @param {HTMLElement} note shown to readers who are not signed in */
  const offerRecords = async (prefix, input, list, note) => {
    const { records = {}, sign_in } = await findSandbox()
    if (!records[prefix]) return
    // The service redirects readers without a session to its sign-in page.
    const response = await fetch(`${records[prefix]}?q=${encodeURIComponent(input.value)}`, {
      redirect: 'manual',
    })
    if (response.type === 'opaqueredirect' && sign_in) {
      const href = `${sign_in}?${new URLSearchParams({ return_to: location.pathname })}`
      note.replaceChildren(make('a', { href, textContent: 'Sign in' }), ' to choose records of your sandbox.')
      note.hidden = false
    }
    if (!response.ok) return
    const found = await response.json()
    list.replaceChildren(...found.map(({ id, name }) => new Option(name, id)))
  }

  /** Returns the object that has the property, and the last of its names. Undefined if the body is not valid. */
  const locate = (text, name) => {
    try {
      const whole = JSON.parse(text)
      const names = name.split('.')
      const last = names.pop()
      const owner = names.reduce((part, each) => (part[each] ??= {}), whole)
      return { whole, owner, last }
    } catch {
      return undefined
    }
  }

  /** Reads and writes the value of a choice in the fields of the form. */
  const binding = (choice, template, target, body) => {
    const { in: place, name } = choice
    const at = template.split('/').indexOf(`{${name}}`)
    const split = () => {
      const [path, query = ''] = target.value.split('?')
      return { path: path.split('/'), query: new URLSearchParams(query) }
    }
    return {
      read() {
        if (place === 'body') {
          const found = locate(body.value, name)
          return found?.owner[found.last] ?? ''
        }
        const { path, query } = split()
        return place === 'path' ? decodeURIComponent(path[at] ?? '') : (query.get(name) ?? '')
      },
      write(value) {
        if (place === 'body') {
          const found = locate(body.value, name)
          if (!found) return
          if (value === '') delete found.owner[found.last]
          else found.owner[found.last] = value
          body.value = JSON.stringify(found.whole, null, 2)
          return
        }
        const { path, query } = split()
        if (place === 'path' && value !== '') path[at] = encodeURIComponent(value)
        if (place === 'query' && value === '') query.delete(name)
        if (place === 'query' && value !== '') query.set(name, value)
        target.value = path.join('/') + (query.size > 0 ? `?${query}` : '')
      },
    }
  }

  let made = 0
  /** Returns controls for the choices of an operation. They change the fields of the form. */
  const makeControls = (choices, template, target, body) => {
    const note = make('p', { className: 'quiet', hidden: true })
    const fields = choices
      .filter((choice) => choice.in !== 'body' || body)
      .map((choice) => {
        const [control, list] = makeControl(choice, `choice-${++made}`)
        const { read, write } = binding(choice, template, target, body)
        const isTime = choice.kind === 'date-time'
        const shownValue = String(read())
        if (choice.kind === 'id') control.placeholder = shownValue
        else control.value = isTime ? shownValue.slice(0, 16) : shownValue
        control.addEventListener(choice.kind === 'id' ? 'input' : 'change', () => {
          const { value } = control
          // Members of the body have types.
          const typed = choice.in === 'body' && choice.kind === 'values' ? JSON.parse(choice.of) : []
          write(
            typed.find((each) => String(each) === value) ?? (isTime && value !== '' ? `${value}:00Z` : value),
          )
        })
        if (list) {
          const offer = () => offerRecords(choice.of, control, list, note).catch(() => list.replaceChildren())
          control.addEventListener('focus', offer, { once: true })
          control.addEventListener('input', offer)
        }
        const label = isTime ? `${choice.name} (UTC)` : choice.name
        // Otherwise the options of a select belong to its name.
        control.setAttribute('aria-label', label)
        return field(label, control, ...(list ? [list] : []))
      })
    if (fields.length === 0) return []
    return [make('fieldset', {}, make('legend', { textContent: 'Parameters' }), ...fields, note)]
  }

  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`

  /** Prints the request of the form as a curl command. The key is not part of it. */
  const printCurl = (base, { method, credential }, target, headers, body) =>
    [
      `curl ${quote(base + target.value.trim())}`,
      ...(method === 'GET' || (method === 'POST' && body) ? [] : [`-X ${method}`]),
      ...(credential === undefined ? [] : [`-H "${credential}"`]),
      ...headers.value
        .split('\n')
        .filter(
          (line) => line.trim() !== '' && !(body && /^content-type: *application\/json$/i.test(line.trim())),
        )
        .map((line) => `-H ${quote(line.trim())}`),
      ...(body ? [`--json ${quote(body.value)}`] : []),
    ].join(' \\\n  ')

  const makeForm = (request, choices, template) => {
    const { method, credential } = request
    const target = make('input', { value: request.target, required: true, spellcheck: false })
    const key = credential === undefined ? undefined : makeKeyField()
    const headers = make('textarea', {
      value: request.headers.join('\n'),
      rows: request.headers.length,
      spellcheck: false,
    })
    const rows = Math.min(request.body?.split('\n').length ?? 0, 20)
    const body =
      request.body === undefined
        ? undefined
        : make('textarea', { value: request.body, rows, spellcheck: false })
    const status = make('output', { className: 'quiet' })
    const answer = make('code', {})
    const box = make('pre', { hidden: true, tabIndex: 0 }, answer)
    const send = async () => {
      const { base_url } = await findSandbox()
      const given = credential === undefined ? [] : [credential.replace(KEY, () => key.value.trim())]
      const began = performance.now()
      const response = await fetch(base_url + target.value.trim(), {
        method,
        headers: readHeaders([...given, ...headers.value.split('\n')]),
        credentials: 'omit',
        ...(body && { body: body.value }),
      })
      answer.textContent = shown(await response.text())
      status.textContent = `${response.status} in ${Math.round(performance.now() - began)} ms`
      box.hidden = answer.textContent === ''
    }
    const copy = make('button', { type: 'button', className: 'second', textContent: 'Copy as curl' })
    copy.addEventListener('click', async () => {
      const { base_url } = await findSandbox()
      await navigator.clipboard.writeText(printCurl(base_url, request, target, headers, body))
      status.textContent = 'Copied'
    })
    const form = make(
      'form',
      {},
      ...(key ? [field('Sandbox API key', key)] : []),
      ...makeControls(choices, template, target, body),
      field(method, target),
      ...(request.headers.length > 0 ? [field('Headers', headers)] : []),
      ...(body ? [field('Body', body)] : []),
      make('button', { textContent: 'Send' }),
      copy,
      status,
      box,
    )
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      status.textContent = 'Sending…'
      box.hidden = true
      await send().catch((error) => {
        status.textContent = `The request failed, or the browser blocked the response: ${error.message}`
      })
    })
    return form
  }

  for (const code of document.querySelectorAll('.operation .sample[data-language="curl"] code')) {
    const request = readSample(code.textContent)
    if (!request) continue
    const operation = code.closest('.operation')
    const choices = [...operation.querySelectorAll('.choices span')].map(({ dataset }) => dataset)
    const template = operation.querySelector('.endpoint code').textContent
    const details = make('details', { className: 'try' }, make('summary', { textContent: 'Try it' }))
    details.addEventListener(
      'toggle',
      () => details.querySelector('form') ?? details.append(makeForm(request, choices, template)),
      {
        once: true,
      },
    )
    const requests = code.closest('.samples').querySelectorAll('.sample[data-language]')
    requests[requests.length - 1].after(details)
  }
})()
