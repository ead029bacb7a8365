import { statSync } from 'node:fs'
import type { Storage } from '../../lib/storage/open.ts'
import { assertMigratable, findSchemaVersion, SCHEMA_VERSION } from '../../lib/storage/schema/migrate.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { type ConfigFlags, loadConfig } from '../config/load.ts'
import { copyBeforeMigration } from '../copies.ts'
import { sqliteFile } from '../doctor/files.ts'
import { print, printNote, table } from '../output.ts'
import { waitArg, waitForDatabase } from '../wait.ts'
import { withStorage } from '../with-chat.ts'

export default defineCommand({
  meta: {
    name: 'migrate',
    description: 'Bring the schema up to date, or show the pending migrations',
  },
  example: 'chat-server migrate --plan --database sqlite:./data/chat.db',
  args: {
    plan: { type: 'boolean', description: 'Show pending migrations and change nothing' },
    status: { type: 'boolean', description: 'Show every migration and when it was applied' },
    ...waitArg,
    ...commonArgs,
  },
  run: async ({ args }) => {
    await waitForDatabase(loadConfig(args).config, args, printNote)
    if (args.plan && args.status) throw new UsageError('--plan and --status exclude each other')
    await withStorage(
      args.plan || args.status ? withoutCreating(args) : args,
      async (storage) => {
        if (args.status) {
          const migrations = await storage.migrations()
          const rows = migrations.map(({ name, applied_at, differs }) => [
            name,
            `${applied_at ?? 'pending'}${differs ? ` (${DIFFERS[differs]})` : ''}`,
          ])
          const database_schema = await findSchemaVersion(storage.db)
          const versions = database_schema
            ? `The database has the schema ${database_schema}, this program ${SCHEMA_VERSION}.`
            : `The database has no schema yet, this program ${SCHEMA_VERSION}.`
          const list = table(['MIGRATION', 'APPLIED'], rows)
          print(args, { schema: SCHEMA_VERSION, database_schema, migrations }, `${list}\n${versions}`)
          return assertUsable(storage)
        }
        await assertUsable(storage)
        if (args.plan) {
          const pending = (await storage.migrations()).flatMap(({ name, applied_at }) => (applied_at ? [] : name))
          return print(args, { pending }, pending.length > 0 ? pending.join('\n') : 'Nothing is pending.')
        }
        const copy = await copyBeforeMigration(storage, loadConfig(args).config, printNote)
        const applied = await storage.migrate()
        const done = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Already up to date.'
        return print(args, { applied, ...(copy && { copy }) }, copy ? `${done} The copy made before is ${copy}.` : done)
      },
      { create: true },
    )
  },
})

const DIFFERS = { newer: 'by a newer program', changed: 'with other statements' }

/** An empty database has nothing that could differ. */
async function assertUsable(storage: Storage): Promise<void> {
  if ((await storage.migrations()).some((step) => step.differs)) await assertMigratable(storage.db)
}

/** Replaces a missing file by an empty database in memory, so that showing the plan creates no file. */
function withoutCreating(flags: ConfigFlags): ConfigFlags {
  const file = sqliteFile(loadConfig(flags).config.database.url)
  // A file that this user may not reach is not missing: that is thrown.
  if (!file || statSync(file, { throwIfNoEntry: false })) return flags
  printNote(`There is no database at ${file}: "chat-server migrate" would create it.`)
  return { ...flags, database: 'sqlite::memory:' }
}
