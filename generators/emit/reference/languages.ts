/** The languages of sample requests, in the order in which pages show them. */
import { csharpOf } from './csharp.ts'
import { curlOf } from './curl.ts'
import { goOf } from './go.ts'
import { javaOf } from './java.ts'
import type { Language } from './page.ts'
import { phpOf } from './php.ts'
import { pythonOf } from './python.ts'
import { rubyOf } from './ruby.ts'
import { typescriptOf } from './typescript.ts'

/** @param client the client's npm package; without one, there are no samples in TypeScript. */
export function languagesFor(client: string | undefined): Language[] {
  const typescript: Language[] =
    client === undefined
      ? []
      : [
          {
            title: 'TypeScript',
            fence: 'ts',
            inMarkdown: true,
            print: (page, operation) => typescriptOf(page, operation, client),
          },
        ]
  return [
    { title: 'curl', fence: 'sh', inMarkdown: true, print: curlOf },
    ...typescript,
    { title: 'Python', fence: 'py', inMarkdown: true, print: pythonOf },
    { title: 'Go', fence: 'go', inMarkdown: false, print: goOf },
    { title: 'Ruby', fence: 'rb', inMarkdown: false, print: rubyOf },
    { title: 'PHP', fence: 'php', inMarkdown: false, print: phpOf },
    { title: 'Java', fence: 'java', inMarkdown: false, print: javaOf },
    { title: 'C#', fence: 'cs', inMarkdown: false, print: csharpOf },
  ]
}
