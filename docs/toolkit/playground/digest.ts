/**
 * In place of `node:crypto` in the browser. The toolkit compares digests within one run, so numbers do: equal texts
 * have equal numbers.
 */
const numbers = new Map<string, number>()

export function createHash(_algorithm: string) {
  let text = ''
  const hash = {
    update: (part: string) => {
      text += part
      return hash
    },
    digest: (_encoding: string) => {
      const number = numbers.get(text) ?? numbers.size
      numbers.set(text, number)
      return `#${number}`
    },
  }
  return hash
}
