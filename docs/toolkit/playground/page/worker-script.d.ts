/** The bundled text of `worker.ts`. */
declare module 'playground:worker' {
  const script: string
  export default script
}
