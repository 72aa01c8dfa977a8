/** Queries of an older version → the next one's: ignored parameters, and filters whose values have other names. */
import type { Report } from '../diagnostics.ts'
import { docComment, literal, member, propertyKey, stringLiteral } from '../print/literal.ts'
import type { StageFile } from './translations-file.ts'
import { isSet, type QueryRewrite, type Stage } from './translations-stage.ts'

/** @returns the name of the function of an operation's query, or undefined when nothing changes in it. */
export function printQuery(id: string, stage: Stage, file: StageFile, report: Report): string | undefined {
  const query = stage.queries.get(id)
  if (!query) return undefined
  const operation = stage.old.operations.find((each) => each.id === id)
  return file.declare(`${id}_query_up`, (name) => {
    const members = [...query].map(([parameterName, rewrite]) => {
      const parameter = operation?.parameters.find(
        (each) => each.in === 'query' && each.name === parameterName,
      )
      if (rewrite.kind === 'turn' && parameter && !isSet(parameter)) {
        report.add({
          code: 'translation-filter',
          severity: 'error',
          place: parameter.place,
          message: `${parameterName} of ${id} is no equality filter, but the change ${rewrite.by.change.id} gives each value several meanings`,
          hint: 'mark it as one with `x-filter: equality`',
        })
      }
      const set = parameter !== undefined && isSet(parameter)
      const code = parameterCode(
        rewrite,
        `query${member(parameterName)}`,
        set,
        `${id}_${parameterName}`,
        file,
      )
      return `${propertyKey(parameterName)}: ${code}`
    })
    return [
      docComment(`Query of ${id}: ${file.version} → ${file.next}.`).trimEnd(),
      `export function ${name}(query: Value): Value {`,
      `  return { ...query, ${members.join(', ')} }`,
      '}',
    ]
  })
}

function parameterCode(
  rewrite: QueryRewrite,
  at: string,
  set: boolean,
  hint: string,
  file: StageFile,
): string {
  switch (rewrite.kind) {
    case 'ignore':
      return 'undefined'
    case 'turn':
      return `${at}?.flatMap((value: Value) => ${file.change(rewrite.by.change)}.lenses[${rewrite.by.index}].up(value))`
    case 'names': {
      const names = table(rewrite.names, 'string', hint, file)
      const one = (value: string) => `${names}.get(${value}) ?? ${value}`
      return set ? `${at}?.map((value: Value) => ${one('value')})` : one(at)
    }
    case 'values': {
      const values = table(rewrite.values, 'string[]', hint, file)
      return `${at}?.flatMap((value: Value) => ${values}.get(value) ?? [value])`
    }
  }
}

function table(entries: ReadonlyMap<string, unknown>, type: string, hint: string, file: StageFile): string {
  const printed = [...entries].map(([from, to]) => `[${stringLiteral(from)}, ${literal(to)}]`)
  return file.table(`${hint}_values`, `new Map<unknown, ${type}>([${printed.join(', ')}])`)
}
