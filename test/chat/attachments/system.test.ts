import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Actor, OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, type Person, type TestService } from '../../support/service.ts'
import { bytesFor, bytesOf, startWithFiles } from './files.ts'

describeOnEachDatabase('files of a system actor', (openUrl) => {
  let service: TestService
  let ada: Person
  let orders: Actor
  let conversation_id: string
  beforeAll(async () => {
    service = await startWithFiles(await openUrl())
    ada = await service.signIn('ada')
    orders = await service.chat.system('orders')
    conversation_id = (await ada.conversations.create({ title: 'Orders' })).conversation_id
  })
  afterAll(async () => {
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await service.close()
  })

  async function uploadAs(actor: Actor, bytes: Uint8Array): Promise<string> {
    const input = { name: 'invoice.bin', size: bytes.length }
    const { attachment } = await service.chat.attachments.create(actor, conversation_id, input)
    await service.chat.attachments.putPart(actor, attachment.id, 1, { bytes })
    return attachment.id
  }

  it('are uploaded, attached to a post and to an edit, and read by the participants', async () => {
    const { messages, attachments } = service.chat
    const [first, second] = [await uploadAs(orders, bytesOf(900, 'a')), await uploadAs(orders, bytesOf(900, 'b'))]
    const posted = await messages.postRoot(orders, conversation_id, { content: 'Invoice', attachment_ids: [first] })
    expect(posted.message).toMatchObject({ role: 'system', attachments: [{ id: first, uploaded_by: orders.user_id }] })
    const read = await (await bytesFor(service, ada)).read(`/api/attachments/${first}/content`)
    expect(Buffer.from(await read.arrayBuffer()).equals(bytesOf(900, 'a'))).toBe(true)
    await messages.edit(orders, posted.message_id, { content: 'Invoice 2', attachment_ids: [second] })
    expect((await ada.messages.get(posted.message_id)).attachments).toMatchObject([{ id: second }])
    expect((await attachments.open(orders, second)).status).toBe(200)
    // A link is read without an actor: only people sign one.
    expect(await codeOf(attachments.link(orders, second))).toBe('forbidden')
  })

  it('belong to the actor that has uploaded them, and to no other one', async () => {
    const id = await uploadAs(orders, bytesOf(10))
    const stock = await service.chat.system('stock')
    const post = (actor: Actor) =>
      codeOf(service.chat.messages.postRoot(actor, conversation_id, { content: 'x', attachment_ids: [id] }))
    expect(await post(stock)).toBe('not_found')
    expect(await post(await service.chat.users.actor(ada.id))).toBe('not_found')
    expect(await codeOf(service.chat.attachments.get(stock, id))).toBe('not_found')
  })

  it('are not taken from one that was disabled, and are deleted with one that is erased', async () => {
    const billing = await service.chat.system('billing')
    const id = await uploadAs(billing, bytesOf(10))
    await service.chat.users.change(OPERATOR, billing.user_id, { disabled: true })
    expect(await codeOf(uploadAs(billing, bytesOf(10)))).toBe('not_found')
    await service.chat.users.erase(OPERATOR, billing.user_id)
    expect(await codeOf(service.chat.attachments.get(orders, id))).toBe('not_found')
  })
})
