import { expect, it, onTestFinished } from 'vitest'
import { sweepFiles } from '../../../lib/chat/attachments/sweep.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { reservedBytes } from '../../../lib/files/reserve.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState } from '../../support/service.ts'
import { bytesFor, bytesOf, startWithFiles, upload } from './files.ts'

describeOnEachDatabase('the space of files', (openUrl) => {
  async function start(attachments: Record<string, unknown>) {
    const service = await startWithFiles(await openUrl(), { config: { attachments } })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const bytes = await bytesFor(service, ada)
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    const sweep = (later = 0) => {
      const context = innerState(service)
      const clock = { ...context.clock, before: (age: number) => context.clock.before(age - later) }
      return sweepFiles({ ...context, clock, now: () => context.now() + later }, { after: '' })
    }
    return { service, ada, bytes, conversation_id, sweep }
  }

  it('of a user counts deleted files until their bytes are gone, and the error names the file', async () => {
    const { ada, bytes, conversation_id, sweep } = await start({ per_user_bytes: 1000 })
    const id = await upload(ada, bytes, conversation_id, { content: bytesOf(600) })
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'a', attachment_ids: [id] })
    await ada.messages.edit(message_id, { content: 'a', attachment_ids: [] })
    const create = () => ada.attachments.create(conversation_id, { name: 'holiday.png', size: 500 })
    await expect(create()).rejects.toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringContaining('"holiday.png" has 500 bytes, and your files take 600 of 1000'),
    })
    await sweep()
    await expect(create()).rejects.toMatchObject({ code: 'quota_exceeded' })
    const grace_hours = 24
    await sweep((grace_hours + 1) * 3_600_000_000)
    await create()
  })

  it('of a user is free at once of what no message ever had', async () => {
    const { service, ada, bytes, conversation_id, sweep } = await start({ per_user_bytes: 1000 })
    for (let n = 0; n < 3; n++) {
      const id = await upload(ada, bytes, conversation_id, { content: bytesOf(600, `file ${n}`) })
      await ada.attachments.remove(id)
      await sweep()
      expect(await innerState(service).db.all(sql`SELECT id FROM blobs`)).toEqual([])
    }
  })

  it('counts what was uploaded twice until it is deleted, and what others have of the same bytes for them', async () => {
    const { service, ada, bytes, conversation_id, sweep } = await start({ per_user_bytes: 1000 })
    const grace = await service.signIn('grace')
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const own = await upload(ada, bytes, conversation_id, { content: bytesOf(600) })
    const same = await upload(grace, await bytesFor(service, grace), conversation_id, { content: bytesOf(600) })
    const kept = await grace.messages.postRoot(conversation_id, { content: '', attachment_ids: [same] })
    await sweep()
    await ada.attachments.remove(own)
    // The bytes are there, for a file of the other one.
    await ada.attachments.create(conversation_id, { name: 'a', size: 1000 })
    await expect(grace.attachments.create(conversation_id, { name: 'a', size: 500 })).rejects.toMatchObject({
      code: 'quota_exceeded',
    })
    expect(kept.message_id).toBeDefined()
  })

  it('is kept from uploads below the reserve of the disk, and posts go on', async () => {
    const { service, ada, bytes, conversation_id } = await start({ reserve_bytes: 0 })
    const { attachment } = await ada.attachments.create(conversation_id, { name: 'a', size: 5 })
    const { attachments } = innerState(service).config
    Object.assign(attachments, { reserve_bytes: Number.MAX_SAFE_INTEGER })
    if (service.nodes.length > 1) Object.assign(innerState(service.nodes[1]!).config.attachments, attachments)
    await expect(ada.attachments.create(conversation_id, { name: 'a', size: 5 })).rejects.toMatchObject({
      code: 'storage_full',
      status: 507,
    })
    expect((await bytes.put(attachment.id, 1, Buffer.from('hello'))).status).toBe(507)
    await ada.messages.postRoot(conversation_id, { content: 'still here' })
    Object.assign(attachments, { reserve_bytes: 0 })
    if (service.nodes.length > 1) Object.assign(innerState(service.nodes[1]!).config.attachments, attachments)
    expect((await bytes.put(attachment.id, 1, Buffer.from('hello'))).status).toBe(200)
  })
})

it('the reserve is 512 MiB, or a twentieth of a small disk, and what is configured holds', () => {
  const GIB = 1024 ** 3
  expect(reservedBytes(undefined, { total: 100 * GIB })).toBe(GIB / 2)
  expect(reservedBytes(undefined, { total: GIB })).toBe(Math.floor(GIB / 20))
  expect(reservedBytes(5 * GIB, { total: GIB })).toBe(5 * GIB)
  const { per_user_bytes, reserve_bytes } = parseConfig({}).attachments
  expect({ per_user_bytes, reserve_bytes }).toEqual({ per_user_bytes: GIB, reserve_bytes: undefined })
})
