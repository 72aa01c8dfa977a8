/** The ways in which a round of the proof moves the tenant. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { MoveStep } from '../../../runtime/operator/moves/move.ts'
import { runAdmin, startProgram, until } from '../../support/programs.ts'
import type { Place } from './place.ts'

/**
 * A step: the command is killed there, and run again. `sometime`: it is killed at a random time. `abort`: the move that a
 * killed command has left behind is given up, and begins again. `import`: the tenant moves in an export, and the import is killed
 * and run again. `suspended`: a process of the source does not run during the move. `back`: the command is killed before it
 * closes the source for good, and the other installation then fetches the tenant with `--back`. `abandoned`: the command is
 * killed behind the fence, and nothing else happens until the service accepts writes again.
 */
export type RoundKind =
  | MoveStep
  | 'undisturbed'
  | 'sometime'
  | 'abort'
  | 'import'
  | 'suspended'
  | 'back'
  | 'abandoned'

export interface MoveFigures {
  readonly rows?: number
  readonly rounds?: number
  readonly pause_ms?: number
}

export interface Round {
  readonly from: Place
  readonly to: Place
  readonly tenantId: string
  /** Folder of the proof. */
  readonly root: string
  /** Waits until a write succeeds at the source. */
  succeed(): Promise<void>
  /** Runs the move while a process of the source is suspended, and checks what that process answers. */
  refuse(from: Place, move: () => Promise<MoveFigures>): Promise<MoveFigures>
}

async function killMoveAt(step: MoveStep | 'sometime', { from, to, tenantId }: Round): Promise<void> {
  const words = ['test/operations/move/dying-move.ts', tenantId, to.file, step]
  const dying = startProgram(process.execPath, words, from.env)
  if (step === 'sometime') setTimeout(() => dying.child.kill('SIGKILL'), 400 + Math.random() * 1200)
  const { signal, code, stderr } = await dying.ended
  if (signal !== 'SIGKILL' && !(step === 'sometime' && code === 0))
    throw new Error(`the move was not killed at ${step}: ${code} ${stderr}`)
}

async function expectFence({ from, tenantId }: Round): Promise<void> {
  const { stdout } = await startProgram(process.execPath, ['runtime/operator/command/doctor.ts'], from.env)
    .ended
  if (!stdout.includes(`${tenantId} has been closed for writes since`))
    throw new Error(`the doctor does not name the tenant that the killed move has closed:\n${stdout}`)
}

async function giveUp(round: Round): Promise<void> {
  const { from, to, tenantId, succeed } = round
  await killMoveAt('compare', round)
  await expectFence(round)
  await from.admin('tenant', 'move', tenantId, '--to', to.file, '--abort')
  await succeed()
}

/** Moves the tenant in an export, and kills the first import when it has written rows. */
async function exportAndImport({ from, to, tenantId, root }: Round): Promise<MoveFigures> {
  const folder = join(root, 'export')
  rmSync(folder, { recursive: true, force: true })
  await from.admin('tenant', 'export', tenantId, '--to', folder, '--sealed', '--close')
  const env = { ...to.env, SVC_CARD_SECRET_PREVIOUS: from.env.SVC_CARD_SECRET! }
  const words = ['runtime/operator/command/admin.ts', 'tenant', 'import', folder, '--json']
  const dying = startProgram(process.execPath, words, env)
  const state = `SELECT FROM control.tenant_moves WHERE tenant_id = $1 AND state = 'arriving'
                    AND EXISTS (SELECT FROM control.keys WHERE tenant_id = $1)`
  await until('the import to begin', async () => (await to.read(state, [tenantId])).length > 0, 60_000)
  dying.child.kill('SIGKILL')
  const { signal } = await dying.ended
  if (signal !== 'SIGKILL') throw new Error('the import ended before it was killed')
  const { code, stdout, stderr } = await runAdmin(env, 'tenant', 'import', folder, '--json')
  if (code !== 0) throw new Error(`the second import failed: ${stderr}`)
  return JSON.parse(stdout)
}

/** Moves the tenant. */
export async function moveIn(kind: RoundKind, round: Round): Promise<MoveFigures> {
  const { from, to, tenantId } = round
  const move = (): Promise<MoveFigures> =>
    from.admin('tenant', 'move', tenantId, '--to', to.file, '--hint', to.url)
  if (kind === 'import') return exportAndImport(round)
  if (kind === 'suspended') return round.refuse(from, move)
  if (kind === 'back') {
    await killMoveAt('leave', round)
    return to.admin('tenant', 'move', tenantId, '--to', from.file, '--back', '--hint', to.url)
  }
  if (kind === 'abandoned') {
    await killMoveAt('compare', round)
    await round.succeed()
  } else if (kind === 'abort') await giveUp(round)
  else if (kind !== 'undisturbed') await killMoveAt(kind, round)
  return move()
}
