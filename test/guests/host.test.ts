import { expect, it } from 'vitest'
import { createAdminClient } from '../../lib/client/admin.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, startService } from '../support/service.ts'

describeOnEachDatabase('guests beside the login of a host', (openUrl) => {
  // The host signs in by a header; a token that it does not know is refused.
  const identity = ({ headers }: { headers: Headers }) => {
    const [, subject] = /^Bearer host-(.+)$/.exec(headers.get('authorization') ?? '') ?? []
    return subject === undefined
      ? undefined
      : { subject, roles: subject.startsWith('visitor') ? ['guest'] : ['member'] }
  }
  const service = setUpService(async () =>
    startService(await openUrl(), { ports: { identity }, config: { guests: { enabled: true } } }),
  )
  const as = (token: string) =>
    createAdminClient({ base_url: service.base_url, api_key: token, fetch: checkedFetch, retry_ms: 10 })

  it('sign out, which ends their token; the host signs its people out itself', async () => {
    const guest = await service.chat.guests.create({}, { token: true })
    if (!('expires_at' in guest)) throw new Error('expected a token')
    const client = as(guest.token)
    expect((await client.auth.me()).user.id).toBe(guest.user.id)
    await client.auth.logout()
    expect(await codeOf(client.auth.me())).toBe('unauthenticated')
    expect(await codeOf(as('host-ada').auth.logout())).toBe('not_found')
    expect(await codeOf(service.client().auth.logout())).toBe('not_found')
    expect(await codeOf(client.auth.refresh())).toBe('not_found')
  })

  it('are claimed by a token of the host', async () => {
    const visitor = as('host-visitor-1')
    const { user } = await visitor.auth.me()
    expect(user).toMatchObject({ kind: 'guest' })
    const ada = as('host-ada')
    const { user: person } = await ada.auth.me()
    const claimed = await ada.guests.claim({ token: 'host-visitor-1' })
    expect(claimed).toMatchObject({ user: { id: person.id }, moved: { messages: 0, conversations: 0 } })
    expect(await ada.guests.claim({ token: 'host-visitor-1' })).toEqual(claimed)
    expect(await codeOf(ada.guests.claim({ token: 'host-grace' }))).toBe('not_found')
    await as('host-grace').auth.me()
    expect(await codeOf(ada.guests.claim({ token: 'host-grace' }))).toBe('conflict')
    expect(await codeOf(ada.guests.claim({ token: 'unknown' }))).toBe('not_found')
  })
})
