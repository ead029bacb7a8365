import { ChatError, createChatService, openStorage, type Storage } from '../../lib/index.ts'
import { assertImported, INTERRUPTED } from '../../lib/storage/archive/import.ts'
import { readCommandClock } from '../../lib/storage/clock-notes.ts'
import { isDamage } from '../../lib/storage/errors.ts'
import { inspectDatabase } from '../../lib/storage/inspect.ts'
import { assertMigratable, assertMigrated } from '../../lib/storage/schema/migrate.ts'
import { assertOurs } from '../../lib/storage/schema/verify.ts'
import type { LoadedConfig } from '../config/load.ts'
import { describeSystemError, toErrorMessage, withCause } from '../errors.ts'
import { createLogger } from '../logging/logger.ts'
import { operatorName } from '../with-chat.ts'
import { checkAccess } from './access.ts'
import { checkAddresses } from './addresses.ts'
import { checkAttachments } from './attachments.ts'
import { checkBackups } from './backups.ts'
import { judgeStep } from './clock.ts'
import { checkConfiguration } from './configuration.ts'
import { remedyOfConnection } from './connecting.ts'
import { judgeDatabase, judgeSchema } from './database.ts'
import { checkDisks } from './disks.ts'
import { checkFile, sqliteFile } from './files.ts'
import { type Finding, failure, note, skipped } from './finding.ts'
import { checkLeftovers } from './leftovers.ts'
import { checkFailedMails, checkMailServer } from './mail.ts'
import { checkMcp } from './mcp.ts'
import { checkNodes } from './nodes.ts'
import { checkPasswords } from './passwords.ts'
import { checkPooler } from './pooler.ts'
import { judgeHeartbeat } from './proxy.ts'
import { checkSearch } from './search.ts'
import { checkEncrypted } from './secrets.ts'
import { checkServer, toLocalUrl } from './server.ts'
import { checkSettings } from './settings.ts'
import { checkSignIns } from './sign-ins.ts'
import { checkStream } from './stream.ts'
import { checkUpstreams } from './upstreams.ts'
import { checkUsernames } from './usernames.ts'
import { checkWebhooks } from './webhooks.ts'

/**
 * Checks everything that a running service depends on. It changes nothing, except for the tests of the event stream and of
 * the storage of files, which delete what they create. That of the stream leaves an entry in the audit log.
 *
 * @param options.readOnly skips these tests
 */
export async function runChecks(loaded: LoadedConfig, options: { readOnly: boolean }): Promise<Finding[]> {
  const { config } = loaded
  const here = [...checkConfiguration(loaded), ...checkAddresses(config), ...checkSettings(config)]
  const [disks, leftovers, passwords, server, upstreams, mail] = await Promise.all([
    checkDisks(config),
    checkLeftovers(config),
    checkPasswords(),
    checkServer(config),
    checkUpstreams(config),
    checkMailServer(config),
  ])
  const database = await checkDatabase(loaded, options.readOnly, async (storage) => {
    const untested = (reason: string) => [skipped('stream', reason), ...judgeHeartbeat(config)]
    if (!server.url) return untested('No service was found to test the event stream.')
    if (!config.features.auth_v1) return [skipped('stream', 'features.auth_v1 is false: the event stream is off.')]
    if (options.readOnly) return untested('With --read-only no test user is created to open a stream.')
    return testStream(loaded, storage, { url: server.url, proxied: server.url !== toLocalUrl(config) })
  })
  const mcp = server.url?.startsWith('http') ? await checkMcp(config, server.url) : []
  return [...here, ...disks, ...passwords, ...server.findings, ...mcp, ...leftovers, ...database, ...upstreams, mail]
}

