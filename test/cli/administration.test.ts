import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAdminClient } from '../../lib/client/admin.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { codeOf } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'
import { folder, run } from './process.ts'
import { serve } from './serving.ts'

const PASSWORD = 'correct horse battery'
const OTHER_PASSWORD = 'another horse battery'

describeOnEachEmptyDatabase('commands next to a serving process', (openUrl) => {
  it('take effect in it at once', { timeout: 120_000 }, async () => {
    const cwd = folder()
    const env = {
      CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4',
      CHAT_DATABASE__URL: await openUrl(),
      CHAT_GUESTS__ENABLED: 'true',
    }
    /** The JSON document of a command under `--json`. */
    const command = async (line: string, input = '') => {
      const { code, stdout, stderr } = await run([...line.split(' '), '--json'], { cwd, env, input })
      expect([code, stderr.split('\n').filter((text) => text !== '' && !text.startsWith('{'))], line).toEqual([0, []])
      return JSON.parse(stdout)
    }
    await command('setup --email ada@example.org', PASSWORD)
    const { user: grace } = await command('user create --username grace --email grace@example.org', PASSWORD)
    const server = await serve({ cwd, env })
    const signIn = async (name: string, password: string) => {
      const person = createAdminClient({ base_url: server.url })
      await person.auth.login({ email: `${name}@example.org`, password })
      return person
    }
    const ada = await signIn('ada', PASSWORD)
    const { user: guest } = await createAdminClient({ base_url: server.url }).guests.create({ token: true })
    const { stdout: users } = await run(['user', 'list'], { cwd, env })
    expect(users).toMatch(new RegExp(`^${guest.username} +none +guest +${guest.id}$`, 'm'))
    const { conversation_id } = await ada.conversations.create({})
    const watch = async (password: string) => {
      const { cookie } = await signInByHand(server.url, grace.email, password)
      const stream = await openStream(server.url, undefined, { cookie })
      await stream.until('stream.ready')
      return stream
    }

    // An invite from the command line gives her access.
    const created = await command(`invite create --conversation ${conversation_id} --max-uses 2 --ttl-seconds 600`)
    const hopper = await signIn('grace', PASSWORD)
    await hopper.invites.accept({ token: created.token })
    const { invites } = await command(`invite list --conversation ${conversation_id}`)
    expect(invites).toMatchObject([{ id: created.invite_id, uses: 1, max_uses: 2, role: 'member' }])
    expect(await command(`invite revoke --id ${created.invite_id}`)).toEqual({ invite_id: created.invite_id })
    expect(await codeOf(hopper.invites.accept({ token: 'x' }))).toBe('not_found')
    expect((await command(`invite list --conversation ${conversation_id}`)).invites).toEqual([])

    // Changed roles apply from the next request.
    await command('user set-roles --user grace --roles admin,member')
    expect((await hopper.users.list()).users).toHaveLength(3)

    // Her API keys are listed, and one is revoked.
    const { id } = await hopper.keys.create({ name: 'a bot' })
    expect((await command('key list grace')).keys).toMatchObject([{ id, user_id: grace.id, name: 'a bot' }])
    for (let n = 0; n < 2; n++) expect(await command(`key revoke ${id}`)).toEqual({ key_id: id })
    expect((await command('key list')).keys).toEqual([])
    const [revoked, ...others] = (await command('audit list --act key.revoked')).entries
    expect(revoked).toMatchObject({
      subject_id: id,
      detail: { operator: userInfo().username },
      names: { key: 'a bot' },
    })
    expect(others).toEqual([])

    // Her sessions are listed, and end.
    let stream = await watch(PASSWORD)
    expect((await command('session list --user grace')).sessions).toHaveLength(2)
    expect(await command('session revoke --user grace@example.org')).toEqual({ revoked: 2 })
    await stream.until('stream.closed')
    expect(await codeOf(hopper.auth.me())).toBe('unauthenticated')

    stream = await watch(PASSWORD)
    await command(`user set-password --user ${grace.id}`, OTHER_PASSWORD)
    await stream.until('stream.closed')
    stream = await watch(OTHER_PASSWORD)
    expect((await command('user disable --user grace')).user.disabled_at).toBeDefined()
    await stream.until('stream.closed')
    expect(await codeOf(signIn('grace', OTHER_PASSWORD))).toBe('account_disabled')
    expect((await command('user enable --user grace')).user).not.toHaveProperty('disabled_at')
    stream = await watch(OTHER_PASSWORD)
    expect(await command('user lockdown --user grace')).toMatchObject({ user_id: grace.id, sessions: 1, keys: 0 })
    await stream.until('stream.closed')
    await command('user create visitor --email visitor@example.org', PASSWORD)
    expect(await command('user merge --from visitor --into grace --yes')).toMatchObject({
      user: { id: grace.id },
      moved: { messages: 0, conversations: 0 },
    })
    stream = await watch(OTHER_PASSWORD)
    expect(await command('user erase --user grace --yes')).toEqual({ user_id: grace.id, messages: 'keep' })
    await stream.until('stream.closed')

    const { entries } = await command('audit list --limit 200')
    // Also of a user who was erased, by the id.
    const ofGrace = (await command(`audit list --user ${grace.id}`)).entries
    expect(ofGrace.map((entry: { act: string }) => entry.act)).toContain('user.erased')
    const erased = entries.find((entry: { act: string }) => entry.act === 'user.erased')
    expect(erased.detail.operator).toBe(userInfo().username)
    expect(entries.find((entry: { act: string }) => entry.act === 'setup.done')).toMatchObject({
      actor_name: 'ada',
      detail: { operator: userInfo().username },
    })
    expect(entries.map((entry: { act: string }) => entry.act).reverse()).toEqual(
      expect.arrayContaining([
        'setup.done',
        'user.created',
        'user.changed',
        'user.disabled',
        'user.enabled',
        'user.erased',
      ]),
    )
    expect((await ada.audit.list({ act: 'user.erased' })).entries).toMatchObject([{ subject_id: grace.id }])
    expect(await command('session revoke --all')).toEqual({ revoked: expect.any(Number) })
    expect(await codeOf(ada.auth.me())).toBe('unauthenticated')
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.end
    expect(code).toBe(0)
    for (const line of stderr.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('message')
  })
})

describe('commands that administer', () => {
  it('print their result, or the reason of a failure in one line', { timeout: 120_000 }, async () => {
    const cwd = folder()
    const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_LOG__LEVEL: 'warn' }
    await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: PASSWORD })
    const say = async (line: string, input = '') => {
      const { code, stdout, stderr } = await run(line.split(' '), { cwd, env, input })
      return [code, stdout, stderr]
    }
    const id = '01890000-0000-7000-8000-000000000000'
    const conflict = 'chat-server: The service needs an administrator: this is the last one.\n'
    const nobody = 'chat-server: There is no user "nobody". "chat-server user list" shows all.\n'
    expect(
      await Promise.all([
        say('user set-roles --user ada --roles admin,member'),
        say('user disable --user ada'),
        say('user erase --user ada --yes'),
        say('user disable --user nobody'),
        say('session revoke --user nobody'),
        say('session revoke --user ada'),
        say(`session revoke --id ${id}`),
        say(`invite create --conversation ${id}`),
      ]),
    ).toEqual([
      [0, 'User ada has the roles admin, member.\n', ''],
      [1, '', conflict],
      [1, '', conflict],
      [1, '', nobody],
      [1, '', nobody],
      [0, 'Sessions ended: 0.\n', ''],
      [1, '', `chat-server: There is no session "${id}".\n`],
      [1, '', `chat-server: There is no conversation "${id}".\n`],
    ])
    await run(['user', 'create', '--username', 'grace', '--email', 'grace@example.org'], { cwd, env, input: PASSWORD })
    expect(await say('user disable --user grace')).toEqual([0, 'User grace is disabled.\n', ''])
    expect((await say('user list'))[1]).toMatch(/^grace +grace@example\.org +member \(disabled\) +\S+$/m)
    const refused = await Promise.all([
      say('user set-roles --user ada --roles root'),
      say('user set-password --user ada', 'short'),
      say('audit list --act user.cloned'),
      say('session list --limit 0'),
      say(`invite create --conversation ${id} --role boss`),
    ])
    for (const [code, stdout, stderr] of refused) {
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^chat-server: a value cannot be used\n {2}(--(roles|act|limit|role)|password): .+\n/)
    }
    expect(await say('user show --user gracee')).toEqual([
      1,
      '',
      'chat-server: There is no user "gracee", did you mean "grace"? "chat-server user list" shows all.\n',
    ])
    const profile = 'limits profiles create --name slow --rps 1 --burst 1'
    await say(profile)
    expect((await say(profile))[2]).toBe('chat-server: There is a profile "slow" already.\n')
    expect((await say(profile.replace('--rps 1', '--rps 0')))[2]).toContain('\n  --rps: must be more than 0')
    const [code, , many] = await say(`invite create --conversation ${id} --max-uses many`)
    expect([code, many]).toEqual([2, expect.stringContaining('chat-server: --max-uses needs a number, not "many"\n')])
    const day = 'must be a day (UTC) or an instant, such as 2027-06-30 or 2027-06-30T12:00:00Z'
    expect((await say('server-key create --name shop --scopes users --expires tomorrow'))[2]).toContain(
      `\n  --expires: ${day}`,
    )
    for (const since of ['yesterday', '2027-02-31', '2027-06-30T12:00'])
      expect((await say(`audit list --since ${since}`))[2]).toContain(`\n  --since: ${day}`)
    expect((await say('client create --name Editor --redirect ftp://x'))[2]).toContain('\n  --redirect: must be ')
    for (const command of ['hook list', 'hook create --name A', `hook delete ${id}`])
      expect((await say(`${command} --conversation ${id}`))[2]).toBe(`chat-server: There is no conversation "${id}".\n`)
    writeFileSync(join(cwd, 'commands.json'), '[]')
    expect((await say('bot commands ada --set commands.json'))[2]).toBe(
      'chat-server: commands.json must be { "commands": [ … ] }\n',
    )
    const [, list] = await say('audit list --user ada')
    expect(list).toMatch(/^AT +ACT +BY +TO +ADDRESS +DETAIL\n\S+Z +setup\.done +\S+ +\{"operator":"\S+"\}\n$/)
    expect(await say('session list')).toEqual([0, 'USERNAME  LAST SEEN  ADDRESS  ID\n', ''])
    expect(await say('nodes list')).toEqual([0, 'ID  HOST  PID  PORT  VERSION  STARTED  LAST REPORT  STREAMS\n', ''])
  })
})
