import { expect, it } from 'vitest'
import { setRecount } from '../../../lib/chat/unread/store-recounting.ts'
import type { ReceivedEvent } from '../../../lib/client/index.ts'
import type { Storage } from '../../../lib/index.ts'
import { MIGRATIONS } from '../../../lib/storage/schema/migrations.ts'
import { type Sql, sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, PASSWORD, type Person, startService, times } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

const MANY = 3_000

describeOnEachDatabase('presence of a user with thousands of conversations', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl(), { wrap: counting }))
  const statements: string[] = []

  /** Records the statements of a service. */
  const counting = ({ db, ...storage }: Storage): Storage => {
    const counted = <Q extends object>(queries: Q): Q => {
      const copy = { ...queries } as Record<string, unknown>
      for (const name of ['all', 'get', 'run'])
        copy[name] = (sql: Sql) => {
          statements.push(sql.text)
          return (queries as Record<string, (sql: Sql) => unknown>)[name]!(sql)
        }
      return copy as Q
    }
    return {
      ...storage,
      db: {
        ...counted(db),
        write: (work, options) => db.write((tx) => work(counted(tx)), options),
        snapshot: (work) => db.snapshot((reads) => work(counted(reads))),
      },
    }
  }

  /** Creates conversations of these users as rows, which is quick. Nothing is left to be counted in them. */
  async function share(people: Person[], count: number): Promise<string[]> {
    const { id, write } = innerState(service)
    const conversations = times(count, () => id())
    await write(async (tx) => {
      await setRecount(tx, { schema: MIGRATIONS.length })
      for (const conversation_id of conversations) {
        await tx.run(
          sql`INSERT INTO conversations (id, title, is_group, created_at, clock, participant_count, root_count, counted_seq) VALUES (${conversation_id}, '', 1, 0, 0, ${people.length}, 0, 0)`,
        )
        for (const person of people)
          await tx.run(
            sql`INSERT INTO participants (conversation_id, user_id, role, joined_at, seen_roots, seen_replies, followed_unread, followed_threads) VALUES (${conversation_id}, ${person.id}, 'owner', 0, 0, 0, 0, 0)`,
          )
      }
    })
    return conversations
  }

  async function follow(person: Person, conversation_id?: string): Promise<TestStream> {
    const { cookie } = await signInByHand(service.base_url, person.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    await stream.until('stream.ready')
    return stream
  }

  /** The statements of the work on the tables for presence. */
  async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    statements.length = 0
    await work()
    // Without those at intervals: what other processes have committed, and what an older version has left to be counted.
    const isPoll = (sql: string) => /pg_current_snapshot\(\)|counted_seq|seen_roots/.test(sql)
    return statements.filter((sql) => /FROM (events|participants|conversations)/.test(sql) && !isPoll(sql))
  }
  const becomes = (stream: TestStream, person: Person, status: string) =>
    stream.until(
      'presence.update',
      ({ type, payload }) => type === 'presence.update' && payload.user_id === person.id && payload.status === status,
    )

  it('is sent once to a reader of all conversations, and to a reader of one, with few statements', async () => {
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const eve = await service.signIn('eve')
    const [conversation_id] = await share([ada, grace, eve], 1)
    await share([ada, grace], MANY)
    const { conversation_id: own } = await grace.conversations.create()
    const [all, one] = [await follow(grace), await follow(eve, conversation_id)]

    const seen: ReceivedEvent[] = []
    const asked = await statementsOf(async () => {
      const hers = await follow(ada)
      seen.push(...(await becomes(all, ada, 'online')))
      await becomes(one, ada, 'online')
      await hers.close()
      seen.push(...(await becomes(all, ada, 'offline')))
      await becomes(one, ada, 'offline')
    })
    // Another event would arrive before these.
    for (const content of ['so', 'far']) {
      const { message_id } = await grace.messages.postRoot(own, { content })
      seen.push(...(await all.until('message.new', (event) => JSON.stringify(event).includes(message_id))))
    }
    const told = seen.filter(({ event }) => event.type === 'presence.update' && event.payload.user_id === ada.id)
    expect(told.map(({ event }) => (event.payload as { status: string }).status)).toEqual(['online', 'offline'])
    expect(asked.length).toBeLessThan(40)
    await Promise.all([all.close(), one.close()])
  })

  it('queries no conversation without readers', async () => {
    const dora = await service.signIn('dora')
    await share([dora], MANY)
    const asked = await statementsOf(async () => {
      await dora.presence.sendHeartbeat({ status: 'away' })
      await dora.presence.sendHeartbeat({ status: 'offline' })
    })
    expect(asked.length).toBeLessThan(10)
  })
})
