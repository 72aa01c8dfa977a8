/** Creates elements. Texts of documents become text nodes, never HTML. */

type Content = Node | string | undefined | readonly Content[]

/** @param selector tag name, and optionally classes: `p.note`. */
export function element(selector: string, ...contents: readonly Content[]): HTMLElement {
  const [tag = 'div', ...classes] = selector.split('.')
  const created = document.createElement(tag)
  if (classes.length > 0) created.className = classes.join(' ')
  append(created, contents)
  return created
}

function append(parent: HTMLElement, contents: readonly Content[]): void {
  for (const content of contents)
    if (Array.isArray(content)) append(parent, content)
    else if (content !== undefined) parent.append(content as Node | string)
}

/** Returns the element with an id. */
export function byId<Type extends HTMLElement>(id: string, type: new () => Type): Type {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`the page has no element ${id}`)
  return found
}
