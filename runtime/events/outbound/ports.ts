export const HTTP_PORT = 80
export const HTTPS_PORT = 443
const FIRST_UNPRIVILEGED = 1024

/** Ports above 1023 that browsers also block (Fetch standard, "bad port"). */
const BAD_PORTS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]

/** Ports of data stores, queues and control planes, which might interpret an HTTP request as a command. */
const DATA_PORTS = [
  1433, 1434, 1521, 2181, 2375, 2376, 2379, 2380, 3306, 4369, 5432, 5672, 5984, 6379, 6443, 7000, 7001, 7474,
  7687, 8086, 8500, 9042, 9092, 9200, 9300, 10250, 10255, 11211, 16379, 26257, 26379, 27017, 27018, 27019,
  28015,
]

const CLOSED_PORTS = new Set([...BAD_PORTS, ...DATA_PORTS])

/** Returns whether webhooks may be sent to the port. */
export function isOpenPort(port: number): boolean {
  if (port < FIRST_UNPRIVILEGED) return port === HTTP_PORT || port === HTTPS_PORT
  return !CLOSED_PORTS.has(port)
}
