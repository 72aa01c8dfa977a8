import { between } from 'dateline/change'
import type * as Old from '../../generated/2025-11-01/types.ts'
import type * as New from '../../generated/2026-02-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'add-decision-events',
  why:
    '`authorization_decision.timed_out` and `authorization_decision.errored` report that an authorization endpoint did not ' +
    'decide. Earlier versions omit these types from endpoints and event lists',
  lenses: [
    v.leaveOut(['WebhookEndpoint'], 'enabled_events', { unless: 'EnabledEvent', loss: 'drop' }),
    v.leaveOut(['EventList'], 'data', { unless: 'EventType', by: 'type', loss: 'drop' }),
  ],
})
