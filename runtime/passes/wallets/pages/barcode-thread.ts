/** The thread that draws barcodes: the library is large, and a long code takes it a tenth of a second. */
import { parentPort } from 'node:worker_threads'
import { type Barcode, drawBarcode } from '../render/page/barcode.ts'

parentPort?.on('message', (barcode: Barcode) => parentPort?.postMessage(drawBarcode(barcode)))
