import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'add-sanctions-events',
  why:
    '`cardholder.sanctions.alert` and `cardholder.sanctions.resolved` report possible matches with a sanctions list. ' +
    'Earlier versions omit these types from endpoints and event lists',
  lenses: [
    v.leaveOut(['WebhookEndpoint'], 'enabled_events', { unless: 'EnabledEvent', loss: 'drop' }),
    v.leaveOut(['EventList'], 'data', { unless: 'EventType', by: 'type', loss: 'drop' }),
  ],
})
