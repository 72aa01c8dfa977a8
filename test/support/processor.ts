/**
 * Milliseconds of processor that this process has used. For what may not cost too much: the time of day also counts
 * whatever else the machine does.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
