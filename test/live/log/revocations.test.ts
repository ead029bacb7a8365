import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Primitive } from '../../../lib/storage/database.ts'
import type { Storage } from '../../../lib/storage/open.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { innerState, PASSWORD, startService, startThread, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'
import { holdStorage, looksForChanges } from '../held.ts'
import { typesOf } from '../readers.ts'

/** Collects the statements, with their parameters, that are run outside of transactions. */
function collecting(statements: [sql: string, params: readonly Primitive[]][]): (storage: Storage) => Storage {
  return ({ db, ...storage }) => {
    const all: typeof db.all = (sql) => {
      statements.push([sql.text, sql.params])
      return db.all(sql)
    }
    return { ...storage, db: { ...db, all } }
  }
}

// The time that the process stood still. It only grows, as the clock of a process never goes back.
let stoodStill = 0
const now = performance.now.bind(performance)
vi.spyOn(performance, 'now').mockImplementation(() => now() + stoodStill)
afterAll(() => void vi.restoreAllMocks())

/** How the rights of open streams are looked up. */
const isLookUp = ([sql]: [string, readonly Primitive[]]) => /FROM sessions\s+WHERE id (IN|= ANY)/.test(sql)

/** How often the rights of some streams were looked up in any case: every two seconds. */
const roundsSince = (began: number) => 1 + Math.floor((performance.now() - began) / 2_000)

const closedBecause = (reason: string) =>
  expect.objectContaining({ event: { type: 'stream.closed', payload: { reason } } })

