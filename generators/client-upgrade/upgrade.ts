/** Upgrades a program through all steps between two versions. */
import type { Project, ts } from 'ts-morph'
import { applyEdits, type EditedText, newlineOf, positionAfter, positionBefore } from './edits.ts'
import type { ClientProgram, UpgradeMark } from './file-context.ts'
import { createOperations, methodRow } from './operations.ts'
import type { UpgradeManifest, UpgradeStep } from './rules.ts'
import { createSites, type TypeScriptCompiler } from './sites.ts'
import { type UpgradedFile, upgradeFile } from './step.ts'

/** A line that an upgrade changed, or that a person must look at. */
export interface UpgradePlace {
  readonly file: string
  /** The line before the upgrade and after it. */
  readonly before: number
  readonly after: number
  /** The line's text after the upgrade. */
  readonly text: string
  readonly version: string
  /** Id of the change; absent if no single change is the reason. */
  readonly change?: string | undefined
  readonly why: string
}

/** A change without a line. */
export interface ToldChange {
  readonly version: string
  readonly change: string
  readonly why: string
}

export interface UpgradeResult {
  /** Number of errors that the compiler reported before. Types that do not compile cannot be followed. */
  readonly errorsBefore: number
  readonly files: readonly { readonly path: string; readonly before: string; readonly after: string }[]
  /** Marked places that the compiler accepts: their meaning has changed, or may have. */
  readonly silent: readonly UpgradePlace[]
  /** Marked places that the compiler reports too. */
  readonly marked: readonly UpgradePlace[]
  /** What else the compiler reports, and did not report before. */
  readonly errors: readonly UpgradePlace[]
  readonly changed: readonly UpgradePlace[]
  /** Changes that concern no line. */
  readonly unconcerned: readonly ToldChange[]
  /** Changes whose lines cannot be found, for example of behavior. */
  readonly unplaced: readonly ToldChange[]
}

/** The text of a file through the steps, oldest first. */
interface FileHistory {
  readonly path: string
  readonly before: string
  readonly edited: (EditedText & { readonly step: number })[]
  readonly marks: (UpgradeMark & { readonly step: number })[]
  readonly changes: {
    readonly position: number
    readonly change: string | undefined
    readonly step: number
  }[]
}

/** Returns the steps between two versions; undefined if they are not versions of the package in this order. */
export function stepsBetween(
  { versions, steps }: UpgradeManifest,
  from: string,
  to: string,
): readonly UpgradeStep[] | undefined {
  const [first, last] = [versions.indexOf(from), versions.indexOf(to)]
  return first < 0 || last <= first ? undefined : steps.slice(first, last)
}

/**
 * Upgrades the files of a project in memory. The caller writes them.
 *
 * @param edit returns the edits and marks of one file in one step.
 */
export function upgradeProject(
  project: Project,
  ts: TypeScriptCompiler,
  manifest: UpgradeManifest,
  steps: readonly UpgradeStep[],
  edit: (program: ClientProgram, step: UpgradeStep, file: ts.SourceFile) => UpgradedFile = upgradeFile,
): UpgradeResult {
  const histories = new Map<string, FileHistory>()
  const earlier = reportsOf(project, ts, manifest.package)
  const known = new Set(earlier.map(keyOfReport))
  for (const [index, step] of steps.entries())
    upgradeStep(
      { project, ts, manifest, edit, from: steps[0]!.from, to: steps.at(-1)!.to },
      step,
      index,
      histories,
    )
  const touched = [...histories.values()]
  const reports = touched.length > 0 ? reportsOf(project, ts, manifest.package) : []
  const fresh = reports.filter((each) => !known.has(keyOfReport(each)))
  const places = touched
    .flatMap((history) => placesOf(project, ts, history, steps, fresh))
    // What the changes say comes before what may be, in the order of versions.
    .sort((a, b) => Number(orderOf(a.place) > orderOf(b.place)) - Number(orderOf(a.place) < orderOf(b.place)))
  const told = new Set(places.flatMap((place) => place.reports))
  const changed = touched.flatMap((history) =>
    history.changes.map((each) => placeAt(history, steps, each.step, each.position, { ...each, why: '' })),
  )
  const concerned = new Set(
    [...places.map(({ place }) => place), ...changed].map(({ version, change }) => `${version} ${change}`),
  )
  const lineless = steps
    .flatMap(({ to, changes }) =>
      Object.entries(changes).map(([change, why]) => ({ version: to, change, why })),
    )
    .filter(({ version, change }) => !concerned.has(`${version} ${change}`))
  const placed = new Set(
    steps.flatMap(({ to, sites, operations, headers }) =>
      [...Object.values(sites), ...Object.values(operations), headers]
        .flat()
        .map(({ change }) => `${to} ${change}`),
    ),
  )
  return {
    errorsBefore: earlier.length,
    files: touched
      .map(({ path, before, edited }) => ({ path, before, after: edited.at(-1)!.text }))
      .filter(({ before, after }) => before !== after),
    silent: places.filter(({ reports }) => reports.length === 0).map(({ place }) => place),
    marked: places.filter(({ reports }) => reports.length > 0).map(({ place }) => place),
    errors: fresh
      .filter((each) => !told.has(each))
      .map((each) => placeOfReport(each, histories.get(each.file.fileName), steps.at(-1)!.to)),
    changed,
    unconcerned: lineless.filter(({ version, change }) => placed.has(`${version} ${change}`)),
    unplaced: lineless.filter(({ version, change }) => !placed.has(`${version} ${change}`)),
  }
}

