/** Says at the end what the process has used: microseconds of processor, kilobytes at most. */
process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  process.stderr.write(`usage ${user + system} ${process.resourceUsage().maxRSS}\n`)
})
