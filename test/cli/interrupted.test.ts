import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { removeAbandoned, toTemporaryPath } from '../../lib/storage/temporary.ts'
import { revertLast } from '../support/revert-last.ts'
import { finished, folder, run, start } from './process.ts'
import { serve } from './serving.ts'

const KILL_AT = new URL('kill-at.mjs', import.meta.url).href

/** A process for each step. */
const LONG = { timeout: 300_000 }

/** The commands that write files, and the files that each of them may leave. */
const COMMANDS: [line: string, files: RegExp][] = [
  ['backup x.db --files saved', /^x\.db(\.sha256)?$|^saved\/[\da-f-]+\/1$/],
  ['backup -', /^$/],
  ['backup run', /^backups\/(chat-server-[\w-]+\.db\.gz|marker-\w+)$/],
  ['export x.jsonl', /^x\.jsonl$/],
  ['restore copy.db --database sqlite:restored.db', /^restored\.db$/],
  ['backup verify copy.db', /^$/],
  ['config init', /^chat-server\.toml$/],
  ['init systemd --output deploy', /^deploy\/chat-server\.service$/],
  ['migrate --database sqlite:old.db', /^old\.db\.before-[\w-]+\.\w+$/],
]

/** Those that a signal interrupts, so that they delete what they have begun. `backup run` is in backups.test.ts. */
const INTERRUPTIBLE = COMMANDS.filter(([line]) => /^(backup (?!run)|export|restore)/.test(line))

/** Where each test begins: a database with a file of a message, a backup of it, and a database that is not migrated. */
const template = mkdtempSync(join(tmpdir(), 'chat-interrupted-'))

beforeAll(async () => {
  const storage = await openStorage({ database: `sqlite:${join(template, 'data', 'chat.db')}` })
  const attachments = { enabled: true, storage: `fs:${join(template, 'data', 'files')}` }
  const chat = createChatService(parseConfig({ attachments, security: { password: { bcrypt_cost: 4 } } }), storage)
  await chat.start()
  const { user } = await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
  const actor = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(actor, { title: 'Files' })
  const { attachment } = await chat.attachments.create(actor, conversation_id, { name: 'one.txt', size: 3 })
  await chat.attachments.putPart(actor, attachment.id, 1, { bytes: Buffer.from('one') })
  await chat.messages.postRoot(actor, conversation_id, { content: '', attachment_ids: [attachment.id] })
  await storage.backup(join(template, 'copy.db'))
  await chat.close()
  const old = await openStorage({ database: `sqlite:${join(template, 'old.db')}` })
  await old.migrate()
  await revertLast(old)
  await old.close()
  mkdirSync(join(template, 'tmp'))
})
afterAll(() => rmSync(template, { recursive: true, force: true }))

/** A folder with all that a command needs, and its environment, in which it is sent a signal at a step. */
function prepare(signal?: NodeJS.Signals, at = 0) {
  const cwd = folder()
  cpSync(template, cwd, { recursive: true })
  const logs = folder({ steps: '', children: '' })
  const env: Record<string, string> = { TMPDIR: join(cwd, 'tmp'), CHAT_BACKUP__TARGET: './backups' }
  if (signal)
    Object.assign(env, {
      NODE_OPTIONS: `--import ${KILL_AT}`,
      KILL_AT: String(at),
      KILL_SIGNAL: signal,
      KILL_FOLDER: cwd,
      KILL_STEPS: join(logs, 'steps'),
      KILL_CHILDREN: join(logs, 'children'),
    })
  const lines = (name: string) => readFileSync(join(logs, name), 'utf8').split('\n').slice(0, -1)
  return { cwd, env, steps: () => lines('steps').length, children: () => lines('children').map(Number) }
}

/** What is there that was not there before, without what SQLite keeps beside a database. */
function addedFiles(cwd: string): string[] {
  return readdirSync(cwd, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(cwd.length + 1))
    .filter((path) => !(path in KNOWN) && !/^[\w/.-]+\.db-(wal|shm|signals.*)$/.test(path))
}

const KNOWN: Record<string, true> = {}
beforeAll(() => {
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true }))
    KNOWN[join(entry.parentPath, entry.name).slice(template.length + 1)] = true
})

/** Runs a command once for each of its steps, in which it is sent a signal, until it ends before the signal. */
async function killAtEachStep(line: string, signal: NodeJS.Signals, check: (cwd: string) => Promise<void>) {
  for (let at = 1; ; at++) {
    const { cwd, env, steps, children } = prepare(signal, at)
    const child = start(line.split(' '), { cwd, env })
    child.stdin.on('error', () => {}).end()
    await finished(child)
    // One that was started goes on, and deletes what it writes.
    for (const pid of children()) await expect.poll(() => isRunning(pid)).toBe(false)
    await check(cwd)
    if (steps() < at) return at - 1
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a command that is killed', () => {
  it.each(COMMANDS)('at any step of "%s" leaves only what the next one deletes', LONG, async (line, files) => {
    const steps = await killAtEachStep(line, 'SIGKILL', async (cwd) => {
      for (const name of ['', 'data', 'tmp', 'backups', 'deploy']) await removeAbandoned(join(cwd, name))
      // The folder of a file is looked through when something is stored there, which the next copy does.
      const left = addedFiles(cwd).filter((path) => !/^saved\/.+\.partial$/.test(path))
      expect(left.filter((path) => !files.test(path))).toEqual([])
    })
    expect(steps).toBeGreaterThanOrEqual(3)
  })

  it.each(INTERRUPTIBLE)('by SIGTERM at any step of "%s" leaves nothing', LONG, async (line, files) => {
    const steps = await killAtEachStep(line, 'SIGTERM', async (cwd) => {
      expect(addedFiles(cwd).filter((path) => !files.test(path))).toEqual([])
    })
    expect(steps).toBeGreaterThanOrEqual(3)
  })
})

it('a copy that a killed command has left is found by doctor, and deleted by the next command and by the service', async () => {
  // While the copy is checked.
  const { cwd, env } = prepare('SIGKILL', 3)
  // One in progress: its process is that of this test.
  const running = toTemporaryPath(join(cwd, 'data', 'chat.db'))
  writeFileSync(running, '')
  const left = () => readdirSync(join(cwd, 'data')).filter((name) => /partial/.test(name) && !running.endsWith(name))
  const calm = { cwd, env: { TMPDIR: env.TMPDIR! } }
  const kill = async () => {
    await finished(start(['restore', 'copy.db', '--database', 'sqlite:data/other.db'], { cwd, env }))
    expect(left()).not.toEqual([])
  }
  await kill()
  const { findings } = JSON.parse((await run(['doctor', '--json', '--read-only'], calm)).stdout)
  const { message } = findings.find(({ code }: { code: string }) => code === 'disk.leftovers')
  expect(message).toContain(left()[0])
  expect(message).not.toContain(running)
  expect((await run(['backup', '-'], calm)).code).toBe(0)
  expect(left()).toEqual([])
  await kill()
  const { child, end } = await serve(calm)
  await expect.poll(left).toEqual([])
  child.kill('SIGTERM')
  await end
  expect(addedFiles(cwd)).toEqual([running.slice(cwd.length + 1)])
})

it('a backup whose reader has gone leaves nothing, whether it has read before or not', async () => {
  for (const reads of [false, true]) {
    const { cwd, env } = prepare()
    const child = start(['backup', '-'], { cwd, env })
    if (reads) child.stdout.once('data', () => child.stdout.destroy())
    else child.stdout.destroy()
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(1)
    expect(addedFiles(cwd)).toEqual([])
  }
})
