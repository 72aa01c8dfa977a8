/** How the simulator names itself, so that a service can refuse it. */
import type { Environment } from '../../platform/environment.ts'

/** Name of the processor, and common name of its certificate. */
export const SIMULATOR = 'Network simulator'

/** Organization in the simulator's certificate. */
export const SIMULATOR_ORGANIZATION = 'Card Network Simulator'

/** Returns whether a certificate is the simulator's in live, where it needs the setting SVC_NETWORK_SIMULATOR. */
export const isLiveSimulator = ({ environment, subject }: SimulatorCertificate): boolean =>
  environment === 'live' && subject.includes(`O=${SIMULATOR_ORGANIZATION}`)

interface SimulatorCertificate {
  readonly environment: Environment
  /** Names such as `CN=…, O=…`. */
  readonly subject: string
}

/** Notice of the ready line and of all console pages if live accepts the simulator. */
export const SIMULATOR_WARNING =
  'SVC_NETWORK_SIMULATOR: the live environment accepts simulated card messages, and no money moves on a card network'
