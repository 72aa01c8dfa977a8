/**
 * Lets readers send the sample request of an operation to the sandbox of the service that serves the page, with
 * their own key. It sends the command as shown, with the reader's edits. There is no sandbox in an exported folder,
 * nor for operations of other servers.
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
  const field = (label, input) => make('label', {}, label, input)

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

  const makeForm = (request) => {
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
    const form = make(
      'form',
      {},
      ...(key ? [field('Sandbox API key', key)] : []),
      field(method, target),
      ...(request.headers.length > 0 ? [field('Headers', headers)] : []),
      ...(body ? [field('Body', body)] : []),
      make('button', { textContent: 'Send' }),
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
    const details = make('details', { className: 'try' }, make('summary', { textContent: 'Try it' }))
    details.addEventListener(
      'toggle',
      () => details.querySelector('form') ?? details.append(makeForm(request)),
      {
        once: true,
      },
    )
    const requests = code.closest('.samples').querySelectorAll('.sample[data-language]')
    requests[requests.length - 1].after(details)
  }
})()
