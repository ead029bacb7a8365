import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { folder, run } from './process.ts'

/** At the default cost, hashing would take most of the time of these commands. */
const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }
const password = 'correct horse battery'

describe('setup and user', () => {
  it('create and list the users of a new database, which only this user may read', async () => {
    const cwd = folder()
    const early = await run(['user', 'create', '--username', 'g', '--email', 'g@a.org', '--json'], {
      cwd,
      env: { ...env, CHAT_PASSWORD: password },
    })
    expect(early.code).toBe(1)
    expect(JSON.parse(early.stdout).error.message).toContain('There is no database at')

    const setup = await run(['setup', '--email', 'ada@example.org', '--json'], { cwd, env, input: `${password}\n` })
    expect([setup.code, JSON.parse(setup.stdout)]).toEqual([
      0,
      { is_setup: true, user: expect.objectContaining({ username: 'ada', email: 'ada@example.org' }) },
    ])
    const database = join(cwd, 'data', 'chat.db')
    expect([statSync(database).mode & 0o777, statSync(join(cwd, 'data')).mode & 0o777]).toEqual([0o600, 0o700])

    const create = ['user', 'create', '--username', 'grace', '--email', 'grace@example.org', '--roles', 'admin,member']
    const created = await run(create, { cwd, env: { ...env, CHAT_PASSWORD: password } })
    expect(created).toMatchObject({ code: 0, stdout: 'User grace <grace@example.org> created.\n' })

    const [list, page, second, refused] = await Promise.all([
      run(['user', 'list'], { cwd }),
      run(['user', 'list', '--query', 'gr', '--limit', '1', '--json'], { cwd }),
      run(['setup', '--email', 'eve@example.org'], { cwd, env, input: password }),
      run(['user', 'list', '--limit', 'x'], { cwd }),
    ])
    expect(list.stdout).toMatch(/^USERNAME +EMAIL +ROLES +ID\nada .*\ngrace +grace@example\.org +admin,member +\S+\n$/)
    expect(JSON.parse(page.stdout).users.map((user: { username: string }) => user.username)).toEqual(['grace'])
    expect(second).toMatchObject({ code: 1, stdout: '', stderr: 'chat-server: The service is already set up.\n' })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/--limit needs a number/) })
    expect(readFileSync(database).includes(password)).toBe(false)
  })

  it('restore access with a reset link, or its token without a public address', async () => {
    const cwd = folder()
    await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: password })
    const [token, link, nobody] = await Promise.all([
      run(['user', 'reset-link', '--user', 'ada'], { cwd }),
      run(['user', 'reset-link', '--email', 'ada@example.org', '--json'], {
        cwd,
        env: { CHAT_SERVER__PUBLIC_URL: 'https://chat.example.org/' },
      }),
      run(['user', 'reset-link', '--email', 'nobody@example.org'], { cwd }),
    ])
    expect([token.code, token.stdout]).toEqual([0, expect.stringMatching(/^[\w-]{43}\n$/)])
    const { token: value, url, expires_at } = JSON.parse(link.stdout)
    expect(url).toBe(`https://chat.example.org/account/reset-password#token=${value}`)
    expect(Date.parse(expires_at)).toBeGreaterThan(0)
    expect(link.stderr).not.toContain(value)
    expect(nobody).toMatchObject({ code: 1, stdout: '', stderr: 'chat-server: No account has this e-mail.\n' })
  })

  it('name --link where there is no mail that could take an invite', async () => {
    const cwd = folder()
    await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: password })
    const refused = await run(['user', 'invite', 'linus@example.org'], { cwd })
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('no mail: --link prints') })
    const { code, stdout } = await run(['user', 'invite', 'linus@example.org', '--link'], { cwd })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^[\w-]{43}\n/)])
  })

  it('require a valid password, and warn of one that others can read', async () => {
    const setup = ['setup', '--email', 'ada@example.org']
    const [none, empty, short, visible] = await Promise.all([
      run(setup, { cwd: folder(), env }),
      run(setup, { cwd: folder(), env: { ...env, CHAT_PASSWORD: '' }, input: password }),
      run([...setup, '--json'], { cwd: folder(), env, input: 'short\n' }),
      run([...setup, '--password', password], { cwd: folder(), env }),
    ])
    for (const missing of [none, empty]) {
      expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('a password is needed') })
    }
    expect([short.code, JSON.parse(short.stdout).error]).toEqual([
      2,
      expect.objectContaining({ code: 'validation_failed', errors: [expect.objectContaining({ path: 'password' })] }),
    ])
    expect(visible).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Warning: .*--password/) })
    expect(visible.stdout + visible.stderr).not.toContain(password)
  })
})

