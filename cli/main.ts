#!/usr/bin/env node
import { defineCommand, runCommand } from 'citty'
import { checkArgs, findCommand } from './command.ts'
import { exitCodeOf, isUsageError, reportFailure } from './failure.ts'
import { exitOnBrokenOutput } from './output.ts'
import { usageOf } from './usage.ts'
import { version } from './version.ts'

const root = defineCommand({
  meta: { name: 'chat-server', version, description: 'Multi-user conversations with threads and a live event stream' },
  subCommands: {
    serve: () => import('./commands/serve.ts').then((module) => module.default),
    setup: () => import('./commands/setup.ts').then((module) => module.default),
    migrate: () => import('./commands/migrate.ts').then((module) => module.default),
    user: () => import('./commands/user.ts').then((module) => module.default),
    session: () => import('./commands/session.ts').then((module) => module.default),
    invite: () => import('./commands/invite.ts').then((module) => module.default),
    audit: () => import('./commands/audit.ts').then((module) => module.default),
    events: () => import('./commands/events.ts').then((module) => module.default),
    backup: () => import('./commands/backup.ts').then((module) => module.default),
    restore: () => import('./commands/restore.ts').then((module) => module.default),
    export: () => import('./commands/export.ts').then((module) => module.default),
    import: () => import('./commands/import.ts').then((module) => module.default),
    doctor: () => import('./commands/doctor.ts').then((module) => module.default),
    fsck: () => import('./commands/fsck.ts').then((module) => module.default),
    limits: () => import('./commands/limits.ts').then((module) => module.default),
    config: () => import('./commands/config.ts').then((module) => module.default),
    openapi: () => import('./commands/openapi.ts').then((module) => module.default),
  },
})

async function main(rawArgs: string[]): Promise<void> {
  const [first] = rawArgs
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${version}\n`)
    return
  }
  const found = await findCommand(root, rawArgs)
  if (first === undefined || rawArgs.includes('--help') || rawArgs.includes('-h')) {
    process.stdout.write(await usageOf(found, process.stdout))
    return
  }
  try {
    await checkArgs(found)
    await runCommand(found.command, { rawArgs: found.rawArgs })
  } catch (error) {
    if (isUsageError(error)) process.stderr.write(`${await usageOf(found, process.stderr)}\n`)
    fail(error)
  }
}

function fail(error: unknown): void {
  reportFailure(error, { json: process.argv.includes('--json') })
  process.exitCode = exitCodeOf(error)
}

exitOnBrokenOutput()
process.on('uncaughtException', (error) => {
  fail(error)
  process.exit()
})
await main(process.argv.slice(2)).catch(fail)
