import { between } from 'dateline/change'
import type * as Old from '../../generated/2025-06-01/types.ts'
import type * as New from '../../generated/2025-11-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'add-card-events',
  why:
    'Cards, transactions, disputes, settlements and payouts send events. 2025-06-01 does not have these types: endpoints ' +
    'and event lists omit them in that version, but an endpoint stays subscribed to types that it does not show',
  lenses: [
    v.leaveOut(['WebhookEndpoint'], 'enabled_events', { unless: 'EnabledEvent', loss: 'drop' }),
    v.leaveOut(['EventList'], 'data', { unless: 'EventType', by: 'type', loss: 'drop' }),
  ],
})
