/** Crops chosen and dropped pictures to their place on a pass. Without this script, the chosen PNG is uploaded as it is. */

/**
 * @typedef {object} Slot
 * @property {HTMLInputElement} input
 * @property {string} label
 * @property {[text: string, width: number, height: number][]} shapes in pixels
 * @property {number} bytes maximum size of the PNG
 */

/** Each step reduces the size of a PNG that is too large. */
const SHRINK = 0.85
/** The largest picture, compared with the smallest one that fills the frame. */
const MAX_ZOOM = 4

for (const place of document.querySelectorAll('[data-picture]')) {
  const input = place.querySelector('input[type=file]')
  if (place instanceof HTMLElement && input instanceof HTMLInputElement) offer(place, input)
}

/**
 * @param {HTMLElement} place
 * @param {HTMLInputElement} input
 */
function offer(place, input) {
  const { picture = '', shapes = '[]', bytes } = place.dataset
  const slot = { input, label: picture, shapes: JSON.parse(shapes), bytes: Number(bytes) }
  input.accept = 'image/png,image/jpeg,image/webp'
  // The preview must not upload the picture before it is cropped.
  input.addEventListener('input', (event) => event.isTrusted && event.stopPropagation())
  input.addEventListener('change', () => {
    const file = input.files?.[0]
    if (file) void crop(slot, file)
  })
  place.addEventListener('dragover', (event) => event.preventDefault())
  place.addEventListener('drop', (event) => {
    event.preventDefault()
    const file = event.dataTransfer?.files[0]
    if (file) void crop(slot, file)
  })
}

/**
 * @param {Slot} slot
 * @param {File} file
 */
async function crop(slot, file) {
  slot.input.value = ''
  slot.input.setCustomValidity('')
  const picture = await createImageBitmap(file).catch(() => undefined)
  if (picture) return openDialog(slot, picture)
  slot.input.setCustomValidity(
    'The file is not a picture that this browser can read. Choose a PNG or JPEG file.',
  )
  slot.input.reportValidity()
}

/**
 * @param {Slot} slot
 * @param {ImageBitmap} picture
 */
function openDialog({ input, label, shapes, bytes }, picture) {
  const dialog = document.createElement('dialog')
  dialog.className = 'crop'
  dialog.setAttribute('aria-label', `Crop: ${label}`)
  dialog.innerHTML = `<form method="dialog"><h2></h2><canvas></canvas>
<label class="shape">Shape <select name="shape"></select></label>
<label>Size <input name="size" type="range" min="0" max="1" step="0.01" value="0"></label>
<label>Left to right <input name="x" type="range" min="0" max="1" step="0.01" value="0.5"></label>
<label>Top to bottom <input name="y" type="range" min="0" max="1" step="0.01" value="0.5"></label>
<div class="actions"><button value="use">Use picture</button><button class="second" value="">Cancel</button></div></form>`
  const form = /** @type {HTMLFormElement} */ (dialog.querySelector('form'))
  const canvas = /** @type {HTMLCanvasElement} */ (dialog.querySelector('canvas'))
  const select = /** @type {HTMLSelectElement} */ (dialog.querySelector('select'))
  const control = (/** @type {string} */ name) =>
    /** @type {HTMLInputElement} */ (form.elements.namedItem(name))
  form.querySelector('h2')?.append(`Crop: ${label}`)
  select.append(...shapes.map(([text], index) => new Option(text, String(index))))
  if (shapes.length === 1) select.closest('label')?.remove()

  /** @param {number} width @param {number} height @param {CanvasRenderingContext2D | null} context */
  const draw = (width, height, context) => {
    const { fits, fills } = scalesOf(picture, width, height)
    const scale = fits * ((fills * MAX_ZOOM) / fits) ** Number(control('size').value)
    const [w, h] = [picture.width * scale, picture.height * scale]
    context?.clearRect(0, 0, width, height)
    context?.drawImage(
      picture,
      (width - w) * Number(control('x').value),
      (height - h) * Number(control('y').value),
      w,
      h,
    )
    return { w, h }
  }
  const shape = () => shapes[Number(select.value || 0)] ?? ['', 1, 1]
  const show = () => {
    const [, width, height] = shape()
    Object.assign(canvas, { width, height })
    return draw(width, height, canvas.getContext('2d'))
  }
  /** Starts with the smallest picture that fills the frame. */
  const fill = () => {
    const [, width, height] = shape()
    const { fits, fills } = scalesOf(picture, width, height)
    control('size').value = String(Math.log(fills / fits) / Math.log((fills * MAX_ZOOM) / fits))
    show()
  }
  select.addEventListener('change', fill)
  form.addEventListener('input', show)
  canvas.addEventListener('pointerdown', (event) => canvas.setPointerCapture(event.pointerId))
  canvas.addEventListener('pointermove', (event) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return
    const ratio = canvas.width / canvas.clientWidth
    const { w, h } = show()
    move(control('x'), event.movementX * ratio, canvas.width - w)
    move(control('y'), event.movementY * ratio, canvas.height - h)
    show()
  })
  dialog.addEventListener('close', async () => {
    if (dialog.returnValue === 'use') await use(input, await encode(shape(), bytes, draw))
    picture.close()
    dialog.remove()
    input.focus()
  })
  document.body.append(dialog)
  dialog.showModal()
  fill()
}

/**
 * Returns the largest scale at which the frame shows the whole picture, and the smallest one at which the picture fills the frame.
 *
 * @param {ImageBitmap} picture
 * @param {number} width of the frame
 * @param {number} height of the frame
 */
function scalesOf(picture, width, height) {
  const [wide, high] = [width / picture.width, height / picture.height]
  return { fits: Math.min(wide, high), fills: Math.max(wide, high) }
}

/**
 * @param {HTMLInputElement} control
 * @param {number} by pixels
 * @param {number} room pixels; negative if the picture is larger than the frame
 */
function move(control, by, room) {
  if (Math.abs(room) > 1) control.value = String(Number(control.value) + by / room)
}

/**
 * Returns the PNG, smaller than the frame if it has too many bytes.
 *
 * @param {[text: string, width: number, height: number]} shape
 * @param {number} bytes
 * @param {(width: number, height: number, context: CanvasRenderingContext2D | null) => unknown} draw
 */
async function encode([, width, height], bytes, draw) {
  const canvas = document.createElement('canvas')
  for (let scale = 1; ; scale *= SHRINK) {
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
    draw(canvas.width, canvas.height, canvas.getContext('2d'))
    const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ done) => canvas.toBlob(done))
    if (blob && (blob.size <= bytes || canvas.height < 32)) return blob
    if (!blob) throw new Error('the browser cannot encode a PNG')
  }
}

/**
 * @param {HTMLInputElement} input
 * @param {Blob} blob
 */
async function use(input, blob) {
  const transfer = new DataTransfer()
  transfer.items.add(new File([blob], `${input.name}.png`, { type: 'image/png' }))
  input.files = transfer.files
  const remove = document.querySelector(`input[name="${input.name.replace('_file', '_remove')}"]`)
  if (remove instanceof HTMLInputElement) remove.checked = false
  input.dispatchEvent(new Event('input', { bubbles: true }))
}
