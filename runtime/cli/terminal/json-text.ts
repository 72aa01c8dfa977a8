/** Formats JSON for people. */
import { type Colour, type Paint, withoutControls } from './colours.ts'

const scalarColour = (value: unknown): Colour => {
  if (typeof value === 'string') return 'green'
  return typeof value === 'number' ? 'yellow' : 'magenta'
}

/**
 * Formats a value with an indentation of two spaces and colored names and values. Without colors, equals the output of
 * `JSON.stringify`.
 */
export function formatJson(value: unknown, paint: Paint, indent = ''): string {
  if (typeof value !== 'object' || value === null)
    return paint(scalarColour(value), withoutControls(JSON.stringify(value)))
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const inner = `${indent}  `
  const lines = Array.isArray(value)
    ? value.map((item) => formatJson(item, paint, inner))
    : Object.entries(value).map(([name, item]) => {
        const key = paint('cyan', withoutControls(JSON.stringify(name)))
        return `${key}: ${formatJson(item, paint, inner)}`
      })
  if (lines.length === 0) return `${open}${close}`
  return `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`
}
