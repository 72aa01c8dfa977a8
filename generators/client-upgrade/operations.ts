/** Finds the operations behind the functions and methods of a version of the client package. */
import type { ts } from 'ts-morph'
import type { MethodRow, UpgradeManifest } from './rules.ts'
import type { TypeScriptCompiler } from './sites.ts'

/** A method that takes one object, a function, or a method of a resource. */
type CallForm = 'flat' | 'function' | 'resource'

/** The class that holds the outermost resources. */
const ROOT = 'Resources' as ts.__String

export interface CalledOperation {
  readonly id: string
  readonly form: CallForm
  readonly row: MethodRow
}

export interface Operations {
  /** Returns the operation that a symbol of the version calls; undefined for other symbols. */
  calledBy(symbol: ts.Symbol): CalledOperation | undefined
  /** Returns the operation whose parameters have a type of this name. */
  ofParams(type: string): CalledOperation | undefined
  /** Returns whether the resources declare a symbol. */
  isOfResources(symbol: ts.Symbol | undefined): boolean
}

/** Returns how programs call an operation in a version; undefined if no version up to it has the operation. */
export function methodRow(
  { versions, methods }: UpgradeManifest,
  version: string,
  id: string,
): MethodRow | undefined {
  const known = versions.slice(0, versions.indexOf(version) + 1)
  const having = known.findLast((each) => Object.hasOwn(methods[each] ?? {}, id))
  return having === undefined ? undefined : methods[having]![id]
}

/**
 * @param folder the folder of the version in the package, which ends with a slash.
 */
export function createOperations(
  ts: TypeScriptCompiler,
  { program, checker }: { readonly program: ts.Program; readonly checker: ts.TypeChecker },
  folder: string,
  manifest: UpgradeManifest,
  version: string,
): Operations {
  const fileOf = (name: string) =>
    ['.d.ts', '.ts'].map((end) => program.getSourceFile(folder + name + end)).find((each) => each)
  const [functions, flat, resources] = [fileOf('functions'), fileOf('flat'), fileOf('resources')]
  const ids = new Set(manifest.versions.flatMap((each) => Object.keys(manifest.methods[each] ?? {})))
  const called = [...ids].flatMap((id): CalledOperation[] => {
    const row = methodRow(manifest, version, id)
    return row ? [{ id, form: 'resource', row }] : []
  })
  const byPath = new Map(called.map((each) => [each.row.method.join('.'), each]))
  const byParams = new Map(called.map((each) => [each.row.params, each]))
  const bySymbol = new Map<ts.Symbol, CalledOperation>()
  const isOfResources = (symbol: ts.Symbol | undefined) =>
    resources !== undefined && symbol?.declarations?.[0]?.getSourceFile() === resources
  const root = resources && checker.getSymbolAtLocation(resources)?.exports?.get(ROOT)
  if (root) walk(checker.getDeclaredTypeOfSymbol(root), [])

  /** Records the methods of a resource and of those below it. */
  function walk(resource: ts.Type, names: readonly string[]): void {
    for (const property of resource.getProperties().filter(isOfResources)) {
      const path = [...names, property.name]
      const method = byPath.get(path.join('.'))
      if (!(property.flags & ts.SymbolFlags.Method)) walk(checker.getTypeOfSymbol(property), path)
      else if (method) bySymbol.set(property, method)
    }
  }

  return {
    isOfResources,
    ofParams: (type) => byParams.get(type),
    calledBy(symbol) {
      const file = symbol.declarations?.[0]?.getSourceFile()
      if (file === undefined) return undefined
      if (file === resources) return bySymbol.get(symbol)
      const form = file === functions ? 'function' : file === flat ? 'flat' : undefined
      const row = form && ids.has(symbol.name) ? methodRow(manifest, version, symbol.name) : undefined
      return form && row && { id: symbol.name, form, row }
    },
  }
}
