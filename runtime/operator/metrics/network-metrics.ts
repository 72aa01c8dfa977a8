import type { Registry } from 'prom-client'
import type { NetworkTally } from '../../cards/processor/tally.ts'
import { addDurations } from './durations.ts'
import { addCounter, addGauge, tally } from './series.ts'

/** Adds the metrics of the network listener. They have no series in a process without it. */
export function addNetwork(registry: Registry, network: () => NetworkTally | undefined): void {
  const tallies = () => [...(network()?.tallies() ?? [])]
  addCounter(
    registry,
    'svc_network_messages_total',
    'Answered messages of the card network, by kind and by decision or outcome.',
    ['environment', 'kind', 'outcome'],
    () =>
      tallies().flatMap(({ environment, kind, outcomes }) =>
        tally(outcomes, 'outcome', { environment, kind }),
      ),
  )
  addDurations(
    registry,
    'svc_network_message_duration_seconds',
    'Time from the arrival of a message of the card network to the answer.',
    ['environment', 'kind'],
    () => tallies().map((each) => [{ environment: each.environment, kind: each.kind }, each]),
  )
  addCounter(
    registry,
    'svc_network_unavailable_total',
    'Messages that were answered with unavailable: by the exchange, at the deadline, after a failure or because of overload.',
    ['reason'],
    () => tally(network()?.unavailable ?? new Map(), 'reason'),
  )
  addCounter(
    registry,
    'svc_network_refused_total',
    'Requests to the network listener that were refused, by error code.',
    ['code'],
    () => tally(network()?.refused ?? new Map(), 'code'),
  )
  addGauge(
    registry,
    'svc_network_messages_under_way',
    'Messages of the card network in progress.',
    [],
    () => {
      const source = network()
      return source ? [[{}, source.underWay()]] : []
    },
  )
}
