/** Runs the instructions of an image stage in a folder, as the root of a mount namespace. This requires no container daemon. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DockerStage } from './dockerfile.ts'

/**
 * Mounts the machine's programs and libraries into the folder, as a base image would have them, with the Node of the
 * project. With STAGE_VOLUME, only `/tmp` and that volume can be written. Then it runs the command as the user.
 */
const ENTER = `set -e
mount --bind "$STAGE" "$STAGE"
for each in usr etc; do mount --rbind -o ro "/$each" "$STAGE/$each"; done
mount --rbind /dev "$STAGE/dev"; mount -t proc proc "$STAGE/proc"
mount -t tmpfs tmpfs "$STAGE/tmp"; chmod 1777 "$STAGE/tmp"
if [ -n "$STAGE_CACHE" ]; then mkdir "$STAGE/tmp/npm"; mount --bind "$STAGE_CACHE" "$STAGE/tmp/npm"; fi
mount -t tmpfs tmpfs "$STAGE/usr/local"; mkdir "$STAGE/usr/local/bin"
touch "$STAGE/usr/local/bin/node"; mount --bind -o ro "$STAGE_NODE" "$STAGE/usr/local/bin/node"
if [ -n "$STAGE_VOLUME" ]; then
  mount --bind "$STAGE$STAGE_VOLUME" "$STAGE$STAGE_VOLUME"
  mount -o remount,bind,ro "$STAGE"
fi
exec chroot --userspec="$STAGE_USER" "$STAGE" env -i "\${@}"`

export interface Stage {
  readonly folder: string
  readonly env: Record<string, string>
  readonly arguments: Record<string, string>
  workdir: string
  user: string
  volume: string
  entrypoint: readonly string[]
  command: readonly string[]
  health: readonly string[]
}

/** Returns the program and words that run a command in the stage. The program requires root. */
export function enter(
  stage: Stage,
  words: readonly string[],
  {
    readOnly = false,
    env = {},
    cache = '',
  }: { readonly readOnly?: boolean; readonly env?: Record<string, string>; readonly cache?: string } = {},
): { readonly command: string; readonly words: string[]; readonly env: Record<string, string> } {
  const inside = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', ...stage.env, ...env }
  const variables = Object.entries(inside).map(([name, value]) => `${name}=${value}`)
  return {
    command: 'unshare',
    words: [
      ...['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'sh', '-c', ENTER, 'sh'],
      ...[...variables, 'env', '-C', stage.workdir, ...words],
    ],
    env: {
      STAGE: stage.folder,
      STAGE_USER: stage.user,
      STAGE_VOLUME: readOnly ? stage.volume : '',
      STAGE_NODE: process.execPath,
      STAGE_CACHE: cache,
    },
  }
}

export interface BuildOptions {
  /** Values of ARG instructions. */
  readonly buildArguments: Readonly<Record<string, string>>
  /** Variables for RUN only. */
  readonly env: Readonly<Record<string, string>>
  /** Folder of npm's cache, mounted at `/tmp/npm` for RUN. */
  readonly cache: string
}

/** Creates the root folder that a base image has. */
function createRoot(folder: string): void {
  for (const each of ['usr', 'etc', 'dev', 'proc', 'tmp', 'run', 'var/lib'])
    mkdirSync(join(folder, each), { recursive: true })
  for (const each of ['bin', 'sbin', 'lib', 'lib64'].filter((name) => existsSync(`/${name}`)))
    symlinkSync(readlinkSync(`/${each}`), join(folder, each))
}

/**
 * Runs a stage's instructions.
 * @param context folder of the build context.
 * @param others earlier stages, by name.
 */
export function buildStage(
  { instructions }: DockerStage,
  folder: string,
  context: string,
  others: ReadonlyMap<string, Stage>,
  { buildArguments, env, cache }: BuildOptions,
): Stage {
  createRoot(folder)
  const stage: Stage = {
    ...{ folder, env: {}, arguments: {}, workdir: '/', user: '0:0', volume: '' },
    ...{ entrypoint: [], command: [], health: [] },
  }
  for (const { keyword, text, words, from, command } of instructions) {
    const [word = ''] = words
    if (keyword === 'WORKDIR') {
      stage.workdir = word
      mkdirSync(join(folder, word), { recursive: true })
    } else if (keyword === 'COPY') {
      const source = from === undefined ? context : others.get(from)!.folder
      copy(source, words.slice(0, -1), join(folder, stage.workdir), words.at(-1)!, folder)
    } else if (keyword === 'RUN') {
      const inside = enter(stage, ['sh', '-c', text], { env: { ...env, ...stage.arguments }, cache })
      execFileSync(inside.command, inside.words, {
        env: { ...process.env, ...inside.env },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    } else if (keyword === 'ARG' || keyword === 'ENV') {
      const [name = '', value = ''] = word.split('=')
      if (keyword === 'ENV') stage.env[name] = value
      else stage.arguments[name] = buildArguments[name] ?? value
    } else if (keyword === 'USER') stage.user = word
    else if (keyword === 'VOLUME') stage.volume = word
    else if (keyword === 'ENTRYPOINT') stage.entrypoint = command
    else if (keyword === 'CMD') stage.command = command
    else if (keyword === 'HEALTHCHECK') stage.health = command
    else if (keyword !== 'EXPOSE') throw new Error(`the proof does not know the instruction ${keyword}`)
  }
  return stage
}

/** COPY: a folder's content goes into the destination, a file into a destination that ends with a slash. */
function copy(source: string, names: readonly string[], workdir: string, to: string, root: string): void {
  const destination = to.startsWith('/') ? join(root, to) : join(workdir, to)
  for (const name of names) {
    const isFile = to.endsWith('/') && !name.startsWith('/')
    const target = isFile ? join(destination, basename(name)) : destination
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(source, name), target, { recursive: true, verbatimSymlinks: true })
  }
}

/** Writes the secret as Docker mounts it: readable by the user of the image. */
export function mountSecret(stage: Stage, name: string, value: string): string {
  const path = join('/run/secrets', name)
  mkdirSync(join(stage.folder, '/run/secrets'), { recursive: true })
  writeFileSync(join(stage.folder, path), `${value}\n`, { mode: 0o444 })
  return path
}
