import { expect, it } from 'vitest'
import { startService } from '../../support/service.ts'
import { folder, run } from '../process.ts'

const ADDRESS = 'sqlite:chat.db'

it('limits creates, lists, changes and deletes limits', async () => {
  const cwd = folder()
  const limits = (...args: string[]) => run(['limits', ...args, '--database', ADDRESS], { cwd })
  const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_PASSWORD: 'correct horse battery' }
  await run(['setup', '--email', 'ada@example.org', '--database', ADDRESS], { cwd, env })

  const slow = ['--name', 'slow', '--rps', '0.5', '--burst', '5', '--description', 'For bots']
  expect(await limits('profiles', 'create', ...slow)).toMatchObject({
    code: 0,
    stdout: 'Profile slow (0.5 a second, 5 at once) created.\n',
  })
  const [again, wrong, unknown] = await Promise.all([
    limits('profiles', 'create', ...slow),
    limits('profiles', 'create', '--name', 'x', '--rps', 'many', '--burst', '5'),
    limits('assignments', 'create', '--profile', 'slow', '--path', '/api/nothing'),
  ])
  expect([again.code, wrong.code, unknown.code]).toEqual([1, 2, 2])
  expect(wrong.stderr).toContain('--rps needs a number, not "many"')
  expect(await limits('profiles', 'delete', '--profile', 'slo')).toMatchObject({
    code: 1,
    stderr: 'chat-server: There is no profile "slo", did you mean "slow"?\n',
  })
  expect(unknown.stderr).toMatch(/\n {2}--path: must be the path of a route/)

  const assign = ['assignments', 'create', '--profile', 'slow', '--method', 'GET', '--path', '/api/auth/me']
  expect((await limits(...assign)).stdout).toBe('GET /api/auth/me is limited by slow.\n')
  expect(await limits('profiles', 'delete', '--profile', 'slow')).toMatchObject({
    code: 1,
    stderr: 'chat-server: The profile is still assigned to a route.\n',
  })
  const [profiles, assignments] = await Promise.all([
    limits('profiles', 'list'),
    limits('assignments', 'list', '--json'),
  ])
  expect(profiles.stdout).toMatch(/^NAME +RPS +BURST +ID +DESCRIPTION\nslow +0\.5 +5 +\S+ +For bots\n$/)
  const [{ id }] = JSON.parse(assignments.stdout).assignments
  expect(JSON.parse(assignments.stdout).assignments).toMatchObject([{ profile_name: 'slow', method: 'GET' }])
  expect(await limits('profiles', 'update', '--profile', 'slow', '--rps', '2', '--burst', '3')).toMatchObject({
    stdout: 'Profile slow (2 a second, 3 at once) changed.\n',
  })
  expect((await limits('assignments', 'delete', '--id', id)).code).toBe(0)
  expect((await limits('profiles', 'delete', '--profile', 'slow')).code).toBe(0)
  expect(JSON.parse((await limits('profiles', 'list', '--json')).stdout)).toEqual({ profiles: [] })
}, 60_000)

it('limits status shows sign-ins and throttled callers, and reset forgets calls', async () => {
  const cwd = folder()
  const url = `sqlite:${cwd}/chat.db`
  const service = await startService(url, { config: { rate_limits: { admin_api_enabled: true } } })
  const ada = await service.signIn('ada')
  const { id: profile_id } = await ada.limits.createProfile({
    name: 'never',
    params: { requests_per_second: 0.001, burst: 1 },
  })
  const limits = (...args: string[]) => run(['limits', ...args, '--database', url], { cwd })
  expect((await limits('status')).stdout).toMatch(
    /^No caller is throttled .*\nSign-ins since .*: \d+ succeeded, 0 failed/,
  )
  await ada.limits.createAssignment({ profile_id, method: 'GET', path: '/api/auth/sessions' })
  await ada.auth.listSessions()
  expect((await limits('status', '--user', 'ada')).stdout).toMatch(
    /^CALLER +LIMIT +ROUTE +UNTIL\nada +never +GET \/api\/auth\/sessions +20/,
  )
  expect((await limits('reset', '--user', 'ada')).stdout).toBe('ada may call again (1 counts forgotten).\n')
  await ada.auth.listSessions()
  expect(await limits('reset', '--address', 'everywhere')).toMatchObject({ code: 2 })
  expect(await limits('status', '--user', 'nobody')).toMatchObject({ code: 1 })
  await service.close()
}, 60_000)

it('limits restores the access of a locked-out administrator, while the service runs', async () => {
  const cwd = folder()
  const url = `sqlite:${cwd}/chat.db`
  const service = await startService(url, { config: { rate_limits: { admin_api_enabled: true } } })
  const ada = await service.signIn('ada')
  const params = { requests_per_second: 0.001, burst: 1 }
  const { id: profile_id } = await ada.limits.createProfile({ name: 'never', params })
  await ada.limits.createAssignment({ profile_id, method: '*', path: '/api/*' })
  await ada.auth.me()
  await expect(ada.conversations.create()).rejects.toMatchObject({ code: 'rate_limited' })

  const list = await run(['limits', 'assignments', 'list', '--json', '--database', url], { cwd })
  const [{ id }] = JSON.parse(list.stdout).assignments
  await run(['limits', 'assignments', 'delete', '--id', id, '--database', url], { cwd })
  expect((await ada.auth.me()).user.username).toBe('ada')
  await service.close()
}, 60_000)
