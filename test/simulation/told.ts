/** What events tell about changes. */

interface ToldEvent {
  readonly type: string
  readonly data: Readonly<Record<string, Readonly<Record<string, unknown>> & { readonly id?: string }>>
  readonly previous_attributes?: Readonly<Record<string, unknown>>
}

const isScalar = (value: unknown) => value === null || typeof value !== 'object'

type State = Readonly<Record<string, unknown>>

/** Returns what the last event about each object shows, by its identifier. */
export function lastStates(bodies: readonly string[]): ReadonlyMap<string, State> {
  const states = new Map<string, State>()
  for (const body of bodies)
    for (const state of Object.values((JSON.parse(body) as ToldEvent).data))
      if (state?.id) states.set(state.id, state)
  return states
}

const isMap = (value: unknown): value is State =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the members of a state that differ in a later one, with their earlier values. */
function differences(before: State, after: State): State {
  const found: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]]
    if (JSON.stringify(old) === JSON.stringify(now)) continue
    found[name] = isMap(old) && isMap(now) ? differences(old, now) : (old ?? null)
  }
  return found
}

/** Returns the members of a state whose names another one has, too. */
const only = (state: State, other: State): State =>
  Object.fromEntries(Object.entries(state).filter(([name]) => name in other))

/**
 * Returns the name of a difference that an event does not tell; undefined if it tells all. A change of nothing else moves
 * `updated`, and no event tells of it: so the value before can be one that no event showed.
 */
function missingIn(told: State, wanted: State): string | undefined {
  return Object.keys(wanted).find((name) =>
    name === 'updated' ? !(name in told) : JSON.stringify(told[name]) !== JSON.stringify(wanted[name]),
  )
}

/**
 * Reads the events of a tenant in order. Returns a fault if an update names a previous value that is not the one that an
 * earlier event showed, or if it names no changed value. Otherwise returns undefined.
 */
export function findUntrueChange(bodies: readonly string[]): string | undefined {
  const states = new Map<string, Readonly<Record<string, unknown>>>()
  for (const body of bodies) {
    const { type, data, previous_attributes: previous } = JSON.parse(body) as ToldEvent
    const [state] = Object.values(data)
    if (!state?.id) continue
    const known = states.get(state.id)
    if (previous && Object.keys(previous).length === 0) return `${type} names no previous value`
    for (const [name, value] of Object.entries(previous ?? {})) {
      if (!isScalar(value) || !isScalar(state[name])) continue
      if (value === state[name]) return `${type} says that ${name} changed, but it is the same`
      if (known && isScalar(known[name]) && known[name] !== value && name !== 'updated')
        return `${type} says that ${name} was ${value}, but it was ${known[name]}`
    }
    // Some types of events show a member that others do not, such as the platform of an installation.
    const shared = known && only(known, state)
    const missing = previous && shared && missingIn(previous, differences(shared, only(state, shared)))
    if (missing !== undefined) return `${type} does not say what ${missing} was`
    states.set(state.id, state)
  }
  return undefined
}
