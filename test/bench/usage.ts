/** Says at the end what the process has used: microseconds of processor, kilobytes at most. */
import { isMainThread } from 'node:worker_threads'

// Node imports this in worker threads too, which end before.
process.on('exit', () => {
  if (!isMainThread) return
  const { user, system } = process.cpuUsage()
  process.stderr.write(`usage ${user + system} ${process.resourceUsage().maxRSS}\n`)
})
