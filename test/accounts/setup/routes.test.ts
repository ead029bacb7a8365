import { expect, it } from 'vitest'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, PASSWORD, startService, times } from '../../support/service.ts'

const ADA = { email: 'Ada@Example.org', password: PASSWORD }

describeOnEachDatabase('setup', (openUrl) => {
  it('creates the first administrator, once', async () => {
    const service = await startService(await openUrl())
    const client = service.client()
    expect(await client.setup.get()).toEqual({ is_setup: false })
    const done = await client.setup.run({ ...ADA, display_name: 'Ada L.' })
    expect(done).toMatchObject({
      is_setup: true,
      user: { email: 'Ada@Example.org', username: 'Ada', display_name: 'Ada L.', email_verified: true },
    })
    expect(await client.setup.get()).toEqual({ is_setup: true })
    expect(await codeOf(client.setup.run({ email: 'eve@example.org', password: PASSWORD }))).toBe('already_set_up')
    await service.close()
  })

  it('refuses later calls before it checks anything else', async () => {
    const service = await startService(await openUrl())
    await service.chat.setup.run(ADA)
    for (const init of [
      { body: '{' },
      { body: 'x'.repeat(600_000) },
      { body: '', headers: { 'content-type': 'text/plain' } },
    ]) {
      const response = await fetch(`${service.base_url}/api/setup`, { method: 'POST', ...init })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: 'already_set_up' })
    }
    await service.close()
  })

  it('requires the configured code, over HTTP only', async () => {
    const url = await openUrl()
    const service = await startService(url, {
      config: { setup: { code: 'open sesame' }, rate_limits: { auth_login_per_ip_per_min: 6 } },
    })
    const client = service.client()
    for (const setup_code of [undefined, '', 'open sesam', 'open sesame ', 'x'.repeat(1024)])
      expect(await codeOf(client.setup.run({ ...ADA, setup_code }))).toBe('forbidden')
    expect(await codeOf(client.setup.run({ ...ADA, setup_code: 'x'.repeat(1025) }))).toBe('validation_failed')
    // Wrong codes count as sign-ins of their address.
    expect(await codeOf(client.setup.run({ ...ADA, setup_code: 'open sesame' }))).toBe('rate_limited')
    const node = await startService(url, { config: { setup: { code: 'open sesame' } } })
    const done = await node.client().setup.run({ ...ADA, setup_code: 'open sesame' })
    expect(done.user.email).toBe(ADA.email)
    expect(await codeOf(node.client().setup.run({ ...ADA, setup_code: 'wrong' }))).toBe('already_set_up')
    for (const each of [service, node]) await each.close()

    const other = await startService(await openUrl(), { config: { setup: { code: 'open sesame' } } })
    expect((await other.chat.setup.run(ADA)).is_setup).toBe(true)
    await other.close()
  })

  it('succeeds for exactly one of fifty calls, on two nodes', async () => {
    const url = await openUrl()
    const nodes = [await startService(url), await startService(url)]
    const calls = times(50, (i) =>
      nodes[i % 2]!.client()
        .setup.run({ email: `user${i}@example.org`, password: PASSWORD })
        .then(
          () => 'done',
          (error) => error.code,
        ),
    )
    const answers = await Promise.all(calls)
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1)
    // One network may have few waiting hashes.
    const refusals = answers.filter((answer) => answer === 'already_set_up' || answer === 'unavailable')
    expect(refusals).toHaveLength(49)
    expect((await nodes[0]!.chat.users.list({ user_id: '', roles: ['admin'] })).users).toHaveLength(1)
    for (const node of nodes) await node.close()
  })

  it.each([
    ['a short password', { ...ADA, password: 'short' }],
    ['a password of 73 bytes', { ...ADA, password: 'a'.repeat(73) }],
    ['a password of 37 two-byte characters', { ...ADA, password: 'é'.repeat(37) }],
    ['NUL in the password', { ...ADA, password: 'correct\0horse' }],
    ['a lone surrogate in the password', { ...ADA, password: 'correct \uD800 horse' }],
    ['no e-mail', { ...ADA, email: '' }],
    ['two @', { ...ADA, email: 'a@b@c' }],
    ['a header in the e-mail', { ...ADA, email: 'a@b\r\nX: y' }],
    ['markup in the e-mail', { ...ADA, email: '"><script>@x' }],
    ['255 characters of e-mail', { ...ADA, email: `a@${'b'.repeat(60)}.${'c'.repeat(192)}` }],
    ['a control character in the username', { ...ADA, username: 'a\nb' }],
    ['65 characters of username', { ...ADA, username: 'x'.repeat(65) }],
  ])('refuses %s', async (_, body) => {
    const service = await startService(await openUrl())
    expect(await codeOf(service.client().setup.run(body))).toBe('validation_failed')
    expect(await service.client().setup.get()).toEqual({ is_setup: false })
    await service.close()
  })

  it('accepts a password of 72 bytes', async () => {
    const service = await startService(await openUrl())
    const password = 'a'.repeat(72)
    await service.client().setup.run({ ...ADA, password })
    expect((await service.client().auth.login({ email: ADA.email, password })).user.username).toBe('Ada')
    expect(await codeOf(service.client().auth.login({ email: ADA.email, password: `${password}a` }))).toBe(
      'invalid_credentials',
    )
    await service.close()
  })
})
