import { type Read, secretText, whole } from './setting-readers.ts'

export interface MonitoringSettings {
  /** Port for `/metrics`, `/livez` and `/readyz`, with any role. Absent if the port is closed. */
  readonly metricsPort?: number
  /** Token that `/metrics` and `/status` require. */
  readonly operatorToken?: string
  /** Time between two verifications of all ledgers and audit logs. 0 turns them off. */
  readonly verifyMs: number
}

const DAY_S = 86_400

export function readMonitoring(read: Read, production: boolean): MonitoringSettings {
  const metricsPort = read('METRICS_PORT', whole(undefined, 0, 65_535))
  const operatorToken = read('SVC_OPERATOR_TOKEN', secretText(production))
  return {
    verifyMs: (read('SVC_VERIFY_SECONDS', whole(DAY_S, 0, 30 * DAY_S)) ?? 0) * 1000,
    ...(metricsPort !== undefined && { metricsPort }),
    ...(operatorToken !== undefined && { operatorToken }),
  }
}
