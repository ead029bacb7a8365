import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { openStorage } from '../../../lib/index.ts'
import { exportConversation } from '../../../lib/storage/archive/conversation-export.ts'
import { exportArchive } from '../../../lib/storage/archive/export.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { bytesFor, startWithFiles, upload } from '../../chat/attachments/files.ts'
import { describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { innerState, startService, startThread } from '../../support/service.ts'

describeOnEachEmptyDatabase('archives made while an author is erased', (openUrl) => {
  it('have no title, text or name of a file of the author, and the erasure continues after an import', async () => {
    const service = await startWithFiles(await openUrl())
    for (const node of service.nodes) await innerState(node).tasks.stop()
    const { ada, grace, conversation_id } = await startThread(service)
    const files = await bytesFor(service, grace)
    const [own, adas] = [
      await upload(grace, files, conversation_id, { name: 'SECRET.txt', content: Buffer.from('bytes') }),
      await upload(ada, await bytesFor(service, ada), conversation_id, { name: 'kept.txt', content: Buffer.from('x') }),
    ]
    const post = { content: 'SECRET text', title: 'SECRET title', attachment_ids: [own] }
    const { root_id, message_id } = await grace.messages.postRoot(conversation_id, post)
    await ada.messages.reply(root_id, { content: 'kept', attachment_ids: [adas] })
    await ada.users.erase(grace.id, { messages: 'erase' })

    const { db } = innerState(service)
    const read = async (make: (write: (lines: string) => void) => Promise<unknown>) => {
      let archive = ''
      await make((lines) => {
        archive += lines
      })
      return archive
    }
    const archive = await read((write) => exportArchive(db, write))
    const ofConversation = await read((write) => exportConversation(db, conversation_id, write))
    for (const text of [archive, ofConversation]) {
      expect(text).toContain('kept.txt')
      expect(text).toContain(message_id)
      expect(text).not.toContain('SECRET')
    }
    expect(ofConversation).not.toContain(own)

    const { attachments } = innerState(service).config
    await service.close()
    const url = await openUrl()
    const storage = await openStorage({ database: url })
    await storage.migrate()
    await storage.import(Readable.from(archive.trimEnd().split('\n')))
    await storage.close()
    const copy = await startService(url, { config: { attachments } })
    expect((await copy.chat.ops.fsck()).findings).toEqual([])
    await innerState(copy).tasks.settle()
    const rows = await innerState(copy).db.all(sql`SELECT name FROM attachments`)
    expect(rows).toEqual([{ name: 'kept.txt' }])
    expect((await copy.chat.ops.fsck()).findings).toEqual([])
    await copy.close()
  })
})
