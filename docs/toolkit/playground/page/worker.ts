/** The worker of the playground: compares documents while the page stays responsive. */
import { answerRequest } from '../answer.ts'
import type { CompareRequest } from '../messages.ts'

addEventListener('message', ({ data }: MessageEvent<CompareRequest>) => {
  postMessage(answerRequest(data))
})
