/** Simulates wallet installs and removals in the sandbox. */
import type { TestPassesHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { storing } from '../../api/handler.ts'
import { markInstalled, markUninstalled } from './installs.ts'
import { answersWithPasses } from './links.ts'
import { showingOf, showPass } from './view.ts'

interface InstallRequest {
  readonly body: components['schemas']['InstallSimulation']
}

const simulating = (mark: typeof markInstalled) =>
  storing(answersWithPasses, async (context: Context, { body }: InstallRequest) => {
    const { db, events } = context
    const showing = showingOf(context)
    const marked = await mark({ ...showing, db, events }, body.pass_id, body.platform)
    if (!marked) throw validationFailed([{ field: 'pass_id', issue: 'is not the ID of a pass' }])
    return { status: 200 as const, body: showPass(marked.pass, showing) }
  })

export const passSimulators = {
  simulateInstall: simulating(markInstalled),
  simulateUninstall: simulating(markUninstalled),
} satisfies Pick<TestPassesHandlers<Context>, 'simulateInstall' | 'simulateUninstall'>
