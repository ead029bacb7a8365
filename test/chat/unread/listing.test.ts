import { expect, it, onTestFinished } from 'vitest'
import type { Storage } from '../../../lib/index.ts'
import type { Writing } from '../../../lib/storage/database.ts'
import { type Sql, sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, type Person, startService, times } from '../../support/service.ts'

const READERS = 2_000

describeOnEachDatabase('the followers of a thread', (openUrl, dialect) => {
  it('are found without those who only read it, at its first reply, and where a reply is deleted and restored', async () => {
    const made: Sql[] = []
    const recording = ({ db, ...storage }: Storage): Storage => {
      const noted = (text: Sql) => {
        made.push(text)
        return text
      }
      const recorded = (tx: Writing): Writing => ({
        ...tx,
        all: (text) => tx.all(noted(text)),
        get: (text) => tx.get(noted(text)),
        run: (text) => tx.run(noted(text)),
      })
      return { ...storage, db: { ...db, write: (work, options) => db.write((tx) => work(recorded(tx)), options) } }
    }
    const service = await startService(await openUrl(), { wrap: recording, config: { search: { enabled: false } } })
    onTestFinished(service.close)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { db } = innerState(service)
    await db.write(async (tx) => {
      for (const n of times(READERS, (index) => index))
        await tx.run(sql`INSERT INTO thread_members (root_id, user_id, read_at, read_count, marked_in)
          VALUES (${root_id}, ${`reader-${n}`}, 1, 0, ${conversation_id})`)
    })
    // SQLite plans without numbers of rows.
    if (dialect === 'postgresql') await db.run(sql`ANALYZE`)

    const plansOf = async (act: () => Promise<unknown>) => {
      made.length = 0
      await act()
      const members = made.filter(({ text }) => /listed_at IS NOT NULL\)/.test(text))
      expect(members.length).toBeGreaterThan(0)
      const explain = dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
      return Promise.all(
        members.map(async ({ text, params }) =>
          (await db.all<object>(statement(`${explain} ${text}`, [...params])))
            .map((row) => JSON.stringify(row))
            .join('\n'),
        ),
      )
    }
    let message_id = ''
    const acts = [
      async () => {
        message_id = (await ada.messages.reply(root_id, { content: 'It runs.' })).message_id
      },
      () => ada.messages.remove(message_id),
      () => ada.messages.restore(message_id),
    ]
    for (const act of acts)
      for (const plan of await plansOf(act)) {
        expect(plan).toMatch(/followers_of_thread/)
        expect(plan).not.toMatch(/SCAN f USING|SEARCH f USING PRIMARY KEY|Seq Scan on thread_members/)
      }
  })
})

describeOnEachDatabase('replies that are stored together', (openUrl) => {
  it('are counted for each follower, and their threads once', async () => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const eve = await service.signIn('eve')
    const { conversation_id } = await ada.conversations.create({ layout: 'stream' })
    for (const { id } of [grace, eve]) await ada.participants.add(conversation_id, { user_id: id })
    const { conversation_id: direct } = await ada.conversations.direct({ user_id: grace.id })
    const roots = await Promise.all(
      [conversation_id, conversation_id, direct].map((place) => ada.messages.postRoot(place, { content: 'Look' })),
    )
    await eve.threads.follow(roots[0]!.root_id)
    const posts = roots.flatMap(({ root_id }) => [root_id, root_id, root_id])
    const people = [ada, grace, grace, ada, grace, grace, ada, grace, grace]
    await Promise.all(posts.map((root_id, n) => people[n]!.messages.reply(root_id, { content: `reply ${n}` })))
    const numbersOf = async (person: Person) => {
      const { threads, unread } = await person.threads.listFollowed({ unread: true })
      return [unread, threads.map(({ unread_replies }) => unread_replies)]
    }
    expect(await numbersOf(ada)).toEqual([3, [2, 2, 2]])
    expect(await numbersOf(eve)).toEqual([1, [3]])
    const { threads } = await grace.threads.listFollowed({})
    expect(new Set(threads.map(({ root_id }) => root_id))).toEqual(new Set(roots.map(({ root_id }) => root_id)))
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
