/**
 * Keyboard shortcuts. `data-keys="g h"` on an element declares keys that are pressed one after the other; `data-keys-label` names them
 * in the list of shortcuts and defaults to the text of the element. The keys dispatch the event `shortcut` on the element. Unless a
 * script prevents its default action, the element is clicked or, if it is a field, focused.
 */

const NEXT_KEY_MS = 1500
/** Users of speech input can turn off shortcuts of single characters (WCAG 2.2, 2.1.4). */
const SETTING = 'shortcuts'

const isOff = () => localStorage.getItem(SETTING) === 'off'

/** @returns {HTMLElement[]} */
const declared = () =>
  [...document.querySelectorAll('[data-keys]')].filter((each) => each instanceof HTMLElement)

let typed = ''
let last = 0

document.addEventListener('keydown', (event) => {
  const { key, target } = event
  const isTyping = target instanceof Element && target.closest('input, select, textarea, [contenteditable]')
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || isOff()) return
  if (key === 'Shift' || document.querySelector('dialog[open]')) return
  const now = Date.now()
  typed = now - last < NEXT_KEY_MS && typed !== '' ? `${typed} ${key}` : key
  last = now
  const all = declared()
  const element =
    all.find((each) => each.dataset.keys === typed) ?? all.find((each) => each.dataset.keys === key)
  if (element) {
    typed = ''
    event.preventDefault()
    use(element)
  }
})

/** @param {HTMLElement} element */
function use(element) {
  const event = new CustomEvent('shortcut', { bubbles: true, cancelable: true })
  if (!element.dispatchEvent(event)) return
  if (element.matches('input, select, textarea')) element.focus()
  else element.click()
}

/** Shows the shortcuts of the page. */
function showKeys() {
  const dialog = document.createElement('dialog')
  dialog.className = 'keys'
  dialog.setAttribute('aria-labelledby', 'keys-title')
  const title = document.createElement('h2')
  title.id = 'keys-title'
  title.textContent = 'Keyboard shortcuts'
  const list = document.createElement('dl')
  /** @param {string} keys @param {string} label */
  const add = (keys, label) => {
    const name = document.createElement('dt')
    const pressed = document.createElement('dd')
    name.textContent = label
    for (const key of keys.split(' '))
      pressed.append(Object.assign(document.createElement('kbd'), { textContent: key }), ' ')
    list.append(name, pressed)
  }
  add('Ctrl+K', 'Search')
  for (const { dataset, textContent } of declared())
    add(dataset.keys ?? '', dataset.keysLabel ?? textContent.trim())
  const setting = document.createElement('label')
  const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: !isOff() })
  box.addEventListener('change', () => localStorage.setItem(SETTING, box.checked ? 'on' : 'off'))
  setting.append(box, ' Use shortcuts without Ctrl')
  const close = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'second',
    textContent: 'Close',
  })
  close.addEventListener('click', () => dialog.close())
  dialog.append(title, list, setting, close)
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

const opener = document.querySelector('button.to-keys')
if (opener instanceof HTMLElement) {
  opener.hidden = false
  opener.addEventListener('click', showKeys)
}