describeOnEachDatabase('the streams of another node', (openUrl) => {
  const statements: [string, readonly Primitive[]][] = []
  const held = holdStorage()
  const [here, there] = setUpNodes(async () => {
    const url = await openUrl()
    return [
      await startService(url),
      await startService(url, { wrap: (storage) => collecting(statements)(held.wrap(storage)) }),
    ]
  })
  let thread: Awaited<ReturnType<typeof startThread>>
  beforeAll(async () => {
    thread = await startThread(here)
  })

  const open = async (email: string) => {
    const { cookie } = await signInByHand(here.base_url, email, PASSWORD)
    const stream = await openStream(there.base_url, thread.conversation_id, { cookie })
    await stream.until('stream.ready')
    return { stream, cookie }
  }
  const post = (content: string) => thread.ada.messages.reply(thread.root.message_id, { content })

  it('get its events without a look-up of their rights for each commit', async () => {
    const { stream } = await open(thread.grace.email)
    await post('the first commit after a start is one of unknown contents')
    await stream.until('message.new')
    // Twice: a poll that is under way may have begun before.
    for (const _ of times(2, () => 0)) await innerState(there).streams.poller.poll()
    statements.length = 0
    const began = performance.now()
    for (const n of times(5, (index) => index)) {
      await post(`${n}`)
      await stream.until('message.new')
    }
    expect(statements.filter(isLookUp).length).toBeLessThanOrEqual(roundsSince(began))
    await stream.close()
  })

  it('cost no look-up of the rights of others when a user loses one', async () => {
    const others = await open(thread.ada.email)
    const { stream, cookie } = await open(thread.grace.email)
    await post('the first look is one at everything')
    await stream.until('message.new')
    for (const _ of times(2, () => 0)) await innerState(there).streams.poller.poll()
    statements.length = 0
    const began = performance.now()
    const csrf = /CSRF-TOKEN=([^;]*)/.exec(cookie)![1]!
    await fetch(`${here.base_url}/api/auth/logout`, { method: 'POST', headers: { cookie, 'x-csrf-token': csrf } })
    await stream.until('stream.closed')
    const together = statements.filter(isLookUp).map(([, [ids]]) => JSON.parse(String(ids)).length)
    expect(together.filter((count) => count > 1).length).toBeLessThanOrEqual(roundsSince(began))
    await others.stream.close()
  })

  it('get no post that is later than the end of a right, also if the process stood still meanwhile', async () => {
    const { stream, cookie } = await open(thread.grace.email)
    await post('the first look is one at everything')
    await stream.until('message.new')
    for (const _ of times(2, () => 0)) await innerState(there).streams.poller.poll()
    const look = held.hold(looksForChanges, 'before')
    await look.reached
    const csrf = /CSRF-TOKEN=([^;]*)/.exec(cookie)![1]!
    await fetch(`${here.base_url}/api/auth/logout`, { method: 'POST', headers: { cookie, 'x-csrf-token': csrf } })
    await post('not for her any more')
    look.release()
    // Ephemeral events of either post may still come: they take another way, and have no text.
    expect(typesOf(await stream.until('stream.closed'))).not.toContain('message.new')
  })

  it('get the event of the removal before their end, also if the rights are looked up before the log', async () => {
    const { grace, ada, conversation_id } = thread
    const { stream } = await open(grace.email)
    const look = held.hold(looksForChanges, 'before')
    await look.reached
    await ada.participants.remove(conversation_id, grace.id)
    await innerState(there).streams.hub.rights.recheckAll()
    look.release()
    expect(typesOf(await stream.until('stream.closed'))).toEqual(['membership.changed', 'stream.closed'])
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })

  it.each(['a post of its own', 'the look at those of others'])(
    'get no such post by %s, also if the process stood still between two looks',
    async (way) => {
      const own = await signInByHand(there.base_url, thread.ada.email, PASSWORD)
      const { stream, cookie } = await open(thread.grace.email)
      await post('the first look is one at everything')
      await stream.until('message.new')
      for (const _ of times(2, () => 0)) await innerState(there).streams.poller.poll()
      // The look at the changes is over, and the process stands still before it reads the log.
      const look = held.hold(looksForChanges, 'after')
      await look.reached
      const csrf = /CSRF-TOKEN=([^;]*)/.exec(cookie)![1]!
      await fetch(`${here.base_url}/api/auth/logout`, { method: 'POST', headers: { cookie, 'x-csrf-token': csrf } })
      await post('not for her any more')
      stoodStill += 10_000
      try {
        if (way === 'a post of its own')
          await fetch(`${there.base_url}/api/messages/${thread.root.message_id}/reply`, {
            method: 'POST',
            headers: { ...own, 'content-type': 'application/json' },
            body: JSON.stringify({ content: 'nor this' }),
          })
        else look.release()
        expect(typesOf(await stream.until('stream.closed'))).not.toContain('message.new')
      } finally {
        look.release()
      }
    },
  )

  it('get posts of their own node while it has heard no other one for 3 s, if they still may', async () => {
    const kept = await open(thread.ada.email)
    const { stream, cookie } = await open(thread.grace.email)
    const headersOf = (of: string) => ({ cookie: of, 'x-csrf-token': /CSRF-TOKEN=([^;]*)/.exec(of)![1]! })
    await post('the first look is one at everything')
    for (const each of [kept.stream, stream]) await each.until('message.new')
    for (const _ of times(2, () => 0)) await innerState(there).streams.poller.poll()
    // Polls stand still, and the process does not: it delivers what it commits itself.
    const look = held.hold(looksForChanges, 'before')
    await look.reached
    try {
      await fetch(`${here.base_url}/api/auth/logout`, { method: 'POST', headers: headersOf(cookie) })
      stoodStill += 3_000
      statements.length = 0
      await fetch(`${there.base_url}/api/messages/${thread.root.message_id}/reply`, {
        method: 'POST',
        headers: { ...headersOf(kept.cookie), 'content-type': 'application/json' },
        body: JSON.stringify({ content: 'for those who may' }),
      })
      expect(typesOf(await kept.stream.until('message.new'))).not.toContain('stream.closed')
      expect(typesOf(await stream.until('stream.closed'))).not.toContain('message.new')
      expect(statements.filter(isLookUp)).not.toEqual([])
    } finally {
      look.release()
    }
    await kept.stream.close()
  })

  it('end when the session, the participation or the account of their user ends, also by hand', async () => {
    const { grace, ada, conversation_id } = thread
    const ended = await open(grace.email)
    const { sessions } = await grace.auth.listSessions()
    for (const { id, current } of sessions) if (!current) await grace.auth.revokeSession(id)
    expect(await ended.stream.until('stream.closed')).toContainEqual(closedBecause('session_ended'))

    const removed = await open(grace.email)
    await ada.participants.remove(conversation_id, grace.id)
    expect(await removed.stream.until('stream.closed')).toContainEqual(closedBecause('removed'))

    await ada.participants.add(conversation_id, { user_id: grace.id })
    const byHand = await open(grace.email)
    await innerState(here).db.run(sql`DELETE FROM participants WHERE user_id = ${grace.id}`)
    expect(await byHand.stream.until('stream.closed')).toContainEqual(closedBecause('removed'))

    const disabled = await open(ada.email)
    await here.chat.users.lockDown({ user_id: '', roles: ['admin'] }, ada.id)
    expect(await disabled.stream.until('stream.closed')).toContainEqual(closedBecause('session_ended'))
  })
})
