import { runDoctor } from './doctor-run.ts'
import { ofProcess } from './surroundings.ts'

process.exitCode = await runDoctor(process.argv.slice(2), ofProcess())
