/** Runs a move that kills its own process at a step. Arguments: tenant, file with settings of the target, step. */
import { operate } from '../../../runtime/operator/command/operate.ts'
import { readTarget, withTarget } from '../../../runtime/operator/moves/installations.ts'
import { moveTenant } from '../../../runtime/operator/moves/move.ts'

const [tenantId = '', to = '', at = ''] = process.argv.slice(2)
const say = () => {}

await operate({ env: process.env, say }, (operator, _production, _room, database) =>
  withTarget(readTarget(to, process.env), say, (target) =>
    moveTenant({ operator, database }, target, tenantId, {
      maxPauseMs: 30_000,
      say,
      before: (step) => {
        if (step === at) process.kill(process.pid, 'SIGKILL')
      },
    }),
  ),
)
