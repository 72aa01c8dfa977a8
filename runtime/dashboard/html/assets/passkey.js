/** Asks the browser for a passkey before a passkey form is submitted. Without passkey support, these forms stay hidden. */

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
    said.textContent = 'Follow the instructions of your browser to use a passkey.'
    try {
      const credential = await (options.user
        ? navigator.credentials.create({ publicKey: Passkeys.parseCreationOptionsFromJSON(options) })
        : navigator.credentials.get({ publicKey: Passkeys.parseRequestOptionsFromJSON(options) }))
      answer.value = JSON.stringify(/** @type {Credential} */ (credential).toJSON())
      form.submit()
    } catch {
      // Browsers throw the same error for a refusal, a timeout, and a missing passkey.
      said.textContent = 'No passkey was used. Try again, or continue without a passkey.'
    }
  })
  form.hidden = false
}

if (Passkeys && 'parseCreationOptionsFromJSON' in Passkeys)
  for (const form of document.querySelectorAll('form[data-passkey]'))
    if (form instanceof HTMLFormElement) prepare(form)
