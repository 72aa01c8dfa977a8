/** Commands for the card network's side: the processor, its certificates and signing keys. */
import { readFileSync } from 'node:fs'
import { Argument, type Command, Option } from 'commander'
import { decodeMessage, IsoFormatError } from '../../cards/iso8583/codec/decode.ts'
import { describeMessage } from '../../cards/iso8583/codec/dump.ts'
import { DIALECTS } from '../../cards/iso8583/dialects/dialects.ts'
import {
  addCertificate,
  createSigningKey,
  listCertificates,
  listSigningKeys,
  nameProcessor,
  retireCertificate,
  retireSigningKey,
  showProcessor,
} from '../../cards/processor/processors.ts'
import { messageOf } from '../../database/errors.ts'
import type { Environment } from '../../platform/environment.ts'
import { ISO_DIALECTS, type IsoDialectName } from '../../platform/settings.ts'
import { ControlError } from '../../tenants/admin/change.ts'
import { addClearing } from './admin-clearing.ts'
import { type AddNoun, type AddVerb, environmentOption, type OperatorRunner } from './admin-options.ts'
import type { CommandSurroundings } from './surroundings.ts'

interface InEnvironment {
  readonly env: Environment
}

/** Adds the verbs of `admin network`. */
export function addNetwork(
  noun: AddNoun,
  verb: AddVerb,
  run: OperatorRunner,
  surroundings: CommandSurroundings,
): void {
  const network = noun('network', 'the card network: processors and their messages')
  addProcessor(network, verb, run)
  addCertificates(network, verb, run)
  addKeys(network, verb, run)
  addDecode(network, surroundings)
  addClearing(network, verb, run, surroundings)
}

function addProcessor(network: Command, verb: AddVerb, run: OperatorRunner): void {
  const processor = network.command('processor').description('the processor of an environment')
  verb(processor, 'set', 'create or rename the processor of an environment')
    .addOption(environmentOption())
    .requiredOption('--name <name>', 'name of the processor')
    .action(({ env, name }: InEnvironment & { name: string }, command: Command) =>
      run(command, (operator) => nameProcessor(operator, env, name)),
    )
  verb(processor, 'show', 'show the processor, its certificates and keys, and the latest changes')
    .addOption(environmentOption())
    .action(({ env }: InEnvironment, command: Command) =>
      run(command, (operator) => showProcessor(operator, env)),
    )
}

function addCertificates(network: Command, verb: AddVerb, run: OperatorRunner): void {
  const certificate = network.command('certificate').description('client certificates of the processor')
  verb(certificate, 'add', 'accept a client certificate')
    .addOption(environmentOption())
    .requiredOption('--file <file>', 'the certificate in PEM format')
    .action(({ env, file }: InEnvironment & { file: string }, command: Command) =>
      run(command, (operator) => addCertificate(operator, env, read(file))),
    )
  verb(certificate, 'list', 'list the certificates, oldest first')
    .addOption(environmentOption())
    .action(({ env }: InEnvironment, command: Command) =>
      run(command, async ({ control, clock }) => ({
        data: await listCertificates(control, env, clock.machine()),
      })),
    )
  verb(certificate, 'retire', 'stop accepting a certificate, at once')
    .addArgument(new Argument('<certificate>', 'certificate ID (ncrt_…)'))
    .action((id: string, _: unknown, command: Command) =>
      run(command, (operator) => retireCertificate(operator, id)),
    )
}

function addKeys(network: Command, verb: AddVerb, run: OperatorRunner): void {
  const key = network.command('key').description('keys that sign requests of the processor and answers to it')
  verb(key, 'create', 'create a signing key; its secret is shown once')
    .addOption(environmentOption())
    .action(({ env }: InEnvironment, command: Command) =>
      run(command, (operator) => createSigningKey(operator, env)),
    )
  verb(key, 'list', 'list the signing keys, oldest first')
    .addOption(environmentOption())
    .action(({ env }: InEnvironment, command: Command) =>
      run(command, async ({ control }) => ({ data: await listSigningKeys(control, env) })),
    )
  verb(key, 'retire', 'stop accepting and using a signing key, at once')
    .addArgument(new Argument('<key>', 'signing key ID (nkey_…)'))
    .action((id: string, _: unknown, command: Command) =>
      run(command, (operator) => retireSigningKey(operator, id)),
    )
}

/** The message is read from a file, because other users of the machine can see the words of a command. */
function addDecode(network: Command, { print }: CommandSurroundings): void {
  network
    .command('decode')
    .description('show the fields of an ISO 8583 message, with card numbers masked')
    .requiredOption('--file <file>', 'the bytes without their length, as hexadecimal digits')
    .addOption(new Option('--dialect <dialect>', 'how it is written').choices(ISO_DIALECTS).default('ascii'))
    .action(({ file, dialect }: { file: string; dialect: IsoDialectName }) => {
      print(`${decode(read(file).replaceAll(/\s/g, ''), dialect)}\n`)
    })
}

function decode(hex: string, name: IsoDialectName): string {
  if (!/^(?:[0-9A-Fa-f]{2})+$/.test(hex))
    throw new ControlError('invalid', 'the file does not have pairs of hexadecimal digits')
  const dialect = DIALECTS[name]
  try {
    return describeMessage(decodeMessage(dialect, Buffer.from(hex, 'hex')), dialect)
  } catch (error) {
    if (!(error instanceof IsoFormatError)) throw error
    throw new ControlError('invalid', error.message, { cause: error })
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ControlError('invalid', `${file} cannot be read: ${messageOf(cause)}`, { cause })
  }
}
