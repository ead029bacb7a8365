import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStorage } from '../../../lib/index.ts'
import { createChanges } from '../../../lib/live/poll/changes.ts'
import type { Storage } from '../../../lib/storage/open.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { placementOf } from '../../support/placement.ts'
import { startService, startThread, type TestService } from '../../support/service.ts'

describeOnEachDatabase('a look for the changes of other processes', (openUrl) => {
  let service: TestService
  let storage: Storage
  beforeAll(async () => {
    const url = await openUrl()
    service = await startService(url)
    storage = await openStorage({ database: url, ...placementOf(url) })
  })
  afterAll(() => Promise.all([service.close(), storage.close()]))

  it('finds every commit, also one amid a look, and each once it is accepted', async () => {
    const { ada, conversation_id } = await startThread(service)
    const post = async (content: string) => void (await ada.messages.postRoot(conversation_id, { content }))
    let amid: (() => Promise<void>) | undefined
    const { db } = storage
    const changeToken = async () => {
      await amid?.()
      return db.changeToken()
    }
    const changes = createChanges({ ...db, changeToken })
    const look = async () => {
      const found = await changes.find()
      return { ...found, ids: found.changes?.conversations.map(({ id }) => id) }
    }
    const first = await look()
    expect(first.changes).toBeUndefined()
    first.accept()

    await post('before a look')
    expect((await look()).ids).toEqual([conversation_id])
    const second = await look()
    expect(second.ids).toEqual([conversation_id])
    second.accept()
    expect((await look()).ids).toEqual([])

    amid = () => post('amid a look')
    const third = await look()
    third.accept()
    amid = undefined
    // PostgreSQL looks with one statement, amid which nothing can be.
    if (db.dialect === 'postgresql') await post('after the look')
    const fourth = await look()
    fourth.accept()
    expect([...third.ids!, ...fourth.ids!]).toContain(conversation_id)
  })
})
