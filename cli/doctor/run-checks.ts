import { ChatError, createChatService, openStorage, type Storage } from '../../lib/index.ts'
import { assertImported } from '../../lib/storage/archive/import.ts'
import { inspectDatabase } from '../../lib/storage/inspect.ts'
import { assertMigrated } from '../../lib/storage/schema/migrate.ts'
import type { LoadedConfig } from '../config/load.ts'
import { messageOf } from '../errors.ts'
import { checkAddresses } from './addresses.ts'
import { checkConfiguration } from './configuration.ts'
import { judgeDatabase, judgeSchema } from './database.ts'
import { checkFile, sqliteFile } from './files.ts'
import { type Finding, failure, note, skipped } from './finding.ts'
import { checkServer } from './server.ts'
import { checkStream } from './stream.ts'
import { checkUpstreams } from './upstreams.ts'

/**
 * Looks at everything that a running service depends on. Nothing is changed, but for the trial of the event stream,
 * which takes back what it makes and leaves a line in the audit log.
 *
 * @param options.readOnly leaves the trial out
 */
export async function examine(loaded: LoadedConfig, options: { readOnly: boolean }): Promise<Finding[]> {
  const { config } = loaded
  const here = [...checkConfiguration(loaded), ...checkAddresses(config)]
  const [server, upstreams] = await Promise.all([checkServer(config), checkUpstreams(config)])
  const database = await checkDatabase(loaded, async (storage) => {
    if (!server.url) return [skipped('stream', 'No service was found whose event stream could be tried.')]
    if (!config.features.auth_v1) return [skipped('stream', 'features.auth_v1 is false: there is no event stream.')]
    if (options.readOnly) return [skipped('stream', 'With --read-only nobody is made who could open a stream.')]
    return tryStream(loaded, storage, server.url)
  })
  return [...here, ...server.findings, ...database, ...upstreams]
}

/** What there is to say of the database; and, where it can be worked with, what `next` finds. */
async function checkDatabase(
  { config }: LoadedConfig,
  next: (storage: Storage) => Promise<Finding[]>,
): Promise<Finding[]> {
  const { url } = config.database
  if (url === 'sqlite::memory:') {
    const message = 'The database is in the memory of the service: nothing of it can be seen from here, or outlives it.'
    return [note('database.in_memory', message, 'Give a file: sqlite:./data/chat.db')]
  }
  const path = sqliteFile(url)
  const findings: Finding[] = []
  let storage: Storage | undefined
  try {
    if (path) findings.push(...checkFile(path))
    if (findings.some(({ code }) => code === 'database.missing' || code === 'database.no_file')) {
      return [...findings, skipped('stream', 'There is no database to make somebody in who could open a stream.')]
    }
    // What `full` would refuse to open is to be looked at as well.
    storage = await openStorage({ database: url, durability: 'os', create: false })
    findings.push(...judgeDatabase(await inspectDatabase(storage.db), config.storage.durability))
    const schema = judgeSchema(await storage.migrations())
    findings.push(schema)
    if (schema.severity === 'error') return [...findings, skipped('stream', schema.message)]
    await assertMigrated(storage.db)
    await assertImported(storage.db)
    return [...findings, ...(await next(storage))]
  } catch (error) {
    return [
      ...findings,
      failure('database.unusable', `The database cannot be used: ${whyNot(error)}`, remedyOf(error, path)),
      skipped('stream', 'There is no database that can be used to make somebody in who could open a stream.'),
    ]
  } finally {
    await storage?.close()
  }
}

function remedyOf(error: unknown, path: string | undefined): string {
  if (!path) return 'Start it, or put database.url right.'
  const { code } = Object(error) as { code?: string }
  if (code === 'EACCES' || code === 'EPERM') return 'Run this as the user the service runs as.'
  return 'Run "chat-server fsck"; "chat-server restore" puts a backup back.'
}

/** HTTP keeps to itself why the storage failed; the person at the machine is the one to mend it. */
function whyNot(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown }
  return `${messageOf(error)}${error instanceof ChatError && cause !== undefined ? ` (${messageOf(cause)})` : ''}`
}

async function tryStream({ config }: LoadedConfig, storage: Storage, url: string): Promise<Finding[]> {
  const chat = createChatService(config, storage)
  try {
    return await checkStream(chat, url)
  } catch (error) {
    const remedy = 'Look at the space on its disk, and at who may write to it.'
    return [failure('database.not_writable', `The database does not take a write: ${whyNot(error)}`, remedy)]
  }
}
