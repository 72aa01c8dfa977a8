/** Removes secrets when the page is left, so that the Back button does not show them again. */
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-secret]')) secret.remove()
})
