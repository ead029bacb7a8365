import { expect, it } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { folder, run } from '../process.ts'
import { serve } from '../serving.ts'

const PASSWORD = 'correct horse battery'

describeOnEachEmptyDatabase('conversation set', (openUrl) => {
  it('changes who sees, joins and writes in a room, beside the running service', { timeout: 120_000 }, async () => {
    const cwd = folder({ 'chat-server.toml': '[assistants.engineer]\ntitle = "Engineer"\nprovider = "echo"\n' })
    const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: await openUrl() }
    const say = (line: string, input = '') => run(line.split(' '), { cwd, env, input })
    await say('setup --email ada@example.org', PASSWORD)
    const server = await serve({ cwd, env })
    const ada = createAdminClient({ base_url: server.url })
    await ada.auth.login({ email: 'ada@example.org', password: PASSWORD })
    const { conversation_id: id } = await ada.conversations.create({ title: 'Engines' })

    const opened = await say(`conversation set ${id} --visibility open --join anyone --post admins --freeze --json`)
    expect(opened.code).toBe(0)
    // The audit log of a command.
    expect(opened.stderr).toContain('"act":"conversation.policy_changed"')
    expect(JSON.parse(opened.stdout)).toMatchObject({
      id,
      visibility: 'open',
      policy: { join: 'anyone', post: 'admins' },
    })
    expect(await ada.conversations.get(id)).toMatchObject({
      visibility: 'open',
      policy: { join: 'anyone', post: 'admins' },
      frozen_at: expect.any(String),
    })

    const shown = await say(`conversation show ${id}`)
    for (const line of ['visibility: open', 'frozen since '])
      expect(shown.stdout.split('\n')).toContainEqual(expect.stringContaining(line))
    expect(shown.stdout).toMatch(/^rules: .*post admins/m)
    const listed = await say(`conversation set ${id} --unfreeze`)
    expect(listed.stdout).toContain('visibility: open')
    expect((await say(`conversation set ${id} --visibility private --join unset --post unset`)).code).toBe(0)
    const { policy, visibility, frozen_at } = await ada.conversations.get(id)
    expect([visibility, policy.join, policy.post, frozen_at]).toEqual(['private', undefined, undefined, undefined])

    const joined = await say(`conversation set ${id} --auto-join everyone --json`)
    expect(JSON.parse(joined.stdout)).toMatchObject({ auto_join: 'everyone' })
    expect(await ada.conversations.get(id)).toMatchObject({ auto_join: 'everyone' })
    expect((await say(`conversation set ${id} --auto-join nobody`)).code).toBe(2)
    expect((await say(`conversation set ${id} --auto-join unset`)).code).toBe(0)
    expect((await ada.conversations.get(id)).auto_join).toBeUndefined()

    // The words of a line are its arguments: a prompt of one word.
    const chosen = await say(`conversation set ${id} --assistant engineer --prompt Brief. --assistants engineer --json`)
    expect(JSON.parse(chosen.stdout)).toMatchObject({
      assistant: { key: 'engineer', prompt: 'Brief.' },
      policy: { assistants: ['engineer'] },
    })
    expect(await ada.conversations.get(id)).toMatchObject({
      assistant: { key: 'engineer', prompt: 'Brief.' },
      policy: { assistants: ['engineer'] },
    })
    expect((await say(`conversation show ${id}`)).stdout).toMatch(/^assistant: engineer\nprompt: Brief\.$/m)
    // What is left out stays.
    expect((await say(`conversation set ${id} --assistant unset --assistants all`)).code).toBe(0)
    expect((await ada.conversations.get(id)).assistant).toEqual({ prompt: 'Brief.' })
    expect((await say(`conversation set ${id} --assistant engineer`)).code).toBe(0)
    expect((await say(`conversation set ${id} --prompt unset`)).code).toBe(0)
    const { assistant, policy: rules } = await ada.conversations.get(id)
    expect([assistant, rules.assistants]).toEqual([{ key: 'engineer' }, 'all'])
    const unknown = await say(`conversation set ${id} --assistant nobody`)
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('assistant')

    const wrong = await say(`conversation set ${id} --visibility everywhere`)
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('visibility')
    const missing = await say('conversation set 01980a3c-7000-7a10-8b20-0c4f1d2e3a99 --visibility open')
    expect(missing).toMatchObject({
      code: 1,
      stderr: 'chat-server: There is no conversation "01980a3c-7000-7a10-8b20-0c4f1d2e3a99".\n',
    })
    const { entries } = await ada.audit.list({ act: 'conversation.policy_changed' })
    expect(entries.length).toBeGreaterThan(0)
    server.child.kill('SIGTERM')
    expect((await server.end).code).toBe(0)
  })
})
