/** SQL condition that leaves out rows of spaces whose clock is behind. @param row alias of their table. */
export const notBehind = (row: string): string =>
  `NOT EXISTS (SELECT FROM settlement_clocks k WHERE k.tenant_id = ${row}.tenant_id AND k.offset_ms < 0)`
