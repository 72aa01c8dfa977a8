/** Names the faults for the process that they are put into, as JSON. */
export const FAULTS_VARIABLE = 'SIMULATION_FAULTS'

/** Names a file that receives the text of each statement that PostgreSQL gets, as JSON, one a line. */
export const STATEMENTS_VARIABLE = 'SIMULATION_STATEMENTS'

/** A part of a file, and the text that replaces it. */
export interface Replacement {
  /** Path below the root of the project. */
  readonly file: string
  /** Offset of the part, in characters. */
  readonly start: number
  readonly end: number
  readonly text: string
}
