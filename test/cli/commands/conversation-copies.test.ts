import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { codeOf } from '../../support/service.ts'
import { commandOf, folder, run } from '../process.ts'
import { serve } from '../serving.ts'

const PASSWORD = 'correct horse battery'
const QUICK = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }

describeOnEachEmptyDatabase('a deleted conversation', (openUrl, dialect) => {
  it('comes back from a backup into the running service', { timeout: 120_000 }, async () => {
    const cwd = folder()
    const env = { ...QUICK, CHAT_DATABASE__URL: await openUrl() }
    const say = (line: string, input = '') => run(line.split(' '), { cwd, env, input })
    await say('setup --email ada@example.org', PASSWORD)
    const server = await serve({ cwd, env })
    const ada = createAdminClient({ base_url: server.url })
    await ada.auth.login({ email: 'ada@example.org', password: PASSWORD })
    const { conversation_id: id } = await ada.conversations.create({ title: 'Engines' })
    const { message_id } = await ada.messages.postRoot(id, { content: 'kept' })
    const backup = dialect === 'sqlite' ? 'backup' : 'export'
    expect((await say(`${backup} copy`)).code).toBe(0)
    // What was written after the backup is not in it.
    await ada.messages.reply(message_id, { content: 'later' })

    expect(await say(`conversation delete ${id}`)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect((await say(`conversation delete ${id} --yes`)).code).toBe(0)
    expect(await codeOf(ada.conversations.get(id))).toBe('not_found')
    const missing = await say(`conversation export ${id} now.jsonl`)
    expect(missing).toMatchObject({ code: 1, stderr: `chat-server: There is no conversation "${id}"\n` })

    const exported = await say(`conversation export ${id} engines.jsonl --from-backup copy --json`)
    expect([exported.code, exported.stderr]).toEqual([0, ''])
    expect(JSON.parse(exported.stdout).counts).toMatchObject({ messages: 1, users: 1 })
    const text = readFileSync(join(cwd, 'engines.jsonl'), 'utf8')
    expect(text).not.toContain('$2')
    expect(statSync(join(cwd, 'engines.jsonl')).mode & 0o777).toBe(0o600)
    const whole = await say('import engines.jsonl --database sqlite:other.db')
    expect([whole.code, whole.stderr]).toEqual([1, expect.stringContaining('conversation import')])

    const asked = await say('conversation import engines.jsonl')
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringMatching(/ada +ada +the same user/)])
    const imported = await say('conversation import engines.jsonl --yes --json')
    expect(imported.code).toBe(0)
    expect(JSON.parse(imported.stdout)).toMatchObject({ conversation_id: id, imported: true, people: [{ by: 'id' }] })
    const { messages } = await ada.threads.tree(message_id)
    expect(messages.map(({ content }) => content)).toEqual(['kept'])
    const again = await say('conversation import engines.jsonl --yes --json')
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { conversation_id: id, imported: false }])
    expect((await say('fsck')).code).toBe(0)
    server.child.kill('SIGTERM')
    expect((await server.end).code).toBe(0)
  })
})

it.skipIf(spawnSync('script', ['--version']).status !== 0)(
  'on a terminal, a conversation is deleted once its title is typed (script)',
  { timeout: 120_000 },
  async () => {
    const cwd = folder()
    await run(['setup', '--email', 'ada@example.org'], { cwd, env: QUICK, input: PASSWORD })
    const server = await serve({ cwd, env: QUICK })
    const ada = createAdminClient({ base_url: server.url })
    await ada.auth.login({ email: 'ada@example.org', password: PASSWORD })
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    const words = commandOf(['conversation', 'delete', conversation_id])
    const line = words.map((word) => `'${word}'`).join(' ')
    const type = (input: string) =>
      spawnSync('script', ['-qec', line, '/dev/null'], {
        cwd,
        encoding: 'utf8',
        input,
        env: { PATH: process.env.PATH, ...QUICK },
      })
    const refused = type('Engine\n')
    expect([refused.status, refused.stdout]).toEqual([1, expect.stringContaining('Nothing was changed')])
    expect((await ada.conversations.get(conversation_id)).title).toBe('Engines')
    expect(type('Engines\n').status).toBe(0)
    expect(await codeOf(ada.conversations.get(conversation_id))).toBe('not_found')
    server.child.kill('SIGTERM')
    await server.end
  },
)
