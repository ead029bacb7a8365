import { beforeAll, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, times } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('GET /api/feed', (openUrl) => {
  const [service, without] = setUpNodes(async () => {
    const url = await openUrl()
    return [
      await startService(url),
      await startService(url, {
        config: { bots: { enabled: false }, hooks: { enabled: false }, webhooks: { enabled: false } },
      }),
    ]
  })
  let ada: Person
  let conversation_id: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    conversation_id = (await ada.conversations.create({ title: 'one' })).conversation_id
  })

  it('returns what the client asks for, and waits', async () => {
    const { position } = await ada.feed.read()
    const waiting = ada.feed.read({ after: position, types: 'message.*', wait_seconds: 20, conversation_id })
    await ada.messages.postRoot(conversation_id, { content: 'news' })
    const { events } = await waiting
    expect(events).toMatchObject([{ type: 'message.new', data: { message: { content: 'news' } } }])
    for (const query of [{ types: 'message' }, { wait_seconds: 51 }])
      expect(await codeOf(ada.feed.read(query))).toBe('validation_failed')
  })

  it('is 404 where programs are not served, also without a session; the process reads in any case', async () => {
    const response = await fetch(`${without.base_url}/api/feed`)
    expect(response.status).toBe(404)
    expect(await without.chat.feed.read(await without.chat.users.actor(ada.id))).toMatchObject({ events: [] })
  })

  it('ends with 401 when the session ends', async () => {
    const grace = await service.signIn('grace')
    const { position } = await grace.feed.read()
    const waiting = codeOf(grace.feed.read({ after: position, wait_seconds: 50 }))
    await new Promise((resolve) => setTimeout(resolve, 200))
    await service.chat.users.endSessions(await service.chat.users.actor(ada.id), grace.id)
    expect(await waiting).toBe('unauthenticated')
  })

  it('answers HEAD at once', async () => {
    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    const { position } = await ada.feed.read()
    const url = `${service.base_url}/api/feed?wait_seconds=50&after=${encodeURIComponent(position)}`
    const response = await fetch(url, { method: 'HEAD', headers: { cookie }, signal: AbortSignal.timeout(20_000) })
    expect(response.status).toBe(200)
  })

  it('leaves its place among the streams when the client disconnects', async () => {
    const { position } = await ada.feed.read()
    const controller = new AbortController()
    const waiting = ada.feed
      .read({ after: position, wait_seconds: 50 }, { signal: controller.signal })
      .catch(() => 'aborted')
    const { watch } = innerState(service).streams.hub
    for (const _ of times(100, () => 0)) if (watch.size() === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(watch.size()).toBe(1)
    controller.abort()
    await waiting
    for (const _ of times(100, () => 0)) if (watch.size() > 0) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(watch.size()).toBe(0)
  })

  it('ends without events when the service drains', async () => {
    const leaving = await startService(await openUrl())
    const eve = await leaving.signIn('eve')
    const { position } = await eve.feed.read()
    const waiting = eve.feed.read({ after: position, wait_seconds: 50 })
    await new Promise((resolve) => setTimeout(resolve, 200))
    leaving.chat.drain()
    expect(await waiting).toEqual({ events: [], position: expect.any(String) })
    const actor = await leaving.chat.users.actor(eve.id)
    expect(await codeOf(leaving.chat.feed.read(actor, { after: position }))).toBe('unavailable')
    await leaving.close()
  })
})
