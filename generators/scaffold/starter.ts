/** The files of a new project, made from the templates in `starter/`. */
import Handlebars from 'handlebars'
import { readAsset } from '../assets/assets.ts'

/** Web frameworks that a new project can use. `node` is `node:http`. */
export const FRAMEWORKS = ['node', 'express', 'fastify', 'hono'] as const
export type Framework = (typeof FRAMEWORKS)[number]

export interface StarterFile {
  readonly path: string
  readonly text: string
}

/** The package of each framework, and the versions that the templates are written for. */
const PACKAGES: Readonly<Record<Framework, { readonly name: string; readonly version: string } | undefined>> =
  {
    node: undefined,
    express: { name: 'express', version: '5.3.0' },
    fastify: { name: 'fastify', version: '5.12.8' },
    hono: { name: 'hono', version: '4.13.19' },
  }

const handlebars = Handlebars.create()
handlebars.registerHelper('json', (value: unknown) => new handlebars.SafeString(JSON.stringify(value)))

const render = (template: string, view: object): string =>
  handlebars.compile(readAsset(`scaffold/starter/${template}.hbs`), { strict: true, noEscape: true })(view)

export interface NewProject {
  readonly name: string
  /** The first version of the API. */
  readonly version: string
  readonly framework: Framework
  /** Version of dateline. */
  readonly dateline: string
  /** Whether the Node that runs this strips types. If not, the project loads TypeScript with jiti. */
  readonly stripsTypes: boolean
}

/** @returns the files of a new API with one version. */
export function starterFiles(project: NewProject): StarterFile[] {
  const { framework, stripsTypes, version } = project
  const view = {
    ...project,
    flags: stripsTypes ? '' : '--import jiti/register ',
    framework: PACKAGES[framework] ?? null,
    types: framework === 'express' ? '5.0.6' : null,
    tested: true,
  }
  const files: readonly (readonly [path: string, template: string])[] = [
    ['package.json', 'package.json'],
    ['tsconfig.json', 'tsconfig.json'],
    ['.gitignore', 'gitignore'],
    ['dateline.config.json', 'dateline.config.json'],
    [`openapi/${version}.yaml`, 'openapi.yaml'],
    ['handlers.ts', 'handlers.ts'],
    ['api.ts', 'api.ts'],
    ['server.ts', `server-${framework}.ts`],
    ['api.test.ts', 'api.test.ts'],
    ['.github/workflows/api.yml', 'workflow.yml'],
    ['README.md', 'README.md'],
  ]
  return files.map(([path, template]) => ({ path, text: render(template, view) }))
}

/** @returns the files that check the versions of a service whose code comes first. */
export function adoptedFiles(source: string, version: string): StarterFile[] {
  return [
    { path: 'dateline.config.json', text: render('adopted.config.json', { source }) },
    { path: 'VERSIONS.md', text: render('VERSIONS.md', { source, version }) },
    { path: '.github/workflows/api.yml', text: render('workflow.yml', { tested: false }) },
  ]
}
