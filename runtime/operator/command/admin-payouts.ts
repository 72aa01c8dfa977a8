/** Commands about payouts of tenants. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { decidePayout, PAYOUT_OUTCOMES, retryPayout, showHeldUp } from '../held-up-payouts.ts'
import { showPayout } from '../payouts.ts'
import { type AddVerb, type OperatorRunner, tenantOption } from './admin-options.ts'

/** Returns the hash in lower case. @throws InvalidArgumentError unless the text is the hash of a transaction. */
function readTransaction(text: string): string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('Expected the hash of a transaction: 0x and 64 hexadecimal digits.')
}

/** Adds the verbs of `payout`. */
export function addPayouts(payout: Command, verb: AddVerb, run: OperatorRunner): void {
  const payoutArgument = () => new Argument('<payout>', 'payout ID (po_…)')
  verb(payout, 'show', 'show a payout with its chain or bank transfer and its ledger postings')
    .addArgument(payoutArgument())
    .addOption(tenantOption())
    .action((id: string, options: { tenant: string }, command: Command) =>
      run(command, (operator) => showPayout(operator, options.tenant, id)),
    )
  verb(payout, 'held-up', 'list the payouts that are held up, since when and why').action(
    (_: unknown, command: Command) => run(command, showHeldUp),
  )
  verb(payout, 'retry', 'retry a held-up payout immediately')
    .addArgument(payoutArgument())
    .addOption(tenantOption())
    .action((id: string, options: { tenant: string }, command: Command) =>
      run(command, (operator) => retryPayout(operator, options.tenant, id)),
    )
  verb(payout, 'decide', 'record the outcome of a payout if its chain or bank contradicts itself')
    .addArgument(payoutArgument())
    .addOption(tenantOption())
    .addOption(
      new Option('--outcome <outcome>', 'outcome that you have verified elsewhere')
        .choices(PAYOUT_OUTCOMES)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--transaction <hash>',
        'transaction that shows the outcome, for a payment on a chain (default: the last one that the node has shown)',
      ).argParser(readTransaction),
    )
    .action(
      (
        id: string,
        options: { tenant: string; outcome: 'paid' | 'failed'; transaction?: string },
        command: Command,
      ) =>
        run(command, (operator) =>
          decidePayout(operator, options.tenant, id, options.outcome, options.transaction),
        ),
    )
}