const orderOf = ({ version, change }: UpgradePlace): string =>
  change === undefined ? '~' : `${version} ${change}`

/** Returns the files of the program itself. */
const ownFiles = (project: Project, root: string | undefined): readonly ts.SourceFile[] =>
  project
    .getSourceFiles()
    .filter((file) => !file.isDeclarationFile() && !file.isInNodeModules())
    .map((file) => file.compilerNode)
    .filter(({ fileName }) => root === undefined || !fileName.startsWith(`${root}/`))

/** Returns the folder with the versions of the client package; undefined if no file imports it. */
function rootOf(project: Project, ts: TypeScriptCompiler, name: string): string | undefined {
  const checker = project.getTypeChecker().compilerObject
  for (const file of ownFiles(project, undefined))
    for (const statement of file.statements) {
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue
      const { moduleSpecifier } = statement
      if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier)) continue
      const { text } = moduleSpecifier
      if (text !== name && !text.startsWith(`${name}/`)) continue
      const found = checker.getSymbolAtLocation(moduleSpecifier)?.declarations?.[0]?.getSourceFile().fileName
      const folder = found?.slice(0, found.lastIndexOf('/'))
      if (folder) return text === name ? folder : folder.slice(0, folder.lastIndexOf('/'))
    }
  return undefined
}

interface ProjectUpgrade {
  readonly project: Project
  readonly ts: TypeScriptCompiler
  readonly manifest: UpgradeManifest
  readonly edit: typeof upgradeFile
  readonly from: string
  readonly to: string
}

function upgradeStep(
  { project, ts, manifest, edit, from, to }: ProjectUpgrade,
  step: UpgradeStep,
  index: number,
  histories: Map<string, FileHistory>,
): void {
  const name = manifest.package
  const root = rootOf(project, ts, name)
  if (root === undefined) return
  const program = project.getProgram().compilerObject
  const checker = project.getTypeChecker().compilerObject
  const types = ['.d.ts', '.ts']
    .map((extension) => program.getSourceFile(`${root}/${step.from}/types${extension}`))
    .find((file) => file !== undefined)
  if (!types) return
  const client: ClientProgram = {
    ...{ ts, checker, package: name, types, from, to },
    sites: createSites(ts, checker, types),
    operations: createOperations(ts, { program, checker }, `${root}/${step.from}/`, manifest, step.from),
    laterRow: (id) => methodRow(manifest, step.to, id),
  }
  const upgraded = ownFiles(project, root).map((file) => ({
    file,
    ...edit(client, step, file),
  }))
  for (const { file, edits, marks: found } of upgraded) {
    // A mark that an earlier upgrade or step wrote stays the only one.
    const commented = found.map((mark) => ({ mark, comment: commentOf(ts, file, mark) }))
    const marks = commented.flatMap(({ mark, comment }) => (comment ? [mark] : []))
    const comments = commented.flatMap(({ mark, comment }) => (comment && !mark.isNoted ? [comment] : []))
    if (edits.length + marks.length === 0) continue
    const history = histories.get(file.fileName) ?? {
      path: file.fileName,
      before: file.text,
      edited: [],
      marks: [],
      changes: [],
    }
    histories.set(file.fileName, history)
    history.edited.push({ ...applyEdits(file.text, [...edits, ...comments]), step: index })
    history.marks.push(...marks.map((mark) => ({ ...mark, step: index })))
    history.changes.push(...edits.map(({ start, change }) => ({ position: start, change, step: index })))
    project.getSourceFileOrThrow(file.fileName).replaceWithText(history.edited.at(-1)!.text)
  }
}

