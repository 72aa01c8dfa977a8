/** Where the nodes of a document stand: js-yaml's events tell it, ten times as fast as a syntax tree. */
import {
  CORE_SCHEMA,
  EVENT_ID,
  type Event,
  getScalarValue,
  load,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml'
import { escapePointer } from './escape-pointer.ts'

/** A collection that is being read, and its member that comes next. */
interface Open {
  readonly pointer: string
  readonly list: boolean
  index: number
  /** Pointer of the member whose key was read. */
  member?: string | undefined
}

/**
 * @param text that `readValue` can read.
 * @returns by pointer the offset of each node's key, or of the item itself; undefined where a key is no scalar.
 */
export function findOffsets(text: string): Map<string, number> | undefined {
  const offsets = new Map<string, number>()
  const open: Open[] = []
  for (const event of parseEvents(text, {})) {
    if (event.type === EVENT_ID.DOCUMENT) continue
    if (event.type === EVENT_ID.POP) {
      open.pop()
      continue
    }
    const at = open.at(-1)
    const start = startOf(event, text)
    let pointer = ''
    if (at && !at.list && at.member === undefined) {
      if (event.type !== EVENT_ID.SCALAR) return undefined
      at.member = `${at.pointer}/${escapePointer(nameOf(event, text))}`
      offsets.set(at.member, start)
      continue
    }
    if (at?.list) pointer = `${at.pointer}/${at.index++}`
    else if (at) {
      pointer = at.member!
      at.member = undefined
    }
    // An item that is not written stands nowhere: its list is near enough.
    if (start >= 0 && !offsets.has(pointer)) offsets.set(pointer, start)
    if (event.type === EVENT_ID.SEQUENCE) open.push({ pointer, list: true, index: 0 })
    if (event.type === EVENT_ID.MAPPING) open.push({ pointer, list: false, index: 0 })
  }
  return offsets
}

type NodeEvent = Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>

function startOf(event: NodeEvent, text: string): number {
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1
  if (event.type !== EVENT_ID.SCALAR) return event.start
  const { style, valueStart } = event
  if (valueStart < 0) return -1
  if (style === SCALAR_STYLE.LITERAL_BLOCK) return text.lastIndexOf('|', valueStart)
  if (style === SCALAR_STYLE.FOLDED_BLOCK) return text.lastIndexOf('>', valueStart)
  return style === SCALAR_STYLE.PLAIN ? valueStart : valueStart - 1
}

/** A key that reads as a number or a truth value is known by how that is written. */
function nameOf(event: ScalarEvent, text: string): string {
  const written = getScalarValue(text, event)
  if (event.style !== SCALAR_STYLE.PLAIN || !/^[-+.\d~]|^(?:null|true|false)$/i.test(written)) return written
  return String(load(written, { schema: CORE_SCHEMA }))
}
