import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpNodes } from '../support/describe-service.ts'
import { innerState, PASSWORD, type Person, startService, type TestService } from '../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../support/stream.ts'

describeOnEachDatabase('the metrics of two processes on one database', (openUrl) => {
  const [here, there] = setUpNodes(async () => {
    const url = await openUrl()
    const config = { sse: { max_streams_per_user: 50 }, session: { max_sessions_per_user: 50 } }
    return [await startService(url, { config }), await startService(url, { config })]
  })
  let ada: Person
  let conversation_id: string
  const streams: TestStream[] = []
  const kept: TestStream[] = []
  beforeAll(async () => {
    // It would find its own commits, too, at times before these return.
    await innerState(here).streams.poller.stop()
    ada = await here.signIn('ada')
    conversation_id = (await ada.conversations.create()).conversation_id
    // She is online from here on: an event of presence reads the log, maybe between a commit and its delivery.
    const other = (await ada.conversations.create()).conversation_id
    kept.push(await follow(here, other), await follow(there, other))
    streams.splice(0)
  })
  afterAll(() => Promise.all(kept.map((stream) => stream.close())))
  afterEach(async () => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()))
    await vi.waitUntil(() => [here, there].every(({ chat }) => innerState(chat).streams.hub.size() === 1), {
      timeout: 30_000,
    })
  })

  const follow = async (node: TestService, id?: string) => {
    const { cookie } = await signInByHand(node.base_url, ada.email, PASSWORD)
    const stream = await openStream(node.base_url, id, { cookie })
    streams.push(stream)
    await stream.until('stream.ready')
    return stream
  }
  const read = async ({ base_url }: TestService, series: string) => {
    const page = await (await fetch(`${base_url}/metrics`)).text()
    return Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${series} `))!
        .split(' ')[1],
    )
  }
  const lags = (node: TestService) =>
    Promise.all(['own', 'other'].map((source) => read(node, `chat_delivery_lag_seconds_count{source="${source}"}`)))
  const seconds = (node: TestService, source: string) => read(node, `chat_delivery_lag_seconds_sum{source="${source}"}`)
  const post = () => ada.messages.postRoot(conversation_id, { content: 'x' })

  it('measure no delivery without readers', async () => {
    await post()
    expect([await lags(here), await lags(there)]).toEqual([
      [0, 0],
      [0, 0],
    ])
  })

  it('measure a delivery once, however many readers it has, by where it was committed', async () => {
    for (const node of [here, here, here, there, there]) await follow(node, conversation_id)
    await post()
    for (const stream of streams) await stream.until('message.new')
    expect([await lags(here), await lags(there)]).toEqual([
      [1, 0],
      [0, 1],
    ])
    // The whole delay of a poll, and no more than this test may take.
    expect(await seconds(here, 'own')).toBeGreaterThan(0)
    expect(await seconds(there, 'other')).toBeGreaterThan(0)
    expect(await seconds(there, 'other')).toBeLessThan(60)
  })

  it('measure streams of all conversations, too', async () => {
    const before = [await lags(here), await lags(there)]
    for (const node of [here, here, there]) await follow(node)
    const { root_id } = await post()
    for (const stream of streams) await stream.until('message.new')
    await ada.messages.reply(root_id, { content: 'y' })
    for (const stream of streams) await stream.until('message.new')
    const [[own = 0, none] = [], [no, other = 0] = []] = [await lags(here), await lags(there)]
    expect([own, none, no]).toEqual([before[0]![0]! + 2, 0, 0])
    expect(other).toBeGreaterThan(before[1]![1]!)
  })

  it('count the conversations that a poll found', async () => {
    const found = () => read(there, 'chat_bus_new_conversations_sum')
    const stream = await follow(there)
    const before = await found()
    await post()
    await stream.until('message.new')
    await expect.poll(found).toBeGreaterThan(before)
    expect(await read(there, 'chat_bus_new_conversations_count')).toBeGreaterThan(0)
  })
})
