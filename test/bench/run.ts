import { parseArgs } from 'node:util'
import { against } from './against.ts'
import { runGrowth } from './growth/run.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { printJson, printTable, progress } from './report.ts'
import { type Outcome, runRow } from './row.ts'
import { ROWS } from './rows.ts'
import { otherCommand, serviceCommand } from './servers/build.ts'
import { stopEverything } from './servers/child.ts'

const INVALID = 1
const WRONG_USAGE = 2

async function main(options: Options): Promise<void> {
  const { rounds, seconds, streams, only, against: folder } = options
  const chosen = only.length ? ROWS.filter((row) => only.includes(row.name)) : ROWS
  const rows = folder ? chosen.map((row) => against(row, otherCommand(folder))) : chosen
  const bench = { rounds, seconds, streams, command: serviceCommand() }
  if (options.growth) {
    await runGrowth(options.growth, bench, options)
    return
  }
  const outcomes: Outcome[] = []
  for (const row of rows) {
    progress(`${row.name}: ${row.title} …`)
    outcomes.push(await runRow(row, bench))
  }
  if (options.json) printJson(outcomes, options)
  else printTable(outcomes, options)
  // A goal that was missed is a figure to read, not a failure; only a run that proves nothing is one.
  process.exitCode = outcomes.some((outcome) => outcome.invalid) ? INVALID : 0
}

function optionsOrExit(): Options {
  const args = process.argv.slice(2)
  try {
    if (parseArgs({ args, options: { help: { type: 'boolean' } }, strict: false }).values.help)
      exit(`${USAGE}\n\nThe rows:\n${listRows()}`, 0)
    const options = parseOptions(args)
    if (options.against) otherCommand(options.against)
    const unknown = options.only.find((name) => !ROWS.some((row) => row.name === name))
    if (unknown) throw new Error(`no row is called ${unknown}: there is ${ROWS.map((row) => row.name).join(', ')}`)
    return options
  } catch (error) {
    return exit(`${(error as Error).message}\n\n${USAGE}`, WRONG_USAGE)
  }
}

function listRows(): string {
  const width = Math.max(...ROWS.map(({ name }) => name.length))
  return ROWS.map(
    ({ name, title, peer }) => `  ${name.padEnd(width)}  ${title}${peer ? `, against ${peer}` : ''}`,
  ).join('\n')
}

function exit(text: string, code: number): never {
  process.stderr.write(`${text}\n`)
  process.exit(code)
}

process.on('exit', stopEverything)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(INVALID))

await main(optionsOrExit())
