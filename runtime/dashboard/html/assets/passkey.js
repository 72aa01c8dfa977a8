/** Asks the browser for a passkey before a form is sent that wants one. Without scripts, or without passkeys, such forms stay hidden. */

/** @typedef {PublicKeyCredential & { toJSON(): unknown }} Credential */

const Passkeys = window.PublicKeyCredential

/** @param {HTMLFormElement} form */
function prepare(form) {
  const said = form.querySelector('[role="status"]')
  const answer = form.querySelector('input[name="credential"]')
  const options = JSON.parse(form.dataset.passkey ?? '{}')
  if (!said || !(answer instanceof HTMLInputElement)) return
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    said.textContent = 'Your browser asks you for a passkey.'
    try {
      const credential = await (options.user
        ? navigator.credentials.create({ publicKey: Passkeys.parseCreationOptionsFromJSON(options) })
        : navigator.credentials.get({ publicKey: Passkeys.parseRequestOptionsFromJSON(options) }))
      answer.value = JSON.stringify(/** @type {Credential} */ (credential).toJSON())
      form.submit()
    } catch {
      // What a browser says of it is the same for a refusal, a time-out and a passkey that is not there.
      said.textContent = 'No passkey was used. Try again, or go on without one.'
    }
  })
  form.hidden = false
}

if (Passkeys && 'parseCreationOptionsFromJSON' in Passkeys)
  for (const form of document.querySelectorAll('form[data-passkey]'))
    if (form instanceof HTMLFormElement) prepare(form)
