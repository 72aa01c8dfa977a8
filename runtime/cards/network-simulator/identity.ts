/** How the simulator names itself, so that a service can refuse it. */

/** Name of the processor, and common name of its certificate. */
export const SIMULATOR = 'Network simulator'

/** Organization in the simulator's certificate. */
export const SIMULATOR_ORGANIZATION = 'Card Network Simulator'

/** Notice of the ready line and of all console pages if live accepts the simulator. */
export const SIMULATOR_WARNING =
  'SVC_NETWORK_SIMULATOR: the live environment accepts simulated card messages, and no money moves on a card network'
