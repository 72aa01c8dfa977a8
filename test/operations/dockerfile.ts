/** The instructions of `deploy/Dockerfile`, by stage. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DockerfileParser, JSONInstruction } from 'dockerfile-ast'
import { ROOT } from '../support/programs.ts'

export interface DockerInstruction {
  readonly keyword: string
  /** Text after the keyword and its flags. */
  readonly text: string
  readonly words: readonly string[]
  /** Stage that a COPY copies from. */
  readonly from: string | undefined
  /** Command in the JSON form, if the instruction has it. */
  readonly command: readonly string[]
}

export interface DockerStage {
  readonly base: string
  readonly name: string
  readonly instructions: readonly DockerInstruction[]
}

const parseJson = (text: string): readonly string[] => JSON.parse(text.slice(text.indexOf('[')))

export function readDockerfile(text = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')): DockerStage[] {
  const stages: { base: string; name: string; instructions: DockerInstruction[] }[] = []
  for (const each of DockerfileParser.parse(text).getInstructions()) {
    const keyword = each.getKeyword()
    const words = each.getArguments().map((argument) => argument.getValue())
    if (keyword === 'FROM') {
      stages.push({ base: words[0]!, name: words[2] ?? String(stages.length), instructions: [] })
      continue
    }
    const flags = each instanceof JSONInstruction ? each.getFlags() : []
    const from = flags.find((flag) => flag.getName() === 'from')?.getValue() ?? undefined
    const content = each.getArgumentsContent() ?? ''
    const isJson = content.includes('["')
    stages
      .at(-1)!
      .instructions.push({ keyword, text: content, words, from, command: isJson ? parseJson(content) : [] })
  }
  return stages
}
