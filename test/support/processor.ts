/**
 * Returns the CPU time of this process in milliseconds. Use it to test costs: elapsed time also depends on the other
 * work of the machine.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
