/** Worker thread that draws barcodes: the library is large, and a long code takes about 100 ms. */
import { parentPort } from 'node:worker_threads'
import { type Barcode, drawBarcode } from '../render/page/barcode.ts'

parentPort?.on('message', (barcode: Barcode) => parentPort?.postMessage(drawBarcode(barcode)))
