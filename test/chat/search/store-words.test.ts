import { expect, it, onTestFinished } from 'vitest'
import { toWordNumber } from '../../../lib/chat/search/rules.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, times } from '../../support/service.ts'

it('gives words numbers of 32 bits, hardly ever the same one', () => {
  const numbers = times(100_000, (n) => toWordNumber(`w${n.toString(36)}`))
  expect(new Set(numbers).size).toBeGreaterThan(99_980)
  expect(numbers.every((number) => number === (number | 0))).toBe(true)
})

describeOnEachDatabase('the beginnings of words', (openUrl) => {
  const start = async () => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const ada = await service.signIn('ada')
    const place = async () => (await ada.conversations.create({})).conversation_id
    const find = async (q: string) =>
      (await ada.search.messages({ q })).results.map(({ message }) => message.content).sort()
    return { service, ada, place, find, db: innerState(service).db }
  }

  it('are those of the words that messages still have', async () => {
    const { service, ada, place, find, db } = await start()
    const [kept, gone] = [await place(), await place()]
    await ada.messages.postRoot(kept, { content: 'vanilla vanguard' })
    const { message_id } = await ada.messages.postRoot(kept, { content: 'vaning' })
    await ada.messages.postRoot(gone, { content: 'vanilla vanishing' })
    await service.idle()
    expect(await find('van*')).toEqual(['vanilla vanguard', 'vanilla vanishing', 'vaning'])
    await ada.messages.edit(message_id, { content: 'waning' })
    await ada.conversations.remove(gone)
    await service.idle()
    expect(await find('van*')).toEqual(['vanilla vanguard'])
    expect(await find('vanilla vang*')).toEqual(['vanilla vanguard'])
    if (db.dialect === 'sqlite') return
    const words = await db.all(sql`SELECT word FROM search_words WHERE word LIKE '_an%' ORDER BY word`)
    expect(words.map(({ word }) => word)).toEqual(['vanguard', 'vanilla', 'waning'])
    expect(await db.all(sql`SELECT number FROM search_gone`)).toEqual([])
  })

  it('are compared with the texts if too many words begin so', async ({ skip }) => {
    const { service, ada, place, find, db } = await start()
    if (db.dialect === 'sqlite') return skip()
    await ada.messages.postRoot(await place(), { content: 'preface one' })
    await ada.messages.postRoot(await place(), { content: 'postface one' })
    await service.idle()
    await db.run(sql`INSERT INTO search_words (word, number) SELECT 'pre' || n, n FROM generate_series(1, 2001) AS n`)
    for (const q of ['pre*', 'pre* one']) expect(await find(q)).toEqual(['preface one'])
  })
})