/** Returns the edit that writes a mark above the statement or member that holds it; undefined if it is there. */
function commentOf(ts: TypeScriptCompiler, file: ts.SourceFile, { start, version, why }: UpgradeMark) {
  const at = lineStart(file, anchorOf(ts, file, start).getStart(file, true))
  const indentation = /^[ \t]*/.exec(file.text.slice(at))![0]
  const comment = `${indentation}// upgrade ${version}: ${why.replaceAll(/\s+/g, ' ')}${newlineOf(file.text)}`
  return commentsAbove(file.text, at).includes(comment.trim())
    ? undefined
    : { start: at, end: at, parts: [comment] }
}

/** Returns the lines of comments directly above a line. */
function commentsAbove(text: string, at: number): readonly string[] {
  const lines = text.slice(0, at).split('\n').slice(0, -1)
  const last = lines.findLastIndex((line) => !line.trimStart().startsWith('//'))
  return lines.slice(last + 1).map((line) => line.trim())
}

const lineStart = (file: ts.SourceFile, position: number): number =>
  file.text.lastIndexOf('\n', position - 1) + 1

/** Returns the innermost statement or member at a position that begins a line. */
function anchorOf(ts: TypeScriptCompiler, file: ts.SourceFile, position: number): ts.Node {
  let anchor: ts.Node = file.statements[0] ?? file
  const visit = (node: ts.Node): void => {
    if (position < node.getStart(file) || position >= node.end) return
    const isOne =
      (ts.isStatement(node) && !ts.isBlock(node)) ||
      ts.isObjectLiteralElementLike(node) ||
      ts.isClassElement(node) ||
      ts.isTypeElement(node) ||
      ts.isCaseClause(node)
    const start = node.getStart(file)
    if (isOne && /^\s*$/.test(file.text.slice(lineStart(file, start), start))) anchor = node
    node.forEachChild(visit)
  }
  file.forEachChild(visit)
  return anchor
}

type Report = ts.Diagnostic & { readonly file: ts.SourceFile }

function reportsOf(project: Project, ts: TypeScriptCompiler, name: string): readonly Report[] {
  const program = project.getProgram().compilerObject
  return ownFiles(project, rootOf(project, ts, name))
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .filter((each): each is Report => each.file !== undefined)
}

const messageOf = ({ messageText }: ts.Diagnostic): string => {
  const [chain, lines] = [messageText, [] as string[]]
  for (let each: typeof chain | undefined = chain; each !== undefined; ) {
    lines.push(typeof each === 'string' ? each : each.messageText)
    each = typeof each === 'string' ? undefined : each.next?.[0]
  }
  return lines.join(' ')
}

const keyOfReport = (report: Report): string => `${report.file.fileName} ${report.code} ${messageOf(report)}`

/** Returns the marks of a file, with what the compiler reports in the same statement. */
function placesOf(
  project: Project,
  ts: TypeScriptCompiler,
  history: FileHistory,
  steps: readonly UpgradeStep[],
  reports: readonly Report[],
) {
  const file = project.getSourceFileOrThrow(history.path).compilerNode
  return history.marks.map((mark) => {
    const anchor = anchorOf(ts, file, finalPosition(history, mark.step, mark.start))
    const own = reports.filter(
      ({ file: of, start = 0 }) =>
        of.fileName === history.path && start >= anchor.getStart(file) && start < anchor.end,
    )
    return { place: placeAt(history, steps, mark.step, mark.start, mark), reports: own }
  })
}

const finalPosition = ({ edited }: FileHistory, step: number, position: number): number =>
  edited.filter((each) => each.step >= step).reduce((at, each) => positionAfter(each, at), position)

const firstPosition = ({ edited }: FileHistory, step: number, position: number): number =>
  edited.filter((each) => each.step < step).reduceRight((at, each) => positionBefore(each, at), position)

const lineOf = (text: string, position: number): number => text.slice(0, position).split('\n').length

function placeAt(
  history: FileHistory,
  steps: readonly UpgradeStep[],
  step: number,
  position: number,
  { change, why, version = steps[step]!.to }: Pick<UpgradePlace, 'why'> & Partial<UpgradePlace>,
): UpgradePlace {
  const text = history.edited.at(-1)!.text
  const after = lineOf(text, finalPosition(history, step, position))
  return {
    file: history.path,
    before: lineOf(history.before, firstPosition(history, step, position)),
    after,
    text: (text.split('\n')[after - 1] ?? '').trim(),
    version,
    change,
    why,
  }
}

function placeOfReport(report: Report, history: FileHistory | undefined, version: string): UpgradePlace {
  const { text } = report.file
  const position = report.start ?? 0
  const after = lineOf(text, position)
  return {
    file: report.file.fileName,
    before: history
      ? lineOf(history.before, firstPosition(history, Number.POSITIVE_INFINITY, position))
      : after,
    after,
    text: (text.split('\n')[after - 1] ?? '').trim(),
    version,
    why: messageOf(report),
  }
}
