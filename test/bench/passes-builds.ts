/** Files for Apple Wallet beside passkit-generator's, of the same passes with the same images, by the same key. */
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { PKPass } from 'passkit-generator'
import { createPassBuilder, type PassBuilder } from '../../runtime/passes/wallets/render/apple/build.ts'
import { createImages } from '../../runtime/passes/wallets/render/apple/images.ts'
import { type AppleSigner, openAppleSigner } from '../../runtime/passes/wallets/render/apple/signer.ts'
import { arrangeFields } from '../../runtime/passes/wallets/render/layout.ts'
import type { PassState } from '../../runtime/passes/wallets/render/pass-state.ts'
import { picture, stateOf } from '../passes/render/states.ts'

const ROUNDS = 5
const OURS = 400
const THEIRS = 40
/** What is aimed at, at least. */
const AIM = 10
const MEMORY_BUILDS = 10_000

export interface BuildFigures {
  /** Files a second, medians: one after the other, eight at a time, passkit-generator's. */
  readonly ours: number
  readonly eightAtOnce: number
  readonly theirs: number
  /** Mebibytes in use after so many builds, as the collector leaves them. */
  readonly memory: readonly (readonly [builds: number, mebibytes: number])[]
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

async function perSecond(count: number, work: (index: number) => unknown, atOnce = 1): Promise<number> {
  const began = performance.now()
  const each = async (from: number) => {
    for (let index = from; index < count; index += atOnce) await work(index)
  }
  await Promise.all(Array.from({ length: atOnce }, (_, from) => each(from)))
  return (count / (performance.now() - began)) * 1000
}

/** A pass of its own each time, of one template. */
function stateAt(index: number, brand: PassState['brand']): PassState {
  const state = stateOf('loyalty', { brand })
  const passId = `pass_${String(index).padStart(26, '0')}`
  return { ...state, place: { ...state.place, passId } }
}

async function prepareTheirs(
  signer: AppleSigner,
  brand: PassState['brand'],
): Promise<(index: number) => Buffer> {
  const files = await createImages().filesOf({ kind: 'loyalty', brand }, [])
  const images = Object.fromEntries(files.map(({ name, content }) => [name, content]))
  const certificates = {
    wwdr: signer.chain[1].toString(),
    signerCert: signer.chain[0].toString(),
    signerKey: signer.key.export({ type: 'pkcs1', format: 'pem' }).toString(),
  }
  return (index) => {
    const state = stateAt(index, brand)
    const pass = new PKPass(images, certificates, {
      ...signer.passType,
      serialNumber: state.place.passId,
      organizationName: state.organization,
      description: state.name,
      backgroundColor: 'rgb(30, 58, 95)',
      foregroundColor: 'rgb(255, 255, 255)',
      labelColor: 'rgb(255, 255, 255)',
      webServiceURL: state.webServiceUrl,
      authenticationToken: state.appleToken,
    })
    pass.type = 'storeCard'
    const { primary, secondary, auxiliary, header, back } = arrangeFields('loyalty', state.fields)
    pass.primaryFields.push(...primary)
    pass.secondaryFields.push(...secondary)
    pass.auxiliaryFields.push(...auxiliary)
    pass.headerFields.push(...header)
    pass.backFields.push(...back)
    pass.setBarcodes({ format: 'PKBarcodeFormatQR', message: state.barcode.message })
    return pass.getAsBuffer()
  }
}

function collectorOf(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

async function measureMemory(builder: PassBuilder, brand: PassState['brand']): Promise<[number, number][]> {
  const collect = collectorOf()
  const found: [number, number][] = []
  for (let built = 0; built <= MEMORY_BUILDS; built += 1) {
    if (built % (MEMORY_BUILDS / 5) === 0) {
      collect()
      const { heapUsed, external } = process.memoryUsage()
      found.push([built, (heapUsed + external) / 2 ** 20])
    }
    await builder.build(stateAt(built, brand))
  }
  return found
}

/** @param dataDir where the chain is made. */
export async function measureBuilds(dataDir: string): Promise<BuildFigures> {
  const signer = openAppleSigner({ dataDir }, Date.now())
  const builder = createPassBuilder(signer)
  const brand = {
    background_color: '#1E3A5F',
    foreground_color: '#ffffff',
    icon: (await picture(87, 87)).toString('base64'),
    logo: (await picture(480, 150)).toString('base64'),
  }
  const build = (index: number) => builder.build(stateAt(index, brand))
  const buildTheirs = await prepareTheirs(signer, brand)
  await perSecond(50, build)
  await perSecond(5, buildTheirs)
  const [ours, eightAtOnce, theirs]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await perSecond(OURS, build))
    theirs.push(await perSecond(THEIRS, buildTheirs))
    eightAtOnce.push(await perSecond(OURS, build, 8))
  }
  return {
    ours: median(ours),
    eightAtOnce: median(eightAtOnce),
    theirs: median(theirs),
    memory: await measureMemory(builder, brand),
  }
}

export function printBuilds({ ours, eightAtOnce, theirs, memory }: BuildFigures): void {
  const line = (name: string, rate: number) =>
    console.log(
      `  ${name.padEnd(44)} ${rate.toFixed(0).padStart(8)} /s  ${(rate / theirs).toFixed(1).padStart(6)} ×`,
    )
  console.log(`files for Apple Wallet (aim: ${AIM} × passkit-generator):`)
  line('passkit-generator', theirs)
  line('one after the other', ours)
  line('eight at a time', eightAtOnce)
  console.log(`memory in use over ${MEMORY_BUILDS} builds (aim: flat), MiB:`)
  console.log(`  ${memory.map(([builds, size]) => `${builds}: ${size.toFixed(1)}`).join('   ')}`)
}
