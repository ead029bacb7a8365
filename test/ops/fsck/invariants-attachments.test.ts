import { expect, it, onTestFinished } from 'vitest'
import { sql } from '../../../lib/storage/sql.ts'
import { bytesFor, startWithFiles, upload } from '../../chat/attachments/files.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState } from '../../support/service.ts'

describeOnEachDatabase('fsck of the files of messages', (openUrl) => {
  it('makes wrong lists anew, also for the search, and lets files without a message run out', async () => {
    const service = await startWithFiles(await openUrl())
    onTestFinished(service.close)
    const ada = await service.signIn('ada')
    const bytes = await bytesFor(service, ada)
    const { conversation_id: place } = await ada.conversations.create({ title: 'Files' })
    const post = async (...names: string[]) => {
      const attachment_ids = []
      for (const name of names) attachment_ids.push(await upload(ada, bytes, place, { name }))
      return (await ada.messages.postRoot(place, { content: 'plan', attachment_ids })).message_id
    }
    const two = await post('a "status":".txt', 'zebra ü.txt')
    const one = await post('okapi.txt')
    const none = await post()
    const loose = await upload(ada, bytes, place, { name: 'loose.txt' })
    await service.idle()
    const { db } = innerState(service)
    const lists = () => db.all<{ list: string | null }>(sql`SELECT attachment_list AS list FROM messages ORDER BY id`)
    const check = async (options?: { repair: boolean }) =>
      (await service.chat.ops.fsck(options)).findings.map(({ name, count }) => [name, count])
    const right = await lists()
    expect(await check()).toEqual([])

    const set = (id: string, list: string | null) =>
      innerState(service).db.write((tx) => tx.run(sql`UPDATE messages SET attachment_list = ${list} WHERE id = ${id}`))
    const [first] = JSON.parse(right[0]!.list!)
    await set(two, JSON.stringify([first]))
    await set(one, null)
    await set(none, right[1]!.list)
    await innerState(service).db.write((tx) =>
      tx.run(sql`UPDATE attachments SET expires_at = NULL WHERE id = ${loose}`),
    )
    expect(await check({ repair: true })).toEqual([
      ['attachments-listed', 3],
      ['attachments-waiting', 1],
    ])
    expect(await check()).toEqual([])
    expect(await lists()).toEqual(right)
    expect((await ada.search.messages({ q: 'zebra' })).results.map(({ message }) => message.id)).toEqual([two])
    const { upload_expires_at } = await ada.attachments.get(loose)
    expect(Date.parse(upload_expires_at!)).toBeGreaterThan(Date.now())
    // One id too many in the list.
    await set(one, JSON.stringify([...JSON.parse(right[1]!.list!), first]))
    expect(await check({ repair: true })).toEqual([['attachments-listed', 1]])
    expect(await lists()).toEqual(right)
  })
})