/** The findings about the database and, if it can be used, the findings of `next`. */
async function checkDatabase(
  { config }: LoadedConfig,
  read_only: boolean,
  next: (storage: Storage) => Promise<Finding[]>,
): Promise<Finding[]> {
  const { url, ...postgres } = config.database
  if (url === 'sqlite::memory:') {
    const message =
      'The database is in the memory of the service: it cannot be checked from here, and it is lost at a restart.'
    return [note('database.in_memory', message, 'Use a file: sqlite:./data/chat.db')]
  }
  const path = sqliteFile(url)
  const findings: Finding[] = []
  let storage: Storage | undefined
  try {
    if (path) findings.push(...checkFile(path))
    if (findings.some(({ code }) => code === 'database.missing' || code === 'database.no_file')) {
      return [...findings, skipped('stream', 'Without a database no test user can be created to open a stream.')]
    }
    const pooler = path ? undefined : await checkPooler(config.database)
    findings.push(...(pooler?.findings ?? []))
    // The other checks are to work behind any pooler.
    if (pooler?.refuses_names) postgres.prepared_statements = false
    // `os` also opens a database that `full` refuses, so that it can be checked.
    storage = await openStorage({ database: url, ...postgres, durability: 'os', create: false, read_only })
    const facts = await inspectDatabase(storage.db)
    // Only a service turns the WAL on, and this check of the file does not.
    if (read_only) delete facts.settings.journal_mode
    // Services share those of the pooler.
    if (pooler?.is_pooled) delete facts.connections
    findings.push(...judgeDatabase(facts, config))
    if (facts.distributed) return [...findings, skipped('stream', 'The database is not supported.')]
    const steps = await storage.migrations()
    // First: a schema that this program cannot use is not up to date.
    if (steps.some((step) => step.differs === 'newer')) await assertMigratable(storage.db)
    const schema = judgeSchema(steps)
    findings.push(schema)
    if (schema.severity === 'error') return [...findings, skipped('stream', schema.message)]
    await assertMigrated(storage.db)
    await assertOurs(storage.db)
    await assertImported(storage.db)
    const clock = await readCommandClock(storage.db)
    return [
      ...findings,
      judgeStep(clock),
      ...(await checkSignIns(storage.db, clock.now)),
      ...(await checkUsernames(storage.db, config)),
      ...(await checkAccess(config, storage.db)),
      ...(await checkWebhooks(config, storage.db, clock.now)),
      ...(await checkEncrypted(config, storage.db)),
      ...(await checkFailedMails(storage.db)),
      ...(await checkBackups(config, storage.db, clock.now)),
      ...(await checkSearch(config, storage.db)),
      ...(await checkAttachments(config, storage, read_only)),
      ...(await checkNodes(config, storage)),
      ...(await next(storage)),
    ]
  } catch (error) {
    return [
      ...findings,
      failure('database.unusable', `The database cannot be used: ${reasonOf(error)}`, remedyOf(error, path)),
      skipped('stream', 'Without a usable database no test user can be created to open a stream.'),
    ]
  } finally {
    await storage?.close()
  }
}

function remedyOf(error: unknown, path: string | undefined): string {
  const message = toErrorMessage(error)
  // These name their remedy; a repair or a backup would lose the existing data.
  if (message === INTERRUPTED) return 'Run the import again with the same archive: it continues.'
  if (/newer than this program/.test(message)) return 'Install the version of chat-server that migrated it.'
  if (/is not as chat-server has made it|^Another program has/.test(message))
    return 'Until then the service does not start.'
  if (/its disk is full/.test(message)) return 'Move something else from that disk away, and run the command again.'
  if (/optional package|Cannot find package|needs better-sqlite3|needs Node/.test(message))
    return 'Run "npm install better-sqlite3", or use Node 22.13 or later.'
  if (!path) return remedyOfConnection(error)
  const { code } = Object(error) as { code?: string }
  if (code === 'EACCES' || code === 'EPERM') return 'Run this command as the user of the service.'
  const { cause = error } = Object(error) as { cause?: unknown }
  if (isDamage(cause)) return 'Run "chat-server fsck"; "chat-server restore" restores a backup.'
  return `Correct database.url or --database, or what keeps ${path} from being used.`
}

/** HTTP hides why the storage failed; the operator of the machine needs the reason. */
function reasonOf(error: unknown): string {
  return error instanceof ChatError ? withCause(error) : (describeSystemError(error) ?? toErrorMessage(error))
}

async function testStream(
  { config }: LoadedConfig,
  storage: Storage,
  { url, proxied }: { url: string; proxied: boolean },
): Promise<Finding[]> {
  const chat = createChatService(config, storage, { log: createLogger(config.log), operator: operatorName() })
  try {
    // Without a proxy there is none to measure.
    return [...(await checkStream(chat, url, { proxied })), ...(proxied ? [] : judgeHeartbeat(config))]
  } catch (error) {
    const remedy = 'Check the free space on its disk, and the write permissions of the file.'
    return [failure('database.not_writable', `The database refuses a write: ${reasonOf(error)}`, remedy)]
  }
}