describe('migrate', () => {
  it('shows pending steps, applies them once, and shows when', async () => {
    const cwd = folder()
    const migrate = async (...args: string[]) => run(['migrate', ...args], { cwd })
    const first = await migrate('--plan', '--json')
    const { pending } = JSON.parse(first.stdout)
    expect(first.stderr).toBe(
      `There is no database at ${join(cwd, 'data', 'chat.db')}: "chat-server migrate" would create it.\n`,
    )
    expect(pending.length).toBeGreaterThan(0)
    expect(existsSync(join(cwd, 'data'))).toBe(false)
    expect(JSON.parse((await migrate('--json')).stdout)).toEqual({ applied: pending })
    const [again, plan, status] = await Promise.all([migrate(), migrate('--plan'), migrate('--status', '--json')])
    expect(again.stdout).toBe('Already up to date.\n')
    expect(plan.stdout).toBe('Nothing is pending.\n')
    expect(JSON.parse(status.stdout).migrations).toEqual(
      pending.map((name: string) => ({ name, applied_at: expect.stringMatching(/^\d{4}-.*Z$/) })),
    )
  })

  it('prints in one line why a database cannot be opened, without its password', async () => {
    const cwd = folder({ 'not-a-database': 'x'.repeat(4096) })
    const urls = ['sqlite:not-a-database', 'sqlite:not-a-database/chat.db', 'postgres://chat:hunter2@127.0.0.1:1/chat']
    const runs = await Promise.all(urls.map((url) => run(['migrate', '--database', url], { cwd })))
    for (const { code, stdout, stderr } of runs) {
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr.split('\n').filter((line) => line && !line.startsWith('--database has a password'))).toEqual([
        expect.stringMatching(/^chat-server: ./),
      ])
      expect(stderr).not.toContain('hunter2')
    }
    expect(runs[2]!.stderr).toContain('ECONNREFUSED')
  })
})

it.skipIf(!inject('postgres_url'))(
  'a PostgreSQL server that refuses the login does not disclose the password',
  async () => {
    const url = inject('postgres_url')!.replace('postgres@', 'nobody-of-that-name:hunter2@')
    for (const command of ['user list', 'migrate --json', 'fsck', 'serve --port 0']) {
      const { code, stdout, stderr } = await run([...command.split(' '), '--database', url], { cwd: folder() })
      expect([code, stderr], command).toEqual([1, expect.stringContaining('role "nobody-of-that-name" does not exist')])
      expect(stdout + stderr).not.toContain('hunter2')
    }
  },
  60_000,
)

describe('openapi', () => {
  it('describes the interface without a database, as JSON and as YAML, and replaces no file without --force', async () => {
    const cwd = folder({ 'mine.json': 'mine' })
    const [json, yaml, taken] = await Promise.all([
      run(['openapi'], { cwd }),
      run(['openapi', '--format', 'yaml', '--output', 'openapi.yaml'], { cwd }),
      run(['openapi', '--output', 'mine.json'], { cwd }),
    ])
    const { parseYAML } = await import('confbox')
    const document = JSON.parse(json.stdout)
    expect(document.openapi).toMatch(/^3\.1\./)
    expect(yaml).toMatchObject({ code: 0, stdout: 'Written to openapi.yaml.\n' })
    expect(parseYAML(readFileSync(join(cwd, 'openapi.yaml'), 'utf8'))).toEqual(document)
    expect(taken).toMatchObject({ code: 1, stderr: 'chat-server: mine.json already exists; --force replaces it\n' })
    expect(readFileSync(join(cwd, 'mine.json'), 'utf8')).toBe('mine')
    expect(() => statSync(join(cwd, 'data'))).toThrow('ENOENT')

    const forced = await run(['openapi', '--output', 'mine.json', '--force', '--json'], { cwd })
    expect(JSON.parse(forced.stdout)).toEqual({ output: 'mine.json', format: 'json' })
    expect(JSON.parse(readFileSync(join(cwd, 'mine.json'), 'utf8'))).toEqual(document)
  })
})
