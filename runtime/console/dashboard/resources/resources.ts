/** All resources that have pages, in the order of the menu. */
import type { Identified, Resource } from '../shape/shapes.ts'
import { EVENTS } from './events.ts'
import { WEBHOOK_ENDPOINTS } from './webhook-endpoints.ts'

export interface Group {
  readonly group: string
  readonly resources: readonly Resource<Identified>[]
}

export const RESOURCES: readonly Group[] = [{ group: 'Developers', resources: [EVENTS, WEBHOOK_ENDPOINTS] }]
