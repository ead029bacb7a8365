#!/usr/bin/env node
import { runCommand } from 'citty'
import { VERSION } from '../lib/core/version.ts'
import { checkArgs, findCommand } from './args/command.ts'
import { nameSubject } from './args/subject.ts'
import { renderCommandUsage } from './args/usage.ts'
import { root } from './commands.ts'
import { isUsageError, reportFailure, toExitCode } from './errors.ts'
import { exitOnBrokenOutput } from './output.ts'

async function main(rawArgs: string[]): Promise<void> {
  const [first] = rawArgs
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${VERSION}\n`)
    return
  }
  let match = await findCommand(root, rawArgs)
  if (first === undefined || rawArgs.includes('--help') || rawArgs.includes('-h')) {
    process.stdout.write(await renderCommandUsage(match, process.stdout))
    return
  }
  try {
    match = await nameSubject(match)
    await checkArgs(match)
    // The subcommands of a command that also runs by itself are not its arguments.
    const { subCommands, ...command } = match.command
    await runCommand(command.run ? command : match.command, { rawArgs: match.rawArgs })
  } catch (error) {
    if (isUsageError(error)) process.stderr.write(`${await renderCommandUsage(match, process.stderr)}\n`)
    fail(error)
  }
}

function fail(error: unknown): void {
  reportFailure(error, { json: process.argv.includes('--json') })
  process.exitCode = toExitCode(error)
}

exitOnBrokenOutput()
process.on('uncaughtException', (error) => {
  fail(error)
  process.exit()
})
await main(process.argv.slice(2)).catch(fail)
// The channel to the primary process would keep a worker running, which serves nothing.
if (process.exitCode && process.connected) process.exit()
