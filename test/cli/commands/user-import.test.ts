import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseUserList } from '../../../cli/user-list.ts'
import { describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { folder, run } from '../process.ts'

describe('a list of users', () => {
  it('has quotes, empty lines, a byte order mark, and defaults', async () => {
    const text = [
      '\ufeffEmail,Display_Name,roles,username',
      'ada@example.org,"Lovelace, ""Ada""","admin,member",ada',
      '',
      'grace@example.org,,,',
    ]
    const { users, problems } = await parseUserList(text.join('\r\n'))
    expect(problems).toEqual([])
    expect(users).toMatchObject([
      { line: 2, input: { username: 'ada', display_name: 'Lovelace, "Ada"', roles: ['admin', 'member'] } },
      { line: 4, input: { username: 'grace', email: 'grace@example.org', roles: ['member'] } },
    ])
    const semicolons = await parseUserList('email;roles\nada@example.org;read_only\n')
    expect(semicolons.users).toMatchObject([{ input: { roles: ['read_only'] } }])
  })

  it('has lines of at most 16 KiB, of which no longer part is normalised than an address may be', async () => {
    const lengths: number[] = []
    const { normalize } = String.prototype
    vi.spyOn(String.prototype, 'normalize').mockImplementation(function (this: string, form?: string) {
      lengths.push(this.length)
      return normalize.call(this, form)
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const marks = '\u0315\u0327'.repeat(2_000)
    const { problems } = await parseUserList(
      `email,username,display_name\n${marks},,\nb@example.org,${marks},${marks}\n`,
    )
    expect(problems.map(({ line }) => line)).toEqual([2, 3])
    expect(Math.max(...lengths)).toBeLessThanOrEqual(254)
    const endless = parseUserList(`email\n"${'a\n'.repeat(10_000)}`)
    await expect(endless).rejects.toThrow('The file is not CSV')
  })

  it('names the line of each problem', async () => {
    const lines = ['email,username,roles', 'ada,,', 'b@a.org,,boss', 'c@a.org,ada,', 'C@A.org,Ada,', 'd@a.org,,']
    const { users, problems } = await parseUserList(lines.join('\n'))
    expect(problems.map(({ line, message }) => [line, message.split(' ')[0]])).toEqual([
      [2, 'email'],
      [3, 'roles'],
      [5, 'email'],
      [5, 'username'],
    ])
    expect(users.map(({ line }) => line)).toEqual([4, 5, 6])
    // A role of the host is known by its configuration.
    expect((await parseUserList(lines.join('\n'), ['boss'])).users.map(({ line }) => line)).toEqual([3, 4, 5, 6])
  })

  it.each([
    ['', /email must be one/],
    ['name\nada\n', /unknown column "name"/],
    ['emails\n', /did you mean "email"/],
    ['email,password\na@b.org,secret\n', /passwords are not imported/],
    ['email,username\na@b.org\n', /Invalid Record Length/],
    ['email\n"a@b.org\n', /Quote Not Closed/],
  ])('is refused: %j', async (text, reason) => {
    await expect(parseUserList(text)).rejects.toThrow(reason)
  })
})

describeOnEachEmptyDatabase('user import', (openUrl) => {
  it('creates those who are missing, or no user', { timeout: 120_000 }, async () => {
    const cwd = folder()
    const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: await openUrl() }
    const list = (lines: string[]) => writeFileSync(join(cwd, 'users.csv'), ['email,username', ...lines].join('\n'))
    const say = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(['user', 'import', 'users.csv', ...args], { cwd, env })
      return { code, stderr, ...(stdout.startsWith('{') ? JSON.parse(stdout) : { stdout }) }
    }
    await run(['setup', '--username', 'ada', '--email', 'ada@example.org'], {
      cwd,
      env,
      input: 'correct horse battery',
    })

    const many = Array.from({ length: 150 }, (_, n) => `user${n}@example.org,`)
    list(['ada@example.org,', ...many])
    expect(await say('--dry-run', '--json')).toMatchObject({ code: 0, would_create: 150, existing: 1 })
    expect(await say('--json')).toMatchObject({ code: 0, created: 150, existing: 1 })
    expect(await say()).toMatchObject({ code: 0, stdout: '0 users created, 151 exist already.\n' })

    list(['new@example.org,', 'other@example.org,ADA', 'nonsense,'])
    expect(await say()).toMatchObject({ code: 2, stderr: expect.stringContaining('line 4: email') })
    list(['new@example.org,', 'other@example.org,ADA'])
    expect(await say('--json')).toMatchObject({
      code: 2,
      error: { code: 'validation_failed', errors: [{ path: 'line 3', message: 'another user is called ADA' }] },
    })
    list(['new@example.org,'])
    expect(await say('--json')).toMatchObject({ code: 0, created: 1, existing: 0 })
    writeFileSync(join(cwd, 'users.csv'), Buffer.from([0x65, 0xff, 0x0a]))
    expect(await say()).toMatchObject({ code: 1, stderr: expect.stringContaining('is not UTF-8') })
  })
})
