import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openStorage } from '../../lib/index.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { revertLast } from '../support/revert-last.ts'
import { folder, run } from './process.ts'

const COMMANDS = [
  'user list',
  'session list',
  'audit list',
  'nodes list',
  'fsck',
  'limits profiles list',
  'events prune',
]
COMMANDS.push('setup --email ada@example.org', 'user disable --user ada', 'export chat.jsonl', 'import chat.jsonl')

describeOnEachEmptyDatabase('a database of an older version', (openUrl) => {
  it('is left unchanged by every command but serve and migrate', { timeout: 120_000 }, async () => {
    const url = await openUrl()
    const storage = await openStorage({ database: url })
    await storage.migrate()
    const last = await revertLast(storage)
    const cwd = folder({ 'chat.jsonl': '' })
    const env = { CHAT_DATABASE__URL: url, CHAT_PASSWORD: 'correct horse battery' }
    for (const command of COMMANDS) {
      const { code, stdout, stderr } = await run(command.split(' '), { cwd, env })
      expect([code, stdout, stderr], command).toEqual([
        1,
        '',
        `chat-server: The schema is older than this program: run "chat-server migrate" (${last} is pending)\n`,
      ])
    }
    expect((await storage.migrations()).filter((step) => !step.applied_at)).toEqual([{ name: last }])
    // A backup is made before an upgrade, and a new history started after an old dump: these two accept the old schema.
    expect((await run(['events', 'renew-epoch'], { cwd, env })).code).toBe(0)
    if (url.startsWith('sqlite:')) expect((await run(['backup', 'old.db'], { cwd, env })).code).toBe(0)
    await storage.close()
  })
})

it('a missing database is created by no command that only reads', { timeout: 60_000 }, async () => {
  const cwd = folder()
  for (const command of ['backup copy.db', 'export chat.jsonl', 'events renew-epoch', 'user list', 'fsck']) {
    const { code, stderr } = await run(command.split(' '), { cwd })
    expect([code, stderr], command).toEqual([
      1,
      expect.stringMatching(/^chat-server: There is no database at .*chat\.db\n$/),
    ])
  }
  expect(existsSync(join(cwd, 'data'))).toBe(false)
  expect(readdirSync(cwd)).toEqual([])
})
